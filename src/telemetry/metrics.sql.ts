/** What a scrape asks the database: one statement for the state of things, one for a page of the books. */

import { SILENT_SECONDS } from '../db/heartbeat.ts'
import { settingKeys } from '../db/key-value-store.ts'
import { bigint, boolean, float, int, numeric, orNull, statement, text, uuid } from '../db/sql.ts'
import { roles } from '../shared/process.ts'
import type { MetricName } from './metric-table.ts'

/** Milliseconds: a scrape waits no longer. */
const PATIENCE_MS = 2_000

const metric = (name: MetricName) => `'${name}'`

/** What waits for its first try (created) or for another (retry); what is carried out, the queue counts itself every three seconds. */
const jobsSql = `
  queues as (select name, active_count from jobs.queue where name <> 'dead-letter' and name not like '\\_\\_%'),
  waiting_jobs as (
    select q.name, w.* from queues q cross join lateral (
      select state::text as state, count(*) as count, min(created_on) as oldest, min(start_after) as due
      from jobs.job j where j.name = q.name and j.state < 'active' and not j.blocked group by state
    ) w
  ),
  jobs_told as (
    select ${metric('annal_jobs')} as metric, q.name as label, s.state, coalesce(w.count, 0)::float8 as value
      from queues q cross join (values ('created'), ('retry')) as s (state)
        left join waiting_jobs w on w.name = q.name and w.state = s.state
    union all
    select ${metric('annal_jobs')}, name, 'active', active_count::float8 from queues
    union all
    select m.metric, q.name, null, coalesce(max(greatest(0, extract(epoch from now() - m.since))), 0)::float8
      from queues q left join waiting_jobs w on w.name = q.name
        cross join lateral (values (${metric('annal_jobs_oldest_seconds')}, w.oldest), (${metric('annal_jobs_overdue_seconds')}, w.due)) as m (metric, since)
      group by m.metric, q.name
    union all
    select ${metric('annal_jobs_dead')}, q.name, null,
        (select count(*) from jobs.job j where j.name = 'dead-letter' and j.source_name = q.name)::float8
      from queues q
  )`

/** The conditions are those of the partial indexes; see `chain/relay/relay.sql.ts`. */
const relaySql = `
  accepted as (
    select count(*) as count, count(*) filter (where attempts > 0) as failing, min(commit_id::text)::uuid as oldest
    from commit_relays where status = 'PENDING' and lane is null and tree_signature is null
  ),
  ready as (
    select count(*) as count, (array_agg(commit_id order by commit_id))[1] as oldest
    from commit_relays where status = 'PENDING' and lane is null and tree_signature is not null
  ),
  open as (
    select case status when 'PENDING' then 'signed' else lower(status::text) end as state, count(*) as count,
      (array_agg(commit_id order by commit_id))[1] as oldest
    from commit_relays where status in ('PENDING', 'BROADCAST', 'INCLUDED') and lane is not null group by 1
  ),
  relay_told as (
    select ${metric('annal_relay_commits')} as metric, 'accepted' as label, null as state, count::float8 as value from accepted
    union all
    select ${metric('annal_relay_commits')}, 'ready', null, count::float8 from ready
    union all
    select ${metric('annal_relay_commits')}, s.state, null, coalesce(open.count, 0)::float8
      from (values ('signed'), ('broadcast'), ('included')) as s (state) left join open using (state)
    union all
    select ${metric('annal_relay_commits_failing')}, null, null, failing::float8 from accepted
    union all
    select ${metric('annal_relay_lag_seconds')}, null, null, coalesce(extract(epoch from clock_timestamp() - min(c.created_at)), 0)::float8
      from commits c where c.id in (
        select oldest from accepted union all select oldest from ready
        union all select oldest from open where state in ('signed', 'broadcast'))
  )`

