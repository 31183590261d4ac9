/** Reads deposits and the coins that the service holds, and settles frozen deposits. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Database } from '../../db/database-types.ts'
import type { Deposit, Prisma } from '../../db/prisma/client.ts'
import type { RowOf } from '../../db/sql.ts'
import { DomainError, notFound } from '../../shared/errors.ts'
import { fromId, uuidFrom } from '../../shared/ids.ts'
import { idInput, parse } from '../../shared/input.ts'
import { countLimit, type Search, searched } from '../../shared/lists.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import { type Actor, assertMay, assertUserMay } from '../../shared/policy.ts'
import * as sql from './deposits.sql.ts'

type Needs = Use<'actor' | 'database'>
type Page = Omit<Prisma.DepositFindManyArgs, 'where' | 'orderBy'>

export async function findDeposit({ actor, database }: Needs, uuid: string) {
  if (actor.kind !== 'user') return null
  return database.read.deposit.findFirst({ where: { id: uuid, walletId: actor.id } })
}

type OwnFilter = { status?: Deposit['status'] | undefined; search?: Search }

function ownFilter(actor: Actor, { status, search }: OwnFilter): Prisma.DepositWhereInput {
  assertUserMay(actor, 'transfer:read')
  return { walletId: actor.id, ...(status && { status }), ...searched(search, (word) => [{ transactionHash: word }]) }
}

/** Lists the caller's deposits, newest first. Throws NOT_AUTHENTICATED. */
export const listDeposits = async ({ actor, database }: Needs, filter: OwnFilter, page: Page) =>
  database.read.deposit.findMany({ ...page, orderBy: { id: 'desc' }, where: ownFilter(actor, filter) })

/** Counts the caller's deposits. Throws NOT_AUTHENTICATED. */
export const countDeposits = async ({ actor, database }: Needs, filter: OwnFilter) =>
  database.read.deposit.count({ where: ownFilter(actor, filter) })

type Reads = Use<'database'>['database']['read']
/** Methods of a Prisma model that `accountLists` calls. */
interface Listed<Row> {
  findMany(args: object): Promise<Row[]>
  count(args: object): Promise<number>
}

/**
 * Creates the functions that list and count the rows of all users, newest first, for administrators. The count stops
 * one page after `offset`. Both throw NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED.
 */
export function accountLists<Row, Status extends string>(
  modelOf: (read: Reads) => Listed<Row>,
  statuses: readonly [Status, ...Status[]],
) {
  const schema = z
    .strictObject({ userId: idInput('user').optional(), status: z.enum(statuses).optional() })
    .transform(({ userId, ...rest }) => ({ ...rest, ...(userId !== undefined && { walletId: fromId(userId)!.uuid }) }))
  type Filter = { userId?: string; status?: Status }
  return {
    async list({ actor, database }: Needs, filter: Filter, page: { skip?: number | undefined }): Promise<Row[]> {
      assertMay(actor, 'store:administer')
      return modelOf(database.read).findMany({ ...page, orderBy: { id: 'desc' }, where: parse(schema, filter) })
    },
    async count({ actor, database }: Needs, filter: Filter, offset?: number | null): Promise<number> {
      assertMay(actor, 'store:administer')
      return modelOf(database.read).count({ where: parse(schema, filter), take: countLimit(offset) })
    },
  }
}

export const accountDeposits = accountLists<Deposit, Deposit['status']>(
  ({ deposit }) => deposit,
  ['PENDING', 'CREDITED', 'FROZEN'],
)

/** Time for which the newest block is cached, in milliseconds. All deposits of a page share it. */
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

export interface HeldCoins extends RowOf<typeof sql.heldColumns> {
  treasury: string
  treasuryBalance: string | null
  /** Amount that the treasury lacks for all due withdrawals. Null while the chain does not answer. */
  missing: string | null
}

/** Reads the balances of the ledger and of the treasury. Throws NOT_AUTHENTICATED, PERMISSION_DENIED. */
export async function readHeldCoins({ actor, database, coins }: Needs & Use<'coins'>): Promise<HeldCoins> {
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

const whyNotSettled = async (database: Database, uuid: string, message: string) =>
  (await database.read.deposit.count({ where: { id: uuid } }))
    ? new DomainError('CONFLICT', message)
    : notFound('Deposit')

/** Charges a wallet for a frozen deposit, up to its balance. Throws PERMISSION_DENIED, NOT_FOUND, CONFLICT. */
export async function collectShortfall(
  { actor, database, notifications }: Needs & Use<'notifications'>,
  { id }: { id: string },
): Promise<string> {
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'deposit', 'Deposit')
  const [row] = await database.query(sql.collectShortfall, { deposit: uuid })
  const message = 'No debt can be collected: the wallet owes nothing for this deposit, or the wallet is empty.'
  if (!row) throw await whyNotSettled(database, uuid, message)
  notifications.notify(row.owner)
  return row.taken
}

/** Writes off the debt from a frozen deposit. Throws PERMISSION_DENIED, NOT_FOUND, CONFLICT. */
export async function writeOffShortfall({ actor, database }: Needs, { id }: { id: string }): Promise<string> {
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'deposit', 'Deposit')
  const [row] = await database.query(sql.writeShortfallOff, { deposit: uuid })
  if (!row) throw await whyNotSettled(database, uuid, 'The wallet owes nothing for this deposit.')
  return row.borne
}
