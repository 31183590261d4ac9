/** What closes grants whose time is over: one wallet at a time, in one transaction of these two statements. */
import { eventSql } from '../event/event-sql.ts'
import { int, statement, uuid } from '../sql.ts'
import { isAwakeSql, placeSql, sweepPage } from '../sweep/sweep.ts'
import { postTransferSql } from './post-transfer-sql.ts'

const byEnd = placeSql('points_expire_at', 'user_id')

/** A page of a sweep: wallets with such grants, those that wait longest first. */
export const findDueWallets = statement(
  'grants_due',
  sweepPage,
  `select user_id::text as item, ${byEnd.place} as place from wallets
   where points_expire_at <= now() and ${byEnd.isAfter} and ${isAwakeSql('expire-points', 'user_id::text')}
   order by points_expire_at, user_id limit $limit`,
)

/** Holds the wallet. No row: somebody else is at it, and the next sweep sees to it. */
export const holdDueWallet = statement(
  'grants_hold',
  { parameters: { user: uuid }, columns: { user_id: uuid } },
  'select user_id from wallets where user_id = $user and points_expire_at <= now() for no key update skip locked',
)

/** Closes so many grants of a wallet that is held, and takes back what is left of them, each by a transfer of its own. */
export const closeDueGrants = statement(
  'grants_close',
  { parameters: { user: uuid, limit: int }, columns: { closed: int, taken: int } },
  `with due_grants as materialized (
     select id, remaining from point_grants
     where wallet_id = $user and expires_at is not null and expired_at is null and expires_at <= now()
     order by expires_at, id limit $limit
   ),
   closed_grants as (
     update point_grants g set expired_at = now(), remaining = 0 from due_grants where g.id = due_grants.id
     returning g.id, old.remaining
   ),
   unspent_grants as materialized (
     select id, remaining, (row_number() over (order by id))::int as rank
     from closed_grants where remaining > 0
   ),
   debited_wallet as (
     update wallets w set points = w.points - (select coalesce(sum(remaining), 0) from unspent_grants),
       event_sequence = w.event_sequence + (select count(*) from unspent_grants)::int,
       points_expire_at = (
         select min(g.expires_at) from point_grants g
         where g.wallet_id = $user and g.expires_at is not null and g.expired_at is null
           and g.id not in (select id from due_grants)
       )
     where w.user_id = $user
     returning w.user_id, old.event_sequence as before,
       next_transfer_ids(w.user_id, (select count(*) from unspent_grants)::int) as transfers
   ),
   expiries as materialized (
     select id, remaining, user_id, before + rank as sequence, transfers[rank] as transfer_id
     from unspent_grants, debited_wallet
   ),
   ${postTransferSql({
     from: 'expiries',
     reference: `'grant-expiry:' || expiries.id`,
     lines: [
       { wallet: '$user', currency: 'POINTS', amount: '-expiries.remaining' },
       { book: 'PROMOTION', currency: 'POINTS', amount: 'expiries.remaining' },
     ],
   })},
   inserted_grant_uses as (
     insert into grant_uses (grant_id, transfer_id, amount) select id, transfer_id, remaining from expiries
   ),
   ${eventSql({ from: 'expiries', owner: 'user_id', sequence: 'sequence', type: 'points.expired', transfer: 'transfer_id' })}
   select (select count(*) from closed_grants)::int as closed, (select count(*) from unspent_grants)::int as taken`,
)
