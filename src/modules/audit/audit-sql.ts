import { orNull, text, uuid } from '../../db/sql.ts'
import type { Actor } from '../../shared/policy.ts'

/** Recorded actions by resource: changes of credentials and prices, and actions of administrators. */
const actions = {
  account: ['created', 'deleted', 'exported', 'locked', 'unlocked'],
  session: ['started', 'ended', 'revoked'],
  'admin-session': ['started', 'ended'],
  password: ['changed', 'reset'],
  email: ['change-requested', 'changed', 'verified'],
  username: ['changed'],
  profile: ['changed'],
  'api-key': ['issued', 'revoked'],
  'network-app': ['created', 'updated', 'deactivated', 'secret-rotated', 'webhook-tested'],
  points: ['granted'],
  deposit: ['credited', 'collected', 'written-off'],
  payment: ['borne'],
  order: ['refunded'],
  withdrawal: ['requested', 'cancelled'],
  'webhook-delivery': ['replayed'],
  keys: ['rotated'],
  'sign-in': ['locked'],
} as const

type ActionOf<Resource> = Resource extends keyof typeof actions
  ? `${Resource}.${(typeof actions)[Resource][number]}`
  : never
export type AuditAction = ActionOf<keyof typeof actions>

export const auditActions = Object.entries(actions).flatMap(([resource, names]) =>
  names.map((name) => `${resource}.${name}`),
)

/** SQL of the columns of audit entries. */
interface AuditParts {
  /** Name of the CTE. */
  name?: string
  /** CTE or join with one row per audit entry. */
  from: string
  /** UUID of the account that acted, or `null` for the system. */
  user: string
  action: AuditAction
  /** Public ID of the changed resource. Omitted for the account itself. */
  subject?: string
  /** Network address of the caller. */
  address?: string
  reason?: string
}

/** CTE that adds audit entries in the same statement as the change: neither exists without the other. */
export const auditSql = ({ from, user, action, subject, address, reason, ...options }: AuditParts): string => `
  ${options.name ?? 'inserted_audit_entries'} as (
    insert into audit_entries (user_id, action, subject, address, reason)
    select (${user})::uuid, '${action}', (${subject ?? 'null'})::text, (${address ?? 'null'})::text, (${reason ?? 'null'})::text
    from ${from}
  )`

/** Parameters of a statement with `auditSql`. They are null for actions of the system. */
export const audited = { actor: orNull(uuid), address: orNull(text) }

export const auditorOf = (actor: Actor) => ({
  actor: actor.kind === 'user' ? actor.id : null,
  address: actor.kind === 'system' ? null : actor.address,
})
