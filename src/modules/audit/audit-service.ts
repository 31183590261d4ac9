/** The audit trail, for those it tells of and for administrators. Contract: `auditEntries`, `auth/users/me/audit-entries`. */

import type { Database } from '../../db/database-types.ts'
import type { AuditEntry, Prisma } from '../../db/prisma/client.ts'
import { type Actor, assertUser } from '../../shared/actor.ts'
import { notFound } from '../../shared/errors.ts'
import { fromId } from '../../shared/ids.ts'
import { countLimit, type Search, searched } from '../../shared/lists.ts'
import { assertMay, canAdminister } from '../../shared/policy.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type AuditQuery = Omit<Prisma.AuditEntryFindManyArgs, 'where' | 'orderBy'>

/** Whose trail is wanted. */
export interface AuditFilter {
  /** Whose trail, by identifier (`user_…`). The actor's own when left out. */
  userId?: string | undefined
  /** The trail of everybody and of the system. */
  everybody?: boolean | undefined
  search?: Search
}

/** Reads the audit trail; what `createAuditService` makes. */
export type AuditService = ReturnType<typeof createAuditService>

/**
 * The audit trail for readers: people see their own, administrators everybody's. It is written by the statements whose
 * effect it tells.
 */
export function createAuditService({ database }: { database: Database }) {
  function trailOf(actor: Actor, { userId, everybody }: AuditFilter): Prisma.AuditEntryWhereInput {
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
    ...trailOf(actor, filter),
    ...searched(search, (word) => [{ action: word }, { subject: word }, { address: word }, { reason: word }]),
  })

  return {
    /** The entry with this identifier (`audit_…`), or null when there is none that this actor may see. */
    async find(actor: Actor, id: string, query: Omit<Prisma.AuditEntryFindFirstArgs, 'where'> = {}) {
      const uuid = fromId(id, 'audit')?.uuid
      if (uuid === undefined || actor.kind === 'anonymous') return null
      const own = canAdminister(actor) || actor.kind !== 'user' ? {} : { userId: actor.id }
      return database.read.auditEntry.findFirst({ ...query, where: { id: uuid, ...own } })
    },

    /**
     * Entries, newest first; others' only for administrators.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED.
     */
    async list(actor: Actor, filter: AuditFilter, query: AuditQuery): Promise<AuditEntry[]> {
      return database.read.auditEntry.findMany({ ...query, orderBy: { id: 'desc' }, where: where(actor, filter) })
    },

    /** How many `list` would give in all, counted no further than a page behind `offset` needs. Raises what `list` raises. */
    async count(actor: Actor, filter: AuditFilter, offset?: number | null): Promise<number> {
      return database.read.auditEntry.count({ where: where(actor, filter), take: countLimit(offset) })
    },
  }
}
