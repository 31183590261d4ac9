/** Coins that the service holds, and the deposits and withdrawals of all users, for administrators. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Deposit, Prisma, Withdrawal } from '../../db/prisma/client.ts'
import { int, numeric, orNull, type RowOf, statement, timestamp } from '../../db/sql.ts'
import { fromId } from '../../shared/ids.ts'
import { idInput, parse } from '../../shared/input.ts'
import { countLimit } from '../../shared/lists.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import { assertMay } from '../../shared/policy.ts'

const heldColumns = {
  atAddresses: numeric,
  inTransit: numeric,
  inTreasury: numeric,
  shortfall: numeric,
  frozenDeposits: int,
  dueWithdrawals: int,
  amountDue: numeric,
  oldestDueAt: orNull(timestamp),
}

const findHeldCoins = statement(
  'held_coins',
  { columns: heldColumns },
  `select trim_scale(books.at_addresses) as "atAddresses", trim_scale(books.in_transit) as "inTransit",
     trim_scale(books.in_treasury) as "inTreasury", trim_scale(books.shortfall) as shortfall, deposits.*, due.*
   from (
     select coalesce(-sum(amount) filter (where book = 'DEPOSITS'), 0) as at_addresses,
       coalesce(-sum(amount) filter (where book = 'IN_TRANSIT'), 0) as in_transit,
       coalesce(-sum(amount) filter (where book = 'TREASURY'), 0) as in_treasury,
       coalesce(-sum(amount) filter (where book = 'SHORTFALL'), 0) as shortfall
     from entries where currency = 'NUM' and book in ('DEPOSITS', 'IN_TRANSIT', 'TREASURY', 'SHORTFALL')
   ) books, (
     select count(*)::int as "frozenDeposits" from deposits where status = 'FROZEN'
   ) deposits, (
     select count(*)::int as "dueWithdrawals", trim_scale(coalesce(sum(amount + fee), 0)) as "amountDue", min(due_at) as "oldestDueAt"
     from withdrawals where status = 'WAITING' and due_at <= now()
   ) due`,
)

/** Coin balances by location according to the ledger, and the withdrawals that wait for coins. Amounts are decimal strings. */
export interface HeldCoins extends RowOf<typeof heldColumns> {
  treasury: string
  /** Balance on the chain. Null while the chain does not answer. */
  treasuryBalance: string | null
  /** Amount that the treasury lacks for all due withdrawals. Null while the chain does not answer. */
  missing: string | null
}

type Needs = Use<'actor' | 'database'>

/** Reads the balances of the ledger and of the treasury. Throws NOT_AUTHENTICATED, PERMISSION_DENIED. */
export async function readHeldCoins({ actor, database, coins }: Needs & Use<'coins'>): Promise<HeldCoins> {
  assertMay(actor, 'store:administer')
  const [[row], { address, balance }] = await Promise.all([database.query(findHeldCoins), coins.treasury()])
  const due = toUnits(row!.amountDue)
  return {
    ...row!,
    treasury: address,
    treasuryBalance: balance === undefined ? null : fromUnits(balance),
    missing: balance === undefined ? null : fromUnits(due > balance ? due - balance : 0n),
  }
}

const userId = idInput('user').optional()
const depositFilter = z.strictObject({ userId, status: z.enum(['PENDING', 'CREDITED', 'FROZEN']).optional() })
const withdrawalFilter = z.strictObject({
  userId,
  status: z.enum(['WAITING', 'SENDING', 'CONFIRMED', 'FAILED', 'CANCELLED']).optional(),
})
type DepositFilter = z.input<typeof depositFilter>
type WithdrawalFilter = z.input<typeof withdrawalFilter>

const whereOf = <Status extends string>({ userId: id, status }: { userId?: string; status?: Status }) => ({
  ...(id !== undefined && { walletId: fromId(id)!.uuid }),
  ...(status !== undefined && { status }),
})

/** Lists the deposits of all users, newest first. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
export async function listAccountDeposits(
  { actor, database }: Needs,
  filter: DepositFilter,
  page: Omit<Prisma.DepositFindManyArgs, 'where' | 'orderBy'>,
): Promise<Deposit[]> {
  assertMay(actor, 'store:administer')
  return database.read.deposit.findMany({
    ...page,
    orderBy: { id: 'desc' },
    where: whereOf(parse(depositFilter, filter)),
  })
}

/** Counts these deposits, up to one page after `offset`. */
export async function countAccountDeposits({ actor, database }: Needs, filter: DepositFilter, offset?: number | null) {
  assertMay(actor, 'store:administer')
  return database.read.deposit.count({ where: whereOf(parse(depositFilter, filter)), take: countLimit(offset) })
}

/** Lists the withdrawals of all users, newest first. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
export async function listAccountWithdrawals(
  { actor, database }: Needs,
  filter: WithdrawalFilter,
  page: Omit<Prisma.WithdrawalFindManyArgs, 'where' | 'orderBy'>,
): Promise<Withdrawal[]> {
  assertMay(actor, 'store:administer')
  return database.read.withdrawal.findMany({
    ...page,
    orderBy: { id: 'desc' },
    where: whereOf(parse(withdrawalFilter, filter)),
  })
}

/** Counts these withdrawals, up to one page after `offset`. */
export async function countAccountWithdrawals(
  { actor, database }: Needs,
  filter: WithdrawalFilter,
  offset?: number | null,
) {
  assertMay(actor, 'store:administer')
  return database.read.withdrawal.count({ where: whereOf(parse(withdrawalFilter, filter)), take: countLimit(offset) })
}
