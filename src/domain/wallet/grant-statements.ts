import { audited, auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../event/event-sql.ts'
import { remembered, rememberSql } from '../idempotency.ts'
import { numeric, orNull, type RowOf, statement, text, timestamp, uuid } from '../sql.ts'
import { postTransferSql } from './post-transfer-sql.ts'
import { nextTransferSql } from './transfer-sql.ts'

const grantColumns = {
  id: uuid,
  userId: uuid,
  amount: numeric,
  reason: text,
  /** Until when its points can be spent. */
  expiresAt: orNull(timestamp),
  /** When what was left of it was taken back. */
  expiredAt: orNull(timestamp),
  createdAt: timestamp,
}
/** Points an administrator gave to a user. */
export type Grant = RowOf<typeof grantColumns>

/** A grant by its UUID, with whom it was given to. */
export const findGrant = statement(
  'grant_find',
  { parameters: { grant: uuid }, columns: grantColumns },
  `select id, wallet_id as "userId", amount, reason, expires_at as "expiresAt", expired_at as "expiredAt",
     created_at as "createdAt"
   from point_grants where id = $grant`,
)

/** Grant, transfer, balance and event; no row when the moment it expires is not in the future. `actor` gives. */
export const insertGrant = statement(
  'grant_insert',
  {
    parameters: {
      user: uuid,
      amount: numeric,
      reason: text,
      expiresAt: orNull(timestamp),
      ...audited,
      ...remembered,
    },
    columns: { id: uuid },
  },
  `with credited_wallet as (
     update wallets w set points = w.points + $amount, event_sequence = w.event_sequence + 1,
       points_expire_at = least(w.points_expire_at, $expiresAt)
     where w.user_id = $user and w.closed_at is null and ($expiresAt is null or $expiresAt > now())
     returning w.user_id, w.event_sequence as sequence, ${nextTransferSql('w')} as transfer_id
   ),
   inserted_grant as (
     insert into point_grants (wallet_id, amount, remaining, reason, granted_by, expires_at)
     select user_id, $amount, case when $expiresAt is not null then $amount end, $reason, $actor, $expiresAt
     from credited_wallet returning id
   ),
   ${postTransferSql({
     from: 'credited_wallet, inserted_grant',
     reference: `'grant:' || inserted_grant.id`,
     lines: [
       { wallet: 'credited_wallet.user_id', currency: 'POINTS', amount: '$amount' },
       { book: 'PROMOTION', currency: 'POINTS', amount: '-$amount' },
     ],
   })},
   ${eventSql({ from: 'credited_wallet', owner: 'user_id', sequence: 'sequence', type: 'points.granted', transfer: 'transfer_id' })},
   ${auditSql({
     from: 'inserted_grant',
     user: '$actor',
     action: 'points.granted',
     subject: `type_id('grant', inserted_grant.id)`,
     address: '$address',
   })},
   ${rememberSql('inserted_grant.id::text', 'inserted_grant')}
   select id from inserted_grant`,
)