/** As `findProcesses` counts them; a role that nobody has is told as 0. */
const processesSql = `
  processes_told as (
    select ${metric('annal_processes')} as metric, r.role as label, null as state,
      (select count(*) from processes p
        where r.role = any(p.roles) and p.seen_at > now() - interval '${SILENT_SECONDS} seconds')::float8 as value
    from (values ${roles.map((role) => `('${role}')`).join(', ')}) as r (role)
  )`

/** The state of things. `label` and `state` are the values of a metric's labels, in their order. */
export const readState = statement(
  'metrics_state',
  { patience: PATIENCE_MS, columns: { metric: text, label: orNull(text), state: orNull(text), value: float } },
  `with ${jobsSql}, ${relaySql}, ${processesSql}
   select metric, label, state, value from jobs_told
   union all select metric, label, state, value from relay_told
   union all select metric, label, state, value from processes_told
   union all select ${metric('annal_setbacks')}, sweep, null, count(*)::float8 from setbacks group by sweep
   union all select ${metric('annal_deposits')}, lower(s.status::text), null, (select count(*) from deposits d where d.status = s.status and d.status <> 'CREDITED')::float8
     from (values ('PENDING'::deposit_status), ('FROZEN')) as s (status)
   union all select ${metric('annal_deposits_set_aside')}, null, null, count(*)::float8 from setbacks where sweep = 'credit-deposits'
   union all select ${metric('annal_coin_moves_waiting')}, null, null,
     coalesce((select value::int from settings where key = '${settingKeys.movesWaiting}'), 0)::float8
   union all select ${metric('annal_deposits_shortfall_units')}, null, null, coalesce(sum(shortfall), 0)::float8
     from deposits where status = 'FROZEN'
   union all select ${metric('annal_withdrawals_waiting_seconds')}, null, null,
     coalesce(extract(epoch from now() - min(since)), 0)::float8 from (
       select due_at as since from withdrawals where status = 'WAITING' and due_at <= now()
       union all
       select m.created_at from withdrawals x join coin_moves m on m.id = x.move_id where x.status = 'SENDING' and m.status = 'SIGNED'
     ) waiting
   union all select ${metric('annal_webhooks_disabled')}, null, null, count(*)::float8
     from network_apps where webhook_disabled_at is not null and deactivated_at is null`,
)

/** Seconds after which a transfer that is not to be seen yet never comes: longer than any transaction. */
const SETTLED_SECONDS = 60

/**
 * The sums of a page of transfers after `after`, in the order of their identifiers, which is that of time. `is_settled`: those that
 * are so old that no other can appear among them. A row without a book and a currency counts transfers, one without a book only is of
 * wallets. `last`: the page's last transfer, and the last one that is settled; `size`: how many it has.
 */
export const readBooks = statement(
  'metrics_books',
  {
    patience: PATIENCE_MS,
    parameters: { after: uuid, limit: int },
    columns: {
      is_settled: boolean,
      kind: text,
      book: orNull(text),
      currency: orNull(text),
      /** Of entries above zero, and of all. */
      moved: numeric,
      sum: numeric,
      transfers: bigint,
      last: uuid,
      size: int,
    },
  },
  `with boundary as materialized (select uuidv7(interval '-${SETTLED_SECONDS} seconds') as id),
   page as materialized (
     select t.id, split_part(t.reference, ':', 1) as kind, t.id < boundary.id as is_settled
     from transfers t, boundary where t.id > $after order by t.id limit $limit
   ),
   ends as (
     select is_settled, (array_agg(id order by id desc))[1] as last, (select count(*) from page)::int as size
     from page group by is_settled
   ),
   sums as (
     select is_settled, kind, null as book, null as currency, 0 as moved, 0 as sum, count(*) as transfers from page group by 1, 2
     union all
     select p.is_settled, p.kind, e.book::text, e.currency::text, coalesce(sum(e.amount) filter (where e.amount > 0), 0), sum(e.amount), 0
     from page p join entries e on e.transfer_id = p.id group by 1, 2, 3, 4
   )
   select is_settled, kind, book, currency, moved, sum, transfers, last, size from sums join ends using (is_settled)`,
)
