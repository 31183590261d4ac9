/** The audit log. Users read their own entries, and administrators those of everyone. */
import type { Use } from '../../context.ts'
import type { AuditEntry, Prisma } from '../../db/prisma/client.ts'
import { notFound } from '../../shared/errors.ts'
import { fromId } from '../../shared/ids.ts'
import { countLimit, type Search, searched } from '../../shared/lists.ts'
import { type Actor, assertMay, assertUser, canAdminister } from '../../shared/policy.ts'

type Reader = Use<'actor' | 'database'>

interface AuditFilter {
  /** Prefixed ID of the account. Default: the caller. */
  userId?: string | undefined
  /** True for the entries of all accounts and of the system. */
  everybody?: boolean | undefined
  search?: Search
}

function accountFilter(actor: Actor, { userId, everybody }: AuditFilter): Prisma.AuditEntryWhereInput {
  assertMay(actor, 'audit:read')
  if (everybody) {
    assertMay(actor, 'store:administer')
    return {}
  }
  if (userId === undefined) {
    assertUser(actor)
    return { userId: actor.id }
  }
  const uuid = fromId(userId, 'user')?.uuid
  if (actor.kind !== 'user' || actor.id !== uuid) assertMay(actor, 'store:administer')
  if (uuid === undefined) throw notFound('User')
  return { userId: uuid }
}

const where = (actor: Actor, { search, ...filter }: AuditFilter): Prisma.AuditEntryWhereInput => ({
  ...accountFilter(actor, filter),
  ...searched(search, (word) => [{ action: word }, { subject: word }, { address: word }, { reason: word }]),
})

export async function findAuditEntry({ actor, database }: Reader, id: string): Promise<AuditEntry | null> {
  const uuid = fromId(id, 'audit')?.uuid
  if (uuid === undefined || actor.kind === 'anonymous') return null
  const own = canAdminister(actor) || actor.kind !== 'user' ? {} : { userId: actor.id }
  return database.read.auditEntry.findFirst({ where: { id: uuid, ...own } })
}

/** Lists entries, newest first. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED. */
export const listAuditEntries = async (
  { actor, database }: Reader,
  filter: AuditFilter,
  query: Omit<Prisma.AuditEntryFindManyArgs, 'where' | 'orderBy'>,
): Promise<AuditEntry[]> =>
  database.read.auditEntry.findMany({ ...query, orderBy: { id: 'desc' }, where: where(actor, filter) })

/** Counts entries up to the limit for `offset`. Throws the errors of `listAuditEntries`. */
export const countAuditEntries = async ({ actor, database }: Reader, filter: AuditFilter, offset?: number | null) =>
  database.read.auditEntry.count({ where: where(actor, filter), take: countLimit(offset) })
