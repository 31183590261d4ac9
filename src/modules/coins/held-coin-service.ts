/** The coins that the service holds, and all deposits and withdrawals, for administrators. Contract: `heldCoins`, `accountDeposits`, `accountWithdrawals`. */
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import type { Deposit, Prisma, Withdrawal } from '../../db/prisma/client.ts'
import { int, numeric, orNull, type RowOf, statement, timestamp } from '../../db/sql.ts'
import type { Actor } from '../../shared/actor.ts'
import { fromId } from '../../shared/ids.ts'
import { idInput, parse } from '../../shared/input.ts'
import { countLimit } from '../../shared/lists.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import { assertMay } from '../../shared/policy.ts'
import type { Coins } from './coin-types.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type AccountDepositsQuery = Omit<Prisma.DepositFindManyArgs, 'where' | 'orderBy'>
/** The same for withdrawals. */
export type AccountWithdrawalsQuery = Omit<Prisma.WithdrawalFindManyArgs, 'where' | 'orderBy'>

const userId = idInput('user').optional()
const depositFilter = z.strictObject({ userId, status: z.enum(['PENDING', 'CREDITED', 'FROZEN']).optional() })
const withdrawalFilter = z.strictObject({
  userId,
  status: z.enum(['WAITING', 'SENDING', 'CONFIRMED', 'FAILED', 'CANCELLED']).optional(),
})
/** Which deposits are wanted; the identifier as callers see it. */
export type AccountDepositFilter = z.input<typeof depositFilter>
/** Which withdrawals are wanted. */
export type AccountWithdrawalFilter = z.input<typeof withdrawalFilter>

const heldColumns = {
  atAddresses: numeric,
  underWay: numeric,
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
  `select trim_scale(books.at_addresses) as "atAddresses", trim_scale(books.under_way) as "underWay",
     trim_scale(books.in_treasury) as "inTreasury", trim_scale(books.shortfall) as shortfall, deposits.*, due.*
   from (
     select coalesce(-sum(amount) filter (where book = 'DEPOSITS'), 0) as at_addresses,
       coalesce(-sum(amount) filter (where book = 'UNDER_WAY'), 0) as under_way,
       coalesce(-sum(amount) filter (where book = 'TREASURY'), 0) as in_treasury,
       coalesce(-sum(amount) filter (where book = 'SHORTFALL'), 0) as shortfall
     from entries where currency = 'NUM' and book in ('DEPOSITS', 'UNDER_WAY', 'TREASURY', 'SHORTFALL')
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
  /** What the chain says that the treasury has; null while it does not answer. */
  treasuryBalance: string | null
  /** What the treasury lacks for all withdrawals that are due; null while the chain does not answer. */
  missing: string | null
}

const whereOf = ({ userId: id, status }: { userId?: string | undefined; status?: string | undefined }) => ({
  ...(id !== undefined && { walletId: fromId(id)!.uuid }),
  ...(status !== undefined && { status }),
})

/** What `createHeldCoinService` makes. */
export type HeldCoinService = ReturnType<typeof createHeldCoinService>

/** What administrators see of coins that came in and go out. */
export function createHeldCoinService({ database, coins }: { database: Database; coins: Pick<Coins, 'treasury'> }) {
  /** Raises VALIDATION_FAILED. */
  const depositsWhere = (filter: AccountDepositFilter) =>
    whereOf(parse(depositFilter, filter)) as Prisma.DepositWhereInput
  /** Raises VALIDATION_FAILED. */
  const withdrawalsWhere = (filter: AccountWithdrawalFilter) =>
    whereOf(parse(withdrawalFilter, filter)) as Prisma.WithdrawalWhereInput

  return {
    /** Where coins lie by the books, and what the treasury has and lacks. Raises NOT_AUTHENTICATED, PERMISSION_DENIED. */
    async look(actor: Actor): Promise<HeldCoins> {
      assertMay(actor, 'store:administer')
      const [[booked], { address, balance }] = await Promise.all([database.query(findHeldCoins), coins.treasury()])
      const due = toUnits(booked!.amountDue)
      return {
        ...booked!,
        treasury: address,
        treasuryBalance: balance === undefined ? null : fromUnits(balance),
        missing: balance === undefined ? null : fromUnits(due > balance ? due - balance : 0n),
      }
    },

    /** Everybody's deposits, newest first. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
    async listDeposits(actor: Actor, filter: AccountDepositFilter, query: AccountDepositsQuery): Promise<Deposit[]> {
      assertMay(actor, 'store:administer')
      return database.read.deposit.findMany({ ...query, orderBy: { id: 'desc' }, where: depositsWhere(filter) })
    },

    /** How many `listDeposits` would give in all, counted no further than a page behind `offset` needs. Raises what it raises. */
    async countDeposits(actor: Actor, filter: AccountDepositFilter, offset?: number | null): Promise<number> {
      assertMay(actor, 'store:administer')
      return database.read.deposit.count({ where: depositsWhere(filter), take: countLimit(offset) })
    },

    /** Everybody's withdrawals, newest first. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
    async listWithdrawals(
      actor: Actor,
      filter: AccountWithdrawalFilter,
      query: AccountWithdrawalsQuery,
    ): Promise<Withdrawal[]> {
      assertMay(actor, 'store:administer')
      return database.read.withdrawal.findMany({ ...query, orderBy: { id: 'desc' }, where: withdrawalsWhere(filter) })
    },

    /** How many `listWithdrawals` would give in all, counted no further than a page behind `offset` needs. Raises what it raises. */
    async countWithdrawals(actor: Actor, filter: AccountWithdrawalFilter, offset?: number | null): Promise<number> {
      assertMay(actor, 'store:administer')
      return database.read.withdrawal.count({ where: withdrawalsWhere(filter), take: countLimit(offset) })
    },
  }
}
