import { keyValueKeys } from '../db/key-value-store.ts'
import { SILENT_SECONDS } from '../db/processes.ts'
import { float, orNull, statement, text } from '../db/sql.ts'
import { roles } from '../shared/process.ts'
import type { MetricName } from './metric-table.ts'

/** Timeout of a statement of a scrape, in milliseconds. */
export const PATIENCE_MS = 2_000
const metric = (name: MetricName) => `'${name}'`

/** Counts waiting jobs in the states `created` and `retry`. pg-boss itself counts active jobs every three seconds. */
const jobsSql = `
  queues as (select name, active_count from jobs.queue where name <> 'dead-letter' and name not like '\\_\\_%'),
  waiting_jobs as (
    select q.name, w.* from queues q cross join lateral (
      select state::text as state, count(*) as count, min(created_on) as oldest, min(start_after) as due
      from jobs.job j where j.name = q.name and j.state < 'active' and not j.blocked group by state
    ) w
  ),
  jobs_metrics as (
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

/** The conditions match the partial indexes; see `chain/relay/relay.sql.ts`. */
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
  relay_metrics as (
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

/** Counts processes like `readProcesses`. A role without a process has the value 0. */
const processesSql = `
  processes_metrics as (
    select ${metric('annal_processes')} as metric, r.role as label, null as state,
      (select count(*) from processes p
        where r.role = any(p.roles) and p.seen_at > now() - interval '${SILENT_SECONDS} seconds')::float8 as value
    from (values ${roles.map((role) => `('${role}')`).join(', ')}) as r (role)
  )`

/** Returns the metrics. `label` and `state` are the label values, in the order of the metric table. */
export const readState = statement(
  'metrics_state',
  { patience: PATIENCE_MS, columns: { metric: text, label: orNull(text), state: orNull(text), value: float } },
  `with ${jobsSql}, ${relaySql}, ${processesSql}
   select metric, label, state, value from jobs_metrics
   union all select metric, label, state, value from relay_metrics
   union all select metric, label, state, value from processes_metrics
   union all select ${metric('annal_batch_failures')}, job, null, count(*)::float8 from job_failures group by job
   union all select ${metric('annal_deposits')}, lower(s.status::text), null, (select count(*) from deposits d where d.status = s.status and d.status <> 'CREDITED')::float8
     from (values ('PENDING'::deposit_status), ('FROZEN')) as s (status)
   union all select ${metric('annal_deposits_uncredited')}, null, null, count(*)::float8 from job_failures where job = 'credit-deposits'
   union all select ${metric('annal_suspended_transfers')}, null, null,
     coalesce((select value::int from key_values where key = '${keyValueKeys.movesWaiting}'), 0)::float8
   union all select ${metric('annal_deposits_shortfall_units')}, null, null, coalesce(sum(shortfall), 0)::float8
     from deposits where status = 'FROZEN'
   union all select ${metric('annal_withdrawals_waiting_seconds')}, null, null,
     coalesce(extract(epoch from now() - min(since)), 0)::float8 from (
       select due_at as since from withdrawals where status = 'WAITING' and due_at <= now()
       union all
       select m.created_at from withdrawals x join coin_transfers m on m.id = x.coin_transfer_id where x.status = 'SENDING' and m.status = 'SIGNED'
     ) waiting
   union all select ${metric('annal_webhooks_disabled')}, null, null, count(*)::float8
     from network_apps where webhook_disabled_at is not null and deactivated_at is null`,
)
