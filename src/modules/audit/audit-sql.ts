/**
 * The part of a writing statement that says in the audit trail what was done. It stands in one statement with the effect:
 * nothing is done without its entry, and no entry tells of what was not done.
 */

import { orNull, text, uuid } from '../../db/sql.ts'
import type { Actor } from '../../shared/actor.ts'
import type { AuditAction } from './audit-action.ts'

/** Where entries of the trail come from, and SQL expressions of what they tell. */
export interface AuditParts {
  /** What this part is called in the statement, where there are two. */
  name?: string
  /** The part or join that has a row for each entry, and none when nothing happened. */
  from: string
  /** SQL expression: UUID of the account it was done with; `null` of the system's acts. */
  user: string
  action: AuditAction
  /** SQL expression: what it was done to, as an identifier that callers see. Left out when it is the account itself. */
  subject?: string
  /** SQL expression: the network address it came from, null for the system. */
  address?: string
  /** SQL expression: why, as an administrator put it; null of everything else. */
  reason?: string
}

/** The part that writes entries of the trail, one for each row of `from`. */
export const auditSql = ({
  name = 'inserted_audit_entries',
  from,
  user,
  action,
  subject = 'null',
  address = 'null',
  reason = 'null',
}: AuditParts): string => `
  ${name} as (
    insert into audit_entries (user_id, action, subject, address, reason)
    select (${user})::uuid, '${action}', (${subject})::text, (${address})::text, (${reason})::text from ${from}
  )`

/** Parameters of a statement with a part of `auditSql`: whose account did it and from which address; both null of the system. */
export const audited = { actor: orNull(uuid), address: orNull(text) }

/** What the parameters of a statement with a part of `auditSql` are given. */
export const auditorOf = (actor: Actor) => ({
  actor: actor.kind === 'user' ? actor.id : null,
  address: actor.kind === 'system' ? null : actor.address,
})
