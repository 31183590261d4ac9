import type { Invariant } from '../../db/database-types.ts'
import { statement, text, uuid } from '../../db/sql.ts'
import { eventSql } from '../events/events.sql.ts'
import { nextTransferSql, postTransferSql } from '../wallet/ledger-sql.ts'

/** Fails a commit that can never reach the chain, and refunds its charge exactly once. */
export const failCommit = statement(
  'relay_fail',
  { parameters: { commit: uuid, reason: text }, columns: { commit_id: uuid } },
  `with failed_relay as (
     update commit_relays r set status = 'FAILED', failure = $reason, block_number = null, block_hash = null, updated_at = now()
     from commits c
     where r.commit_id = $commit and c.id = r.commit_id and r.status in ('PENDING', 'BROADCAST')
     returning r.commit_id, c.author_id
   ),
   charge_entries as (
     select e.* from failed_relay
       join transfers t on t.reference = 'commit:' || failed_relay.commit_id
       join entries e on e.transfer_id = t.id
   ),
   credited_wallets as (
     update wallets w set num = w.num - sums.num, points = w.points - sums.points,
       event_sequence = w.event_sequence + sums.events
     from (
       select wallet_id, coalesce(sum(amount) filter (where currency = 'NUM'), 0) as num,
         coalesce(sum(amount) filter (where currency = 'POINTS'), 0) as points, sum(events)::int as events
       from (
         select wallet_id, currency, amount, 0 as events from charge_entries where wallet_id is not null
         union all select author_id, null, 0, 1 from failed_relay
       ) line
       group by wallet_id
     ) sums
     where w.user_id = sums.wallet_id
     returning w.user_id, w.event_sequence, ${nextTransferSql('w')} as transfer_id
   ),
   ${postTransferSql({
     from: 'failed_relay join credited_wallets on credited_wallets.user_id = failed_relay.author_id',
     reference: `'refund:' || failed_relay.commit_id`,
     when: 'exists (select from charge_entries)',
     lines: 'select position, wallet_id, book, currency, -amount from charge_entries',
   })},
   ${eventSql({
     from: `failed_relay join credited_wallets on credited_wallets.user_id = failed_relay.author_id
       left join inserted_transfers on true`,
     owner: 'failed_relay.author_id',
     sequence: 'credited_wallets.event_sequence',
     type: 'commit.failed',
     commit: 'failed_relay.commit_id',
     transfer: 'inserted_transfers.id',
   })}
   select commit_id from failed_relay`,
)

/** SQL: `commit_id` and `status` of all unsettled commits. Each of the three parts uses a partial index. */
export const openRelaysSql = `
  select commit_id, status from commit_relays where status = 'PENDING' and lane is null and tree_signature is null
  union all
  select commit_id, status from commit_relays where status = 'PENDING' and lane is null and tree_signature is not null
  union all
  select commit_id, status from commit_relays where status in ('PENDING', 'BROADCAST', 'INCLUDED') and lane is not null`

export const historyInvariants: Invariant[] = [
  {
    id: 'I6',
    sentence:
      'Every accepted change has exactly one commit and one charge, and at most one refund; sequences have no gap.',
    query: `select 'commit:' || c.id as subject, 'no charge' as problem from commits c
              left join transfers t on t.reference = 'commit:' || c.id where t.id is null
            union all
            select t.reference, 'charge without a commit' from transfers t
              left join commits c on t.reference = 'commit:' || c.id
              where t.reference like 'commit:%' and c.id is null
            union all
            select t.reference, 'refund without a failed commit' from transfers t
              left join commit_relays r on t.reference = 'refund:' || r.commit_id and r.status = 'FAILED'
              where t.reference like 'refund:%' and r.commit_id is null
            union all
            select 'commit:' || c.id, 'no relay row' from commits c left join commit_relays r on r.commit_id = c.id where r.commit_id is null
            union all
            select a.nid, 'head is not the newest of gapless commits' from assets a
              left join lateral (select count(*) as n, max(sequence) as newest,
                (array_agg(id order by sequence desc))[1] as head from commits where asset_id = a.id) c on true
              where c.n <> a.head_sequence or c.newest <> a.head_sequence or c.head <> a.head_commit_id`,
  },
]
