/** Coins that we hold, and everybody's deposits and withdrawals, for administrators. Contract: `heldCoins`, `accountDeposits`, `accountWithdrawals`. */
import { z } from 'zod'
import type { Deposit, Prisma, Withdrawal } from '../../platform/prisma/client.ts'
import type { Actor } from '../actor.ts'
import { fromId } from '../ids.ts'
import { idInput, parse } from '../input.ts'
import { fromUnits, toUnits } from '../money.ts'
import { assertMay } from '../policy.ts'
import type { Coins } from '../ports/coins.ts'
import type { Database } from '../ports/database.ts'
import { countLimit } from '../total.ts'
import { type BookedHeldCoins, findHeldCoins } from './held-coin-statements.ts'

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

/** Where coins lie, decimal strings, and what waits for them. */
export interface HeldCoins extends BookedHeldCoins {
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
