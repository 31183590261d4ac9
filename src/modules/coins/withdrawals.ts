import { z } from 'zod'
import type { QuotedTransfer } from '../../chain/chain-types.ts'
import type { Context, Use } from '../../context.ts'
import { type Prisma, type Withdrawal, WithdrawalStatus } from '../../db/prisma/client.ts'
import { DomainError, unavailable, validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, once, onceParams } from '../../shared/idempotency.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { inspect, parse, positiveAmount, text } from '../../shared/input.ts'
import { createReader, type Search, searched } from '../../shared/lists.ts'
import { add, formatAmount, fromUnits, toUnits } from '../../shared/money.ts'
import { type Actor, assertUserMay, type UserActor } from '../../shared/policy.ts'
import { presentPassword } from '../accounts/account-input.ts'
import { checkOwnPassword, type OwnPasswordContext, wrongPassword } from '../accounts/check-password.ts'
import { maxCost, problemsOf } from '../wallet/quote.ts'
import { accountRows, ownRows } from './deposits.ts'
import { cancelWithdrawal as cancelWithdrawalSql, insertWithdrawal, readWithdrawable } from './withdrawals.sql.ts'

type WithdrawalQuery = Omit<Prisma.WithdrawalFindManyArgs, 'where' | 'orderBy'>

export const withdrawalReader = createReader<Withdrawal, WithdrawalQuery>()({
  ...{ model: 'withdrawal', prefix: 'withdrawal', label: 'Withdrawal', action: 'withdrawal:read', ...ownRows },
  where: ({ search }: { search?: Search }): Prisma.WithdrawalWhereInput =>
    searched(search, (word) => [{ recipient: word }, { failure: word }, { move: { transactionHash: word } }]),
})

export const accountWithdrawalReader = createReader<Withdrawal, WithdrawalQuery>()({
  ...{ model: 'withdrawal', prefix: 'withdrawal', label: 'Withdrawal', ...accountRows(WithdrawalStatus) },
})

/** Refunds a withdrawal that is not signed. Throws NOT_FOUND, UNABLE_TO_CANCEL_WITHDRAWAL, UNAVAILABLE. */
export async function cancelWithdrawal(
  context: IdempotentContext & Use<'notifications'>,
  { id }: { id: string },
): Promise<string> {
  const { actor, database, notifications } = context
  assertUserMay(actor, 'withdrawal:create')
  const uuid = uuidFrom(id, 'withdrawal', 'Withdrawal')
  await once(context, 'cancelWithdrawal', { withdrawalId: id }, async () => {
    await withdrawalReader.getByUuid(context, uuid)
    const parameters = { user: actor.id, withdrawal: uuid, address: actor.address, ...onceParams(context) }
    if ((await database.query(cancelWithdrawalSql, parameters)).length > 0) return uuid
    const { status } = await withdrawalReader.getByUuid(context, uuid)
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

export type WithdrawalQuote = Awaited<ReturnType<typeof quoteWithdrawal>>

type WithdrawContext = IdempotentContext &
  Use<'config' | 'coins' | 'notifications' | 'rateLimiter'> &
  OwnPasswordContext

/** Maximum number of attempts while other requests change the wallet. */
const MAX_ATTEMPTS = 10

/** Charges the wallet and returns the UUID of the withdrawal. The coins are sent after the time for a cancellation. */
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

/** Quotes `withdraw` without a password. Throws NOT_AUTHENTICATED, THROTTLED, UNAVAILABLE. */
export async function quoteWithdrawal(
  context: Use<'actor' | 'config' | 'database' | 'coins' | 'rateLimiter'>,
  input: z.input<typeof quoteInput>,
) {
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

/** Charges the wallet. Reads it again if it changed. Throws VALIDATION_FAILED if the password changed meanwhile. */
async function storeWithdrawal(
  context: Pick<Context, 'idempotency'> & Use<'config' | 'database'>,
  actor: Extract<Actor, UserActor>,
  parameters: { amount: string; maxFee: string | undefined; quoted: QuotedTransfer; verifiedHash: string },
): Promise<string> {
  const { amount, maxFee, quoted, verifiedHash } = parameters
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
