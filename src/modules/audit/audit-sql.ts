import { orNull, text, uuid } from '../../db/sql.ts'
import type { Actor } from '../../shared/policy.ts'

/** Recorded actions: changes of credentials and prices, and actions of administrators. */
export const auditActions = [
  'account.created',
  'account.deleted',
  'account.exported',
  'account.locked',
  'account.unlocked',
  'session.started',
  'session.ended',
  'session.revoked',
  'admin-session.started',
  'admin-session.ended',
  'password.changed',
  'password.reset',
  'email.change-requested',
  'email.changed',
  'email.verified',
  'username.changed',
  'profile.changed',
  'api-key.issued',
  'api-key.revoked',
  'network-app.created',
  'network-app.updated',
  'network-app.deactivated',
  'network-app.secret-rotated',
  'network-app.webhook-tested',
  'points.granted',
  'deposit.credited',
  'deposit.collected',
  'deposit.written-off',
  'payment.borne',
  'order.refunded',
  'withdrawal.requested',
  'withdrawal.cancelled',
  'webhook-delivery.replayed',
  'keys.rotated',
  'sign-in.locked',
] as const

export type AuditAction = (typeof auditActions)[number]

/** Source of new audit entries, and SQL expressions of their columns. */
export interface AuditParts {
  /** Name of the CTE, if the statement has two. */
  name?: string
  /** CTE or join with one row per audit entry. */
  from: string
  /** UUID of the account that acted, or `null` for the system. */
  user: string
  action: AuditAction
  /** Prefixed ID of the changed resource. Omitted for the account itself. */
  subject?: string
  /** Network address of the caller, null for the system. */
  address?: string
  /** Reason that an administrator gave. */
  reason?: string
}

/** CTE that adds audit entries in the same statement as the change: neither exists without the other. */
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

/** Parameters of a statement with `auditSql`. They are null for actions of the system. */
export const audited = { actor: orNull(uuid), address: orNull(text) }

export const auditorOf = (actor: Actor) => ({
  actor: actor.kind === 'user' ? actor.id : null,
  address: actor.kind === 'system' ? null : actor.address,
})
