/** Reads and cancels withdrawals. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Prisma, Withdrawal } from '../../db/prisma/client.ts'
import type { Actor } from '../../shared/actor.ts'
import { DomainError, notFound, unavailable } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once } from '../../shared/idempotency.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { countLimit, type Search, searched } from '../../shared/lists.ts'
import { assertMay, assertUserMay } from '../../shared/policy.ts'
import { accountFilter } from './deposits.ts'
import { cancelWithdrawal as cancelWithdrawalSql } from './withdrawals.sql.ts'

type Needs = Use<'actor' | 'database'>
type Selection = Omit<Prisma.WithdrawalFindFirstArgs, 'where'>
type Page = Omit<Prisma.WithdrawalFindManyArgs, 'where' | 'orderBy'>

/** Returns a withdrawal of the caller, or null. */
export async function findWithdrawal({ actor, database }: Needs, uuid: string, selection: Selection = {}) {
  if (actor.kind !== 'user') return null
  return database.read.withdrawal.findFirst({ ...selection, where: { id: uuid, walletId: actor.id } })
}

/** Returns a withdrawal of the caller. Throws NOT_FOUND. */
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

const statusFilter = accountFilter(z.enum(['WAITING', 'SENDING', 'CONFIRMED', 'FAILED', 'CANCELLED']))
type AccountFilter = z.input<typeof statusFilter>

/** Lists the withdrawals of all users, newest first. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
export async function listAccountWithdrawals({ actor, database }: Needs, filter: AccountFilter, page: Page) {
  assertMay(actor, 'store:administer')
  return database.read.withdrawal.findMany({ ...page, orderBy: { id: 'desc' }, where: parse(statusFilter, filter) })
}

/** Counts these withdrawals, up to one page after `offset`. */
export async function countAccountWithdrawals(
  { actor, database }: Needs,
  filter: AccountFilter,
  offset?: number | null,
) {
  assertMay(actor, 'store:administer')
  return database.read.withdrawal.count({ where: parse(statusFilter, filter), take: countLimit(offset) })
}

/** Refunds a withdrawal that is not signed yet. Throws NOT_FOUND, UNABLE_TO_CANCEL_WITHDRAWAL, and UNAVAILABLE while the treasury is in doubt. */
export async function cancelWithdrawal(
  context: IdempotentContext & Use<'notifications'>,
  { id }: { id: string },
): Promise<string> {
  const { actor, database, notifications } = context
  assertUserMay(actor, 'withdrawal:create')
  const uuid = uuidFrom(id, 'withdrawal', 'Withdrawal')
  await once(context, 'cancelWithdrawal', { withdrawalId: id }, async () => {
    await getWithdrawal(context, uuid)
    const parameters = { user: actor.id, withdrawal: uuid, address: actor.address, ...idempotencyParams(context) }
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
