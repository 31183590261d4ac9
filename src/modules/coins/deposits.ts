/** Reads deposits and the coins that the service holds, and settles frozen deposits. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Database } from '../../db/database-types.ts'
import { type Deposit, DepositStatus, type Prisma } from '../../db/prisma/client.ts'
import type { Statement } from '../../db/sql.ts'
import { DomainError, notFound } from '../../shared/errors.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { idInput, parse } from '../../shared/input.ts'
import { createReader, type Search, searched } from '../../shared/lists.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import { type Actor, assertMay } from '../../shared/policy.ts'
import * as sql from './deposits.sql.ts'

type Needs = Use<'actor' | 'database'>
type DepositQuery = Omit<Prisma.DepositFindManyArgs, 'where' | 'orderBy'>
type OwnFilter = { status?: Deposit['status'] | undefined; search?: Search }

/** Options of a reader of the caller's own rows, newest first. */
export const ownRows = {
  orderBy: [{ id: 'desc' }],
  visible: (actor: Actor) => (actor.kind === 'user' ? { walletId: actor.id } : undefined),
} as const

export const depositReader = createReader<Deposit, DepositQuery>()({
  ...{ model: 'deposit', prefix: 'deposit', label: 'Deposit', action: 'transfer:read', ...ownRows },
  where: ({ status, search }: OwnFilter): Prisma.DepositWhereInput => ({
    ...(status && { status }),
    ...searched(search, (word) => [{ transactionHash: word }]),
  }),
})

/** Options of a reader of the rows of all users, newest first, for administrators. */
export function accountRows<Status extends string>(statuses: Record<Status, Status>) {
  const schema = z.strictObject({ userId: idInput('user').optional(), status: z.enum(statuses).optional() })
  return {
    ...({ action: 'store:administer', orderBy: ownRows.orderBy, isBounded: true } as const),
    visible: () => ({}),
    where(filter: { userId?: string; status?: Status }) {
      const { userId, ...rest } = parse(schema, filter)
      return { ...rest, ...(userId !== undefined && { walletId: userId }) }
    },
  }
}

export const accountDepositReader = createReader<Deposit, DepositQuery>()({
  ...{ model: 'deposit', prefix: 'deposit', label: 'Deposit', ...accountRows(DepositStatus) },
})

/** Time for which all deposits of a page share the newest block, in milliseconds. */
const HEAD_CACHE_MS = 500
const heads = new WeakMap<Database, { at: number; number: Promise<number | null> }>()

function readHead(database: Database): Promise<number | null> {
  const cached = heads.get(database)
  if (cached && performance.now() - cached.at <= HEAD_CACHE_MS) return cached.number
  const number = database.query(sql.findHead).then(([row]) => row?.head ?? null)
  number.catch(() => heads.delete(database))
  heads.set(database, { at: performance.now(), number })
  return number
}

/** Returns the number of blocks after a deposit's block. Null without a block, or before the first scan. */
export async function countConfirmations({ database }: Use<'database'>, blockNumber: number | null) {
  if (blockNumber === null) return null
  const head = await readHead(database)
  return head === null ? null : Math.max(head - blockNumber, 0)
}

export type HeldCoins = Awaited<ReturnType<typeof readHeldCoins>>

/** Reads the balances of the ledger and of the treasury. Throws NOT_AUTHENTICATED, PERMISSION_DENIED. */
export async function readHeldCoins({ actor, database, coins }: Needs & Use<'coins'>) {
  assertMay(actor, 'store:administer')
  const [[row], { address, balance }] = await Promise.all([database.query(sql.findHeldCoins), coins.treasury()])
  const due = toUnits(row!.amountDue)
  return {
    ...row!,
    treasury: address,
    treasuryBalance: balance === undefined ? null : fromUnits(balance),
    missing: balance === undefined ? null : fromUnits(due > balance ? due - balance : 0n),
  }
}

/** Lists frozen deposits, newest first. Throws PERMISSION_DENIED. */
export async function listFrozenDeposits({ actor, database }: Needs, limit: number) {
  assertMay(actor, 'store:administer')
  return database.query(sql.findFrozenDeposits, { limit })
}

/** Runs a statement on a frozen deposit. Throws PERMISSION_DENIED, NOT_FOUND, and CONFLICT without a result. */
async function settle<Row>(
  { actor, database }: Needs,
  id: string,
  how: Statement<{ deposit: string }, Row>,
  problem: string,
) {
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'deposit', 'Deposit')
  const [row] = await database.query(how, { deposit: uuid })
  if (row) return row
  const isKnown = (await database.read.deposit.count({ where: { id: uuid } })) > 0
  throw isKnown ? new DomainError('CONFLICT', problem) : notFound('Deposit')
}

/** Charges a wallet for a frozen deposit, up to its balance. Returns the amount. Throws the errors of `settle`. */
export async function collectShortfall(context: Needs & Use<'notifications'>, { id }: { id: string }) {
  const problem = 'No debt can be collected: the wallet owes nothing for this deposit, or the wallet is empty.'
  const { paid, owner } = await settle(context, id, sql.collectShortfall, problem)
  context.notifications.notify(owner)
  return paid
}

/** Writes off the debt from a frozen deposit. Returns the amount. Throws the errors of `settle`. */
export const writeOffShortfall = async (context: Needs, { id }: { id: string }) =>
  (await settle(context, id, sql.writeShortfallOff, 'The wallet owes nothing for this deposit.')).loss
