/** Withdrawals of coins. Contract: `withdraw`, `POST /api/v3/wallet/withdrawals/` (decision 32). */
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import type { Prisma, Withdrawal } from '../../db/prisma/client.ts'
import type { Actor } from '../../shared/actor.ts'
import { DomainError, notFound, unavailable, validationFailed } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { inspect, parse, positiveAmount, text } from '../../shared/input.ts'
import { type Search, searched } from '../../shared/lists.ts'
import { add, formatAmount, fromUnits, toUnits } from '../../shared/money.ts'
import { assertUserMay } from '../../shared/policy.ts'
import type { RateLimiter } from '../../shared/rate-limiter.ts'
import { presentPassword } from '../accounts/account-input.ts'
import type { OwnPassword } from '../accounts/own-password.ts'
import { wrongPassword } from '../accounts/own-password.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import { maxCost, type Problem, problemsOf } from '../wallet/quote.ts'
import type { Coins, QuotedTransfer } from './coin-types.ts'
import { cancelWithdrawal, insertWithdrawal, readWithdrawable } from './withdrawals.sql.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type WithdrawalQuery = Omit<Prisma.WithdrawalFindFirstArgs, 'where'>
/** The same for a page. */
export type WithdrawalsQuery = Omit<Prisma.WithdrawalFindManyArgs, 'where' | 'orderBy'>

/** Input of a quote of a withdrawal. */
export const withdrawalQuoteInput = z.strictObject({
  amount: positiveAmount,
  to: text(100),
  maxFee: maxCost,
})

/** Input of a withdrawal. */
export const withdrawInput = withdrawalQuoteInput.extend({ currentPassword: presentPassword })

/** A quote of a withdrawal as a caller asks for it. */
export type WithdrawalQuoteInput = z.input<typeof withdrawalQuoteInput>
/** A withdrawal as a caller asks for it. */
export type WithdrawInput = z.input<typeof withdrawInput>

interface Dependencies {
  database: Database
  coins: Coins
  ownPassword: OwnPassword
  notifications: Pick<FeedNotifications, 'notify'>
  rateLimiter: RateLimiter
  idempotency: Idempotency
  config: {
    /** Currency units that one account withdraws in 24 hours. */
    withdrawalsPerDay: string
    /** Seconds without withdrawals after a change of password or address. */
    withdrawalCoolingSeconds: number
    /** Seconds until a withdrawal is signed for, in which it can be cancelled. */
    withdrawalHoldSeconds: number
  }
}

/** What a withdrawal would take. Decimal strings. */
export interface WithdrawalQuote {
  amount: string
  fee: string
  total: string
  /** Currency units in the wallet; points cannot be withdrawn. */
  available: string
  /** How much can still be withdrawn in these 24 hours. */
  leftToday: string
  problems: Problem[]
}

/** How often it is decided again when the wallet has changed meanwhile. */
const TRIES = 10

const lessThanZero = (units: bigint) => (units < 0n ? 0n : units)
const atMost = (field: string, amount: string, what: string) =>
  validationFailed({ [field]: [`Ensure this value is at most ${amount}, which is ${what}.`] })
const short = (total: string, num: string) =>
  new DomainError('INSUFFICIENT_FUND', 'The wallet has insufficient currency units; points cannot be withdrawn.', {
    details: `Amount and fee: ${total}`,
    shortfall: { required: total, available: num, missing: fromUnits(toUnits(total) - toUnits(num)) },
  })

/** What `createWithdrawalService` makes. */
export type WithdrawalService = ReturnType<typeof createWithdrawalService>

