/** Requests, quotes, reads and cancels withdrawals. */
import { z } from 'zod'
import type { QuotedTransfer } from '../../chain/chain-types.ts'
import type { Context, Use } from '../../context.ts'
import type { Prisma, Withdrawal } from '../../db/prisma/client.ts'
import { DomainError, notFound, unavailable, validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, once, onceParams } from '../../shared/idempotency.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { inspect, parse, positiveAmount, text } from '../../shared/input.ts'
import { type Search, searched } from '../../shared/lists.ts'
import { add, formatAmount, fromUnits, toUnits } from '../../shared/money.ts'
import { type Actor, assertUserMay, type UserActor } from '../../shared/policy.ts'
import { presentPassword } from '../accounts/account-input.ts'
import { checkOwnPassword, type OwnPasswordContext, wrongPassword } from '../accounts/check-password.ts'
import { maxCost, type Problem, problemsOf } from '../wallet/quote.ts'
import { accountLists } from './deposits.ts'
import { cancelWithdrawal as cancelWithdrawalSql, insertWithdrawal, readWithdrawable } from './withdrawals.sql.ts'

type Needs = Use<'actor' | 'database'>
type Selection = Omit<Prisma.WithdrawalFindFirstArgs, 'where'>
type Page = Omit<Prisma.WithdrawalFindManyArgs, 'where' | 'orderBy'>

export async function findWithdrawal({ actor, database }: Needs, uuid: string, selection: Selection = {}) {
  if (actor.kind !== 'user') return null
  return database.read.withdrawal.findFirst({ ...selection, where: { id: uuid, walletId: actor.id } })
}

export async function getWithdrawal(context: Needs, uuid: string, selection?: Selection): Promise<Withdrawal> {
  const found = await findWithdrawal(context, uuid, selection)
  if (!found) throw notFound('Withdrawal')
  return found
}

function ownFilter(actor: Actor, { search }: { search?: Search }): Prisma.WithdrawalWhereInput {
  assertUserMay(actor, 'withdrawal:read')
  const found = searched(search, (word) => [
    { recipient: word },
    { failure: word },
    { move: { transactionHash: word } },
  ])
  return { walletId: actor.id, ...found }
}

/** Lists the caller's withdrawals, newest first. Throws NOT_AUTHENTICATED, VALIDATION_FAILED. */
export const listWithdrawals = async ({ actor, database }: Needs, filter: { search?: Search }, page: Page) =>
  database.read.withdrawal.findMany({ ...page, orderBy: { id: 'desc' }, where: ownFilter(actor, filter) })

/** Counts the caller's withdrawals. Throws NOT_AUTHENTICATED. */
export const countWithdrawals = async ({ actor, database }: Needs, filter: { search?: Search }) =>
  database.read.withdrawal.count({ where: ownFilter(actor, filter) })

export const accountWithdrawals = accountLists<Withdrawal, Withdrawal['status']>(
  ({ withdrawal }) => withdrawal,
  ['WAITING', 'SENDING', 'CONFIRMED', 'FAILED', 'CANCELLED'],
)

/** Refunds a withdrawal that is not signed. Throws NOT_FOUND, UNABLE_TO_CANCEL_WITHDRAWAL, UNAVAILABLE. */
export async function cancelWithdrawal(
  context: IdempotentContext & Use<'notifications'>,
  { id }: { id: string },
): Promise<string> {
  const { actor, database, notifications } = context
  assertUserMay(actor, 'withdrawal:create')
  const uuid = uuidFrom(id, 'withdrawal', 'Withdrawal')
  await once(context, 'cancelWithdrawal', { withdrawalId: id }, async () => {
    await getWithdrawal(context, uuid)
    const parameters = { user: actor.id, withdrawal: uuid, address: actor.address, ...onceParams(context) }
    const [cancelled] = await database.query(cancelWithdrawalSql, parameters)
    const { status } = cancelled ? { status: 'CANCELLED' } : await getWithdrawal(context, uuid)
    // The database was restored from a backup, and the withdrawal may have been paid since.
    if (status === 'WAITING') throw unavailable('What the treasury has paid')
    if (status !== 'CANCELLED')
      throw new DomainError('UNABLE_TO_CANCEL_WITHDRAWAL', 'The withdrawal is already signed or settled.')
    return uuid
  })
  notifications.notify(actor.id)
  return uuid
}

const quoteInput = z.strictObject({ amount: positiveAmount, to: text(100), maxFee: maxCost })
const withdrawInput = quoteInput.extend({ currentPassword: presentPassword })

/** Cost of a withdrawal. Amounts are decimal strings. */
export interface WithdrawalQuote {
  amount: string
  fee: string
  total: string
  /** Currency units in the wallet. Points cannot be withdrawn. */
  available: string
  /** Amount that can still be withdrawn in the current 24 hours. */
  leftToday: string
  problems: Problem[]
}

type WithdrawContext = IdempotentContext &
  Use<'config' | 'coins' | 'notifications' | 'rateLimiter'> &
  OwnPasswordContext

/** Maximum number of attempts while other requests change the wallet. */
const MAX_ATTEMPTS = 10

/**
 * Charges the wallet and returns the UUID of the withdrawal. The coins are sent once it can no longer be canceled.
 * Throws VALIDATION_FAILED, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST, WITHDRAWALS_PAUSED, THROTTLED, CONFLICT,
 * UNAVAILABLE.
 */
