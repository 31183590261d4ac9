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

/** A user by UUID ($1), or by a name ($2): an e-mail address if it looks like one, else a username. */
export const findGrantee = statement<{ id: string }>(
  'grantee_find',
  `select id from users where deleted_at is null and case
     when $1::uuid is not null then id = $1::uuid
     when $2 like '%@%' then lower(email) = lower($2)
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
     update wallets w set points = w.points + $3::numeric, event_sequence = w.event_sequence + 1
     where w.user_id = $2::uuid and w.closed_at is null and ($6::timestamptz is null or $6::timestamptz > now())
     returning w.user_id, w.event_sequence as sequence
   ),
   granted as (
     insert into point_grants (id, wallet_id, amount, reason, granted_by, expires_at)
     select $1::uuid, user_id, $3::numeric, $4, $5::uuid, $6::timestamptz from raised returning id
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

/** Grants whose time is over and that still hold what was left of them. */
export const findDueGrants = statement<{ id: string; user_id: string }>(
  'grants_due',
  `select id, wallet_id as user_id from point_grants
   where expires_at is not null and expired_at is null and expires_at <= now() order by expires_at limit $1`,
)

/**
 * A wallet with all that moved its points, oldest first by the database's clock, in one moment. `version` is another one
 * as soon as anything about the wallet changes.
 */
export const readPoints = statement<{
  version: string
  points: string
  grants: { id: string; expiresAt: string | null; expiredAt: string | null }[]
  movements: { reference: string; amount: string; at: string }[]
}>(
  'grant_points',
  `select w.xmin::text as version, w.points::text,
     (select coalesce(json_agg(json_build_object('id', id, 'expiresAt', expires_at, 'expiredAt', expired_at)
        order by expires_at, id), '[]') from point_grants where wallet_id = w.user_id) as grants,
     (select coalesce(json_agg(json_build_object('reference', t.reference, 'amount', m.amount::text, 'at', t.created_at)
        order by t.created_at, t.id), '[]')
      from (
        select transfer_id, sum(amount) as amount from entries
        where wallet_id = w.user_id and currency = 'POINTS' group by transfer_id
      ) m join transfers t on t.id = m.transfer_id) as movements
   from wallets w where w.user_id = $1::uuid`,
)

/**
 * Takes back what is left of a grant, if its wallet is still as it was read.
 * $1 grant, $2 the wallet's version, $3 what is left, $4 transfer.
 */
export const expireGrant = statement<{ id: string }>(
  'grant_expire',
  `with due as (
     select id, wallet_id from point_grants
     where id = $1::uuid and expired_at is null and expires_at <= now() for update
   ),
   lowered as (
     update wallets w set points = w.points - $3::numeric,
       event_sequence = w.event_sequence + case when $3::numeric > 0 then 1 else 0 end
     from due where w.user_id = due.wallet_id and w.xmin::text = $2
     returning w.user_id, w.event_sequence as sequence
   ),
   closed as (
     update point_grants g set expired_at = now() from lowered where g.id = $1::uuid returning g.id
   ),
   taken as (
     select user_id, sequence from lowered where $3::numeric > 0
   ),
   moved as (
     insert into transfers (id, reference) select $4::uuid, 'grant-expiry:' || $1::uuid from taken
   ),
   booked as (
     insert into entries (transfer_id, position, wallet_id, book, currency, amount)
     select $4::uuid, line.position, line.wallet_id, line.book, 'POINTS', line.amount
     from taken, lateral (values (1, taken.user_id, null::book, -$3::numeric), (2, null, 'PROMOTION', $3::numeric))
       as line (position, wallet_id, book, amount)
   ),
   ${eventSql({ name: 'told', from: 'taken', owner: 'user_id', sequence: 'sequence', type: 'points.expired', transfer: '$4' })}
   select id from closed`,
)