/** Withdrawals of coins: asked for, told, and cancelled until they are signed for. What signs and sends is the mover of coins. */
export function createWithdrawalService(deps: Dependencies) {
  const { database, coins, ownPassword, notifications, rateLimiter, idempotency, config } = deps

  async function lookAt(user: string, recipient: string) {
    const parameters = { user, recipient, coolingSeconds: config.withdrawalCoolingSeconds }
    const [facts] = await database.query(readWithdrawable, parameters)
    if (!facts) throw new Error('A user has no wallet.')
    const left = fromUnits(lessThanZero(toUnits(config.withdrawalsPerDay) - toUnits(facts.withdrawn)))
    return { ...facts, num: formatAmount(facts.num), left }
  }
  type Facts = Awaited<ReturnType<typeof lookAt>>

  /** Everything for which so much is not withdrawn from a wallet of these facts. */
  function refusalsOf(facts: Facts, amount: string, { fee, refusal }: QuotedTransfer, maxFee?: string): DomainError[] {
    const total = add(amount, fee)
    const refusals: (DomainError | false)[] = [
      refusal !== undefined && validationFailed({ to: [refusal] }),
      facts.custodial &&
        validationFailed({
          to: ['This is the address of an account here; coins are withdrawn to addresses elsewhere.'],
        }),
      facts.cooling > 0 &&
        new DomainError(
          'WITHDRAWALS_PAUSED',
          'The password or e-mail address was changed lately: nothing is withdrawn for a while.',
          { retryAfter: facts.cooling },
        ),
      maxFee !== undefined &&
        toUnits(fee) > toUnits(maxFee) &&
        new DomainError('PRICE_EXCEEDS_MAX_COST', `The fee is ${fee}, which is more than ${formatAmount(maxFee)}.`),
      toUnits(amount) > toUnits(facts.left) && atMost('amount', facts.left, 'what can still be withdrawn in 24 hours'),
      toUnits(total) > toUnits(facts.num) && short(total, facts.num),
    ]
    return refusals.filter((each) => each !== false)
  }

  const busy = () =>
    new DomainError('CONFLICT', 'Your wallet is being used by other requests. Try again.', { retryAfter: 1 })

  /** Takes the money, deciding again while the wallet changes. Returns the withdrawal's UUID. Raises what refuses it; VALIDATION_FAILED when the password is another one by now, or the account locked. */
  async function insist(
    actor: Extract<Actor, { kind: 'user' }>,
    {
      amount,
      maxFee,
      quoted,
      verifiedHash,
    }: { amount: string; maxFee?: string; quoted: QuotedTransfer; verifiedHash: string },
    context: IdempotencyContext,
  ): Promise<string> {
    const { address: recipient, fee, gasLimit } = quoted
    for (let tries = 0; tries < TRIES; tries += 1) {
      const facts = await lookAt(actor.id, recipient)
      const [refusal] = refusalsOf(facts, amount, quoted, maxFee)
      if (refusal) throw refusal
      const [made] = await database.query(insertWithdrawal, {
        ...{ user: actor.id, recipient, amount, fee, gasLimit, sequence: facts.sequence, verifiedHash },
        ...{ holdSeconds: config.withdrawalHoldSeconds, address: actor.address },
        ...fingerprintOf(context),
      })
      if (!made) throw wrongPassword()
      if (made.id !== null) return made.id
    }
    throw busy()
  }

  /** A withdrawal of the actor's by its UUID; null when there is none. */
  async function find(actor: Actor, uuid: string, query: WithdrawalQuery = {}): Promise<Withdrawal | null> {
    if (actor.kind !== 'user') return null
    return database.read.withdrawal.findFirst({ ...query, where: { id: uuid, walletId: actor.id } })
  }

  function foundBy(actor: Actor, search: Search): Prisma.WithdrawalWhereInput {
    assertUserMay(actor, 'withdrawal:read')
    const found = searched(search, (word) => [
      { recipient: word },
      { failure: word },
      { move: { transactionHash: word } },
    ])
    return { walletId: actor.id, ...found }
  }

  /** A withdrawal of the actor's by its UUID. Raises NOT_FOUND. */
  async function get(actor: Actor, uuid: string, query?: WithdrawalQuery): Promise<Withdrawal> {
    const found = await find(actor, uuid, query)
    if (!found) throw notFound('Withdrawal')
    return found
  }

  return {
    find,
    get,

    /** The actor's withdrawals, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED. */
    async list(actor: Actor, search: Search, query: WithdrawalsQuery): Promise<Withdrawal[]> {
      return database.read.withdrawal.findMany({ ...query, orderBy: { id: 'desc' }, where: foundBy(actor, search) })
    },

    /** How many `list` would give in all. Raises NOT_AUTHENTICATED. */
    async count(actor: Actor, search: Search): Promise<number> {
      return database.read.withdrawal.count({ where: foundBy(actor, search) })
    },

    /**
     * Takes coins out of the wallet, to be sent to an address on the chain once they may no longer be cancelled. Only currency units, and never more
     * than the limit of a day. Returns its UUID. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST, WITHDRAWALS_PAUSED,
     * THROTTLED, CONFLICT, UNAVAILABLE while the node cannot tell what the fee is.
     */
    async withdraw(actor: Actor, rawInput: WithdrawInput, context: IdempotencyContext): Promise<string> {
      assertUserMay(actor, 'withdrawal:create')
      const { currentPassword, amount, to, maxFee } = parse(withdrawInput, rawInput)
      const id = await idempotency.once(
        actor,
        context,
        'withdraw',
        { amount, to, maxFee, currentPassword },
        async () => {
          const verifiedHash = await ownPassword.verify(actor, currentPassword)
          await rateLimiter.consume('withdrawal', actor.id)
          const quoted = await coins.quote(to, toUnits(amount))
          return insist(actor, { amount, quoted, verifiedHash, ...(maxFee !== undefined && { maxFee }) }, context)
        },
      )
      notifications.notify(actor.id)
      return id
    },

    /** Quotes `withdraw`. Needs no password. Raises NOT_AUTHENTICATED, THROTTLED, UNAVAILABLE. */
    async quote(actor: Actor, rawInput: WithdrawalQuoteInput): Promise<WithdrawalQuote> {
      assertUserMay(actor, 'withdrawal:create')
      const { data, refusals } = inspect(withdrawalQuoteInput, rawInput)
      await rateLimiter.consume('withdrawal-quote', actor.id)
      const { amount = '0', to = '', maxFee } = data
      const quoted = await coins.quote(to, toUnits(amount))
      const facts = await lookAt(actor.id, quoted.address)
      const problems = [...refusals, ...refusalsOf(facts, amount, quoted, maxFee)].flatMap(problemsOf)
      return {
        ...{ amount: formatAmount(amount), fee: quoted.fee, total: add(amount, quoted.fee) },
        ...{ available: facts.num, leftToday: facts.left, problems },
      }
    },

    /**
     * Gives a withdrawal back, amount and fee, as long as nothing is signed for it. Returns its UUID. Raises NOT_AUTHENTICATED,
     * NOT_FOUND, UNABLE_TO_CANCEL_WITHDRAWAL, UNAVAILABLE while the treasury has paid what the books do not know.
     */
    async cancel(actor: Actor, withdrawalId: string, context: IdempotencyContext): Promise<string> {
      assertUserMay(actor, 'withdrawal:create')
      const uuid = uuidFrom(withdrawalId, 'withdrawal', 'Withdrawal')
      await idempotency.once(actor, context, 'cancelWithdrawal', { withdrawalId }, async () => {
        await get(actor, uuid)
        const parameters = { user: actor.id, withdrawal: uuid, address: actor.address, ...fingerprintOf(context) }
        const [cancelled] = await database.query(cancelWithdrawal, parameters)
        const { status } = cancelled ? { status: 'CANCELLED' } : await get(actor, uuid)
        // The books came back from a backup, and it may have been paid since.
        if (status === 'WAITING') throw unavailable('What the treasury has paid')
        if (status !== 'CANCELLED')
          throw new DomainError(
            'UNABLE_TO_CANCEL_WITHDRAWAL',
            'The withdrawal is signed for, or over: it cannot be cancelled.',
          )
        return uuid
      })
      notifications.notify(actor.id)
      return uuid
    },
  }
}