export async function withdraw(context: WithdrawContext, input: z.input<typeof withdrawInput>): Promise<string> {
  const { actor, coins, notifications, rateLimiter } = context
  assertUserMay(actor, 'withdrawal:create')
  const { currentPassword, amount, to, maxFee } = parse(withdrawInput, input)
  const id = await once(context, 'withdraw', { amount, to, maxFee, currentPassword }, async () => {
    const verifiedHash = await checkOwnPassword(context, actor, currentPassword)
    await rateLimiter.consume('withdrawal', actor.id)
    const quoted = await coins.quote(to, toUnits(amount))
    return storeWithdrawal(context, actor, { amount, maxFee, quoted, verifiedHash })
  })
  notifications.notify(actor.id)
  return id
}

/** Quotes `withdraw`. Needs no password. Throws NOT_AUTHENTICATED, THROTTLED, UNAVAILABLE. */
export async function quoteWithdrawal(
  context: Use<'actor' | 'config' | 'database' | 'coins' | 'rateLimiter'>,
  input: z.input<typeof quoteInput>,
): Promise<WithdrawalQuote> {
  const { actor, coins, rateLimiter } = context
  assertUserMay(actor, 'withdrawal:create')
  const { data, refusals } = inspect(quoteInput, input)
  await rateLimiter.consume('withdrawal-quote', actor.id)
  const { amount = '0', to = '', maxFee } = data
  const quoted = await coins.quote(to, toUnits(amount))
  const wallet = await readWallet(context, actor.id, quoted.address)
  return {
    amount: formatAmount(amount),
    fee: quoted.fee,
    total: add(amount, quoted.fee),
    available: wallet.num,
    leftToday: wallet.leftToday,
    problems: [...refusals, ...refusalsOf(wallet, amount, quoted, maxFee)].flatMap(problemsOf),
  }
}

async function readWallet({ config, database }: Use<'config' | 'database'>, user: string, recipient: string) {
  const { withdrawalsPerDay, withdrawalCoolingSeconds: coolingSeconds } = config.withdrawals
  const [row] = await database.query(readWithdrawable, { user, recipient, coolingSeconds })
  if (!row) throw new Error('A user has no wallet.')
  const left = toUnits(withdrawalsPerDay) - toUnits(row.withdrawn)
  return { ...row, num: formatAmount(row.num), leftToday: fromUnits(left < 0n ? 0n : left) }
}

/** Returns all reasons to refuse a withdrawal, the most important one first. */
function refusalsOf(
  { custodial, cooling, leftToday, num }: Awaited<ReturnType<typeof readWallet>>,
  amount: string,
  { fee, refusal }: QuotedTransfer,
  maxFee: string | undefined,
): DomainError[] {
  const total = add(amount, fee)
  const invalid = (field: string, message: string) => validationFailed({ [field]: [message] })
  const refusals: (DomainError | false)[] = [
    refusal !== undefined && invalid('to', refusal),
    custodial &&
      invalid('to', 'The address belongs to an account of this service. Enter an address outside the service.'),
    cooling > 0 &&
      new DomainError(
        'WITHDRAWALS_PAUSED',
        'The password or e-mail address was changed recently. Withdrawals are paused for a while.',
        { retryAfter: cooling },
      ),
    maxFee !== undefined &&
      toUnits(fee) > toUnits(maxFee) &&
      new DomainError('PRICE_EXCEEDS_MAX_COST', `The fee is ${fee}, which is more than ${formatAmount(maxFee)}.`),
    toUnits(amount) > toUnits(leftToday) &&
      invalid('amount', `Ensure this value is at most ${leftToday}, which is what can still be withdrawn in 24 hours.`),
    toUnits(total) > toUnits(num) &&
      new DomainError('INSUFFICIENT_FUND', 'The wallet has insufficient currency units; points cannot be withdrawn.', {
        details: `Amount and fee: ${total}`,
        shortfall: { required: total, available: num, missing: fromUnits(toUnits(total) - toUnits(num)) },
      }),
  ]
  return refusals.filter((each) => each !== false)
}

type StoredInput = { amount: string; maxFee: string | undefined; quoted: QuotedTransfer; verifiedHash: string }

/** Charges the wallet. Reads it again if it changed. Throws VALIDATION_FAILED if the password changed meanwhile. */
async function storeWithdrawal(
  context: Pick<Context, 'idempotency'> & Use<'config' | 'database'>,
  actor: Extract<Actor, UserActor>,
  { amount, maxFee, quoted, verifiedHash }: StoredInput,
): Promise<string> {
  const { address: recipient, fee, gasLimit } = quoted
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const wallet = await readWallet(context, actor.id, recipient)
    const [refusal] = refusalsOf(wallet, amount, quoted, maxFee)
    if (refusal) throw refusal
    const [inserted] = await context.database.query(insertWithdrawal, {
      ...{ user: actor.id, recipient, amount, fee, gasLimit, sequence: wallet.sequence, verifiedHash },
      ...{ holdSeconds: context.config.withdrawals.withdrawalHoldSeconds, address: actor.address },
      ...onceParams(context),
    })
    if (!inserted) throw wrongPassword()
    if (inserted.id !== null) return inserted.id
  }
  throw new DomainError('CONFLICT', 'Your wallet is being used by other requests. Try again.', { retryAfter: 1 })
}
