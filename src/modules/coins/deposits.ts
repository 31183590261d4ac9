/** Deposits of the caller, and the settlement of frozen deposits by an operator. */
import type { Use } from '../../context.ts'
import type { Database } from '../../db/database-types.ts'
import type { Deposit, Prisma } from '../../db/prisma/client.ts'
import type { Actor } from '../../shared/actor.ts'
import { DomainError, notFound } from '../../shared/errors.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { type Search, searched } from '../../shared/lists.ts'
import { assertMay, assertUserMay } from '../../shared/policy.ts'
import { findHead } from './deposits.sql.ts'
import {
  collectShortfall as collectShortfallSql,
  findFrozenDeposits,
  writeShortfallOff,
} from './freeze-deposits.sql.ts'

type Needs = Use<'actor' | 'database'>

interface Filter {
  status?: Deposit['status'] | undefined
  search?: Search
}

/** Returns a deposit to the caller's wallet, or null. */
export async function findDeposit({ actor, database }: Needs, uuid: string) {
  if (actor.kind !== 'user') return null
  return database.read.deposit.findFirst({ where: { id: uuid, walletId: actor.id } })
}

const filterOf = (actor: Actor, { status, search }: Filter): Prisma.DepositWhereInput => {
  assertUserMay(actor, 'transfer:read')
  const found = searched(search, (word) => [{ transactionHash: word }])
  return { walletId: actor.id, ...(status && { status }), ...found }
}

/** Lists the caller's deposits, newest first. Throws NOT_AUTHENTICATED. */
export const listDeposits = async (
  { actor, database }: Needs,
  filter: Filter,
  page: Omit<Prisma.DepositFindManyArgs, 'where' | 'orderBy'>,
): Promise<Deposit[]> =>
  database.read.deposit.findMany({ ...page, orderBy: { id: 'desc' }, where: filterOf(actor, filter) })

/** Counts the caller's deposits. Throws NOT_AUTHENTICATED. */
export const countDeposits = async ({ actor, database }: Needs, filter: Filter): Promise<number> =>
  database.read.deposit.count({ where: filterOf(actor, filter) })

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

/** Lists frozen deposits, newest first. Throws PERMISSION_DENIED. */
export async function listFrozenDeposits({ actor, database }: Needs, limit: number) {
  assertMay(actor, 'store:administer')
  return database.query(findFrozenDeposits, { limit })
}

const whyNotSettled = async (database: Database, uuid: string, message: string) =>
  (await database.read.deposit.count({ where: { id: uuid } }))
    ? new DomainError('CONFLICT', message)
    : notFound('Deposit')

/**
 * Charges the wallet for its debt from a frozen deposit, up to its balance. Returns the amount, a decimal string. Throws PERMISSION_DENIED,
 * NOT_FOUND, and CONFLICT if there is nothing to take.
 */
export async function collectShortfall(
  { actor, database, notifications }: Needs & Use<'notifications'>,
  { id }: { id: string },
): Promise<string> {
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'deposit', 'Deposit')
  const [row] = await database.query(collectShortfallSql, { deposit: uuid })
  if (!row)
    throw await whyNotSettled(
      database,
      uuid,
      'Nothing can be collected: the wallet owes nothing for this deposit, or is empty.',
    )
  notifications.notify(row.owner)
  return row.taken
}

/**
 * Writes off what a wallet owes for a frozen deposit: the platform bears it. Returns the amount, a decimal string. Throws PERMISSION_DENIED,
 * NOT_FOUND, and CONFLICT if nothing is owed.
 */
export async function writeOffShortfall({ actor, database }: Needs, { id }: { id: string }): Promise<string> {
  assertMay(actor, 'store:administer')
  const uuid = uuidFrom(id, 'deposit', 'Deposit')
  const [row] = await database.query(writeShortfallOff, { deposit: uuid })
  if (!row) throw await whyNotSettled(database, uuid, 'The wallet owes nothing for this deposit.')
  return row.borne
}
