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
import {
  collectShortfall as collectShortfallSql,
  findFrozenDeposits,
  findHead,
  findHeldCoins,
  type heldColumns,
  writeShortfallOff,
} from './deposits.sql.ts'

type Needs = Use<'actor' | 'database'>
type Page = Omit<Prisma.DepositFindManyArgs, 'where' | 'orderBy'>

/** Returns a deposit to the caller's wallet, or null. */
export async function findDeposit({ actor, database }: Needs, uuid: string) {
  if (actor.kind !== 'user') return null
  return database.read.deposit.findFirst({ where: { id: uuid, walletId: actor.id } })
}

interface OwnFilter {
  status?: Deposit['status'] | undefined
  search?: Search
}

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

/** Schema of the filter for administrators. Its output is a Prisma condition. */
export const accountFilter = <Status extends string>(status: z.ZodType<Status, Status>) =>
  z
    .strictObject({ userId: idInput('user').optional(), status: status.optional() })
    .transform(({ userId, ...rest }) => ({ ...rest, ...(userId !== undefined && { walletId: fromId(userId)!.uuid }) }))

const statusFilter = accountFilter(z.enum(['PENDING', 'CREDITED', 'FROZEN']))
type AccountFilter = z.input<typeof statusFilter>

/** Lists the deposits of all users, newest first. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
export async function listAccountDeposits({ actor, database }: Needs, filter: AccountFilter, page: Page) {
  assertMay(actor, 'store:administer')
  return database.read.deposit.findMany({ ...page, orderBy: { id: 'desc' }, where: parse(statusFilter, filter) })
}

/** Counts these deposits, up to one page after `offset`. */
export async function countAccountDeposits({ actor, database }: Needs, filter: AccountFilter, offset?: number | null) {
  assertMay(actor, 'store:administer')
  return database.read.deposit.count({ where: parse(statusFilter, filter), take: countLimit(offset) })
}

/** Time for which the newest block is cached, in milliseconds. All deposits of a page share it. */
const HEAD_CACHE_MS = 500
const heads = new WeakMap<Database, { at: number; number: Promise<number | null> }>()

function readHead(database: Database): Promise<number | null> {
  const cached = heads.get(database)
  if (cached && performance.now() - cached.at <= HEAD_CACHE_MS) return cached.number
  const number = database.query(findHead).then(([row]) => row?.head ?? null)
  number.catch(() => heads.delete(database))
  heads.set(database, { at: performance.now(), number })
  return number
}

/** Returns the number of blocks after a deposit's block. Null while the chain does not have the deposit, or before the first scan. */
export async function countConfirmations({ database }: Use<'database'>, blockNumber: number | null) {
  if (blockNumber === null) return null
  const head = await readHead(database)
  return head === null ? null : Math.max(head - blockNumber, 0)
}

/** Coin balances by location according to the ledger, and the withdrawals that wait for coins. Amounts are decimal strings. */
export interface HeldCoins extends RowOf<typeof heldColumns> {
  treasury: string
  /** Balance on the chain. Null while the chain does not answer. */
  treasuryBalance: string | null
  /** Amount that the treasury lacks for all due withdrawals. Null while the chain does not answer. */
  missing: string | null
}

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

/** Lists frozen deposits, newest first. Throws PERMISSION_DENIED. */
export async function listFrozenDeposits({ actor, database }: Needs, limit: number) {
  assertMay(actor, 'store:administer')
  return database.query(findFrozenDeposits, { limit })
}

const whyNotSettled = async (database: Database, uuid: string, message: string) =>
  (await database.read.deposit.count({ where: { id: uuid } }))
    ? new DomainError('CONFLICT', message)
    : notFound('Deposit')

/** Charges the wallet for its debt from a frozen deposit, up to its balance. Returns the amount. Throws PERMISSION_DENIED, NOT_FOUND, CONFLICT. */
export async function collectShortfall(
  { actor, database, notifications }: Needs & Use<'notifications'>,
  { id }: { id: string },
): Promise<string> {
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'deposit', 'Deposit')
  const [row] = await database.query(collectShortfallSql, { deposit: uuid })
  const message = 'Nothing can be collected: the wallet owes nothing for this deposit, or is empty.'
  if (!row) throw await whyNotSettled(database, uuid, message)
  notifications.notify(row.owner)
  return row.taken
}

/** Writes off what a wallet owes for a frozen deposit: the platform bears it. Returns the amount. Throws PERMISSION_DENIED, NOT_FOUND, CONFLICT. */
export async function writeOffShortfall({ actor, database }: Needs, { id }: { id: string }): Promise<string> {
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'deposit', 'Deposit')
  const [row] = await database.query(writeShortfallOff, { deposit: uuid })
  if (!row) throw await whyNotSettled(database, uuid, 'The wallet owes nothing for this deposit.')
  return row.borne
}
