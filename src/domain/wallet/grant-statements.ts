import { countsSql } from '../account/address-sql.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../event/event-sql.ts'
import { rememberSql } from '../idempotency.ts'
import { statement } from '../ports.ts'

/** Points an administrator gave to a user. */
export interface Grant {
  /** UUIDs. */
  id: string
  userId: string
  /** Decimal string. */
  amount: string
  reason: string
  /** Until when its points can be spent. */
  expiresAt: Date | null
  /** When what was left of it was taken back. */
  expiredAt: Date | null
  createdAt: Date
}

const columns = (from: string) =>
  `${from}.id, ${from}.wallet_id as "userId", ${from}.amount::text, ${from}.reason, ${from}.expires_at as "expiresAt",
   ${from}.expired_at as "expiredAt", ${from}.created_at as "createdAt"`

/** A user by UUID ($1), or by a name ($2): an e-mail address if it looks like one, which must be verified if $3; else a username. */
export const findGrantee = statement<{ id: string }>(
  'grantee_find',
  `select id from users where deleted_at is null and case
     when $1::uuid is not null then id = $1::uuid
     when $2 like '%@%' then lower(email) = lower($2) and ${countsSql('$3')}
     else username_key = username_key($2)
   end`,
)

export const findGrant = statement<Grant>(
  'grant_find',
  `select ${columns('g')} from point_grants g where g.id = $1::uuid`,
)

/**
 * Grant, transfer, balance and event; no row when the moment it expires is not in the future.
 * $1 grant, $2 user, $3 amount, $4 reason, $5 who gives, $6 when it expires, $7 transfer, $10 the grant as callers see it,
 * $11 the address it came from.
 */
export const insertGrant = statement<{ id: string }>(
  'grant_insert',
  `with raised as (
     update wallets w set points = w.points + $3::numeric, event_sequence = w.event_sequence + 1,
       points_expire_at = least(w.points_expire_at, $6::timestamptz)
     where w.user_id = $2::uuid and w.closed_at is null and ($6::timestamptz is null or $6::timestamptz > now())
     returning w.user_id, w.event_sequence as sequence
   ),
   granted as (
     insert into point_grants (id, wallet_id, amount, remaining, reason, granted_by, expires_at)
     select $1::uuid, user_id, $3::numeric, case when $6::timestamptz is not null then $3::numeric end, $4, $5::uuid,
       $6::timestamptz
     from raised returning id
   ),
   moved as (
     insert into transfers (id, reference) select $7::uuid, 'grant:' || $1::uuid from raised
   ),
   booked as (
     insert into entries (transfer_id, position, wallet_id, book, currency, amount)
     select $7::uuid, line.position, line.wallet_id, line.book, 'POINTS', line.amount
     from raised, lateral (values (1, raised.user_id, null::book, $3::numeric), (2, null, 'PROMOTION', -$3::numeric))
       as line (position, wallet_id, book, amount)
   ),
   ${eventSql({ name: 'told', from: 'raised', owner: 'user_id', sequence: 'sequence', type: 'points.granted', transfer: '$7' })},
   ${auditSql({ name: 'audited', from: 'granted', user: '$5', action: 'points.granted', subject: '$10', address: '$11' })},
   ${rememberSql('$8', '$9', '$1::text', 'granted')}
   select id from granted`,
)
