import { countsSql } from '../account/address-sql.ts'
import { auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../event/event-sql.ts'
import { rememberSql } from '../idempotency.ts'
import { statement } from '../ports.ts'
import { nextTransferSql } from './transfer-sql.ts'

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
 * $1 user, $2 amount, $3 reason, $4 who gives, $5 when it expires, $6 the address it came from.
 */
export const insertGrant = statement<{ id: string }>(
  'grant_insert',
  `with raised as (
     update wallets w set points = w.points + $2::numeric, event_sequence = w.event_sequence + 1,
       points_expire_at = least(w.points_expire_at, $5::timestamptz)
     where w.user_id = $1::uuid and w.closed_at is null and ($5::timestamptz is null or $5::timestamptz > now())
     returning w.user_id, w.event_sequence as sequence, ${nextTransferSql('w')} as transfer_id
   ),
   granted as (
     insert into point_grants (wallet_id, amount, remaining, reason, granted_by, expires_at)
     select user_id, $2::numeric, case when $5::timestamptz is not null then $2::numeric end, $3, $4::uuid, $5::timestamptz
     from raised returning id
   ),
   moved as (
     insert into transfers (id, reference) select raised.transfer_id, 'grant:' || granted.id from raised, granted
   ),
   booked as (
     insert into entries (transfer_id, position, wallet_id, book, currency, amount)
     select raised.transfer_id, line.position, line.wallet_id, line.book, 'POINTS', line.amount
     from raised, lateral (values (1, raised.user_id, null::book, $2::numeric), (2, null, 'PROMOTION', -$2::numeric))
       as line (position, wallet_id, book, amount)
   ),
   ${eventSql({ name: 'told', from: 'raised', owner: 'user_id', sequence: 'sequence', type: 'points.granted', transfer: 'transfer_id' })},
   ${auditSql({
     name: 'audited',
     from: 'granted',
     user: '$4',
     action: 'points.granted',
     subject: `type_id('grant', granted.id)`,
     address: '$6',
   })},
   ${rememberSql('$7', '$8', 'granted.id::text', 'granted')}
   select id from granted`,
)
