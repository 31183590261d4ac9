/** Rules for rows that are deleted by age. A new rule needs a row in `rules` and a name in `batchJobItems`. */
import { keyValueKeys } from '../db/key-value-store.ts'
import { arrayOf, float, int, statement, text } from '../db/sql.ts'
import { firstIdSql } from '../shared/ids.ts'
import { type BatchJob, type BatchJobName, findItemsSql, pageShape, simpleBatchJob } from './batch-jobs.ts'

export interface RetentionDays {
  eventDays: number
  idempotencyKeyDays: number
  sessionIdleDays: number
}

/** Retention of one-time tokens, in days. A delayed mail must not replace the secret of a newer request. */
const ONE_TIME_TOKEN_DAYS = 7

const KEPT_FROM_KEY = `'${keyValueKeys.feedsCompleteSince}'`

/** SQL expression of the time since which feeds are complete. Invariants about events and deliveries apply only to newer ones. */
export const keptFromSql = `coalesce((select value::timestamptz from key_values where key = ${KEPT_FROM_KEY}), '-infinity')`

const beforeSql = 'now() - make_interval(days => $days)'

const recordKeptFromSql = `recorded_time as (
     insert into key_values as s (key, value) select ${KEPT_FROM_KEY}, (${beforeSql})::text from old_rows limit 1
     on conflict (key) do update set value = greatest(s.value::timestamptz, excluded.value::timestamptz)::text
   )`

/** Retention rule of one table. Its SQL refers to a row as `r`. */
interface Rule {
  table: string
  key: string
  hasHashKey?: true
  /** Column or expression of the time from which the retention counts. */
  since: string
  /** Further condition that lets an index find old rows. A UUIDv7 contains its time. */
  isCandidate?: string
  /** First sort column, which matches the index. The key follows. Default: only the key. */
  sortBy?: string
  /** Retention period: a field of the configuration, or a number of days. */
  days: keyof RetentionDays | number
  /** True if the metric of overdue rows would need a full scan. */
  hasNoMetric?: true
  /** Further CTEs of the delete statement. The CTE `old_rows` contains the locked old rows. */
  with?: string
  unless?: string
}

const isOldIdSql = `r.id < ${firstIdSql(beforeSql)}`

const rules = {
  'delete-idempotency-keys': {
    ...{ table: 'idempotency_keys', key: 'scope', hasHashKey: true },
    ...{ since: 'r.created_at', sortBy: 'r.created_at', days: 'idempotencyKeyDays' },
  },
  'delete-expired-sessions': {
    ...{ table: 'access_tokens', key: 'id', since: 'r.expires_at', sortBy: 'r.expires_at', days: 0 },
  },
  'delete-idle-sessions': {
    ...{ table: 'access_tokens', key: 'id', since: 'greatest(r.created_at, r.last_used_at)', isCandidate: isOldIdSql },
    ...{ days: 'sessionIdleDays', hasNoMetric: true },
  },
  'delete-one-time-tokens': {
    ...{ table: 'one_time_tokens', key: 'hash', hasHashKey: true },
    ...{ since: 'r.expires_at', sortBy: 'r.expires_at', days: ONE_TIME_TOKEN_DAYS },
  },
  // Deliveries must be deleted before the events they refer to.
  'delete-deliveries': {
    ...{ table: 'webhook_deliveries', key: 'id', since: 'r.settled_at', isCandidate: isOldIdSql, days: 'eventDays' },
    with: `deleted_attempts as (delete from webhook_attempts a using old_rows where a.delivery_id = old_rows.id),
   ${recordKeptFromSql}`,
  },
  // The oldest events of a feed are deleted first, to avoid gaps. Events with deliveries and later events are kept.
  'delete-events': {
    ...{ table: 'events', key: 'id', since: 'r.created_at', isCandidate: isOldIdSql, days: 'eventDays' },
    with: `retained_events as materialized (
     select feeds.owner_id, first_retained.sequence
     from (select distinct owner_id from old_rows) feeds cross join lateral (
       select e.sequence from events e
       where e.owner_id = feeds.owner_id and (e.id not in (select id from old_rows)
         or exists (select from webhook_deliveries d where d.event_id = e.id))
       order by e.sequence limit 1
     ) first_retained
   ),
   ${recordKeptFromSql}`,
    unless: 'exists (select from retained_events k where k.owner_id = r.owner_id and k.sequence <= r.sequence)',
  },
} satisfies Partial<Record<BatchJobName, Rule>>

const compile = ([job, rule]: [BatchJobName, Rule]) => {
  const { table, key, hasHashKey, since, isCandidate, sortBy, days, hasNoMetric, unless, with: parts } = rule
  const name = job.replaceAll('-', '_')
  const item = hasHashKey ? `encode(r.${key}, 'hex')` : `r.${key}::text`
  const keys = hasHashKey ? `array(select decode(item, 'hex') from unnest($items) item)` : '$items::uuid[]'
  const isOld = `${isCandidate ? `${isCandidate} and ` : ''}${since} < ${beforeSql}`
  const order = sortBy ? `${sortBy}, r.${key}` : `r.${key}`
  const find = statement(
    `${name}_find`,
    { parameters: { ...pageShape.parameters, days: int }, columns: pageShape.columns },
    findItemsSql(job, item, `${table} r`, isOld, order),
  )
  const remove = statement(
    name,
    { parameters: { items: arrayOf(text), days: int }, columns: { item: text } },
    `with old_rows as materialized (
       select r.* from ${table} r where r.${key} = any (${keys}) and ${isOld} for update skip locked
     )${parts ? `,\n   ${parts}` : ''}
     delete from ${table} r using old_rows
     where r.${key} = old_rows.${key}${unless ? ` and not (${unless})` : ''} returning ${item} as item`,
  )
  const overdueSql = `('${job}', (
     select extract(epoch from ${beforeSql} - (${since}))::float8 from ${table} r
     where ${isOld} and not exists (select from job_failures s where s.job = '${job}' and s.item = ${item})
     order by ${order} limit 1))`.replaceAll('$days', typeof days === 'number' ? `${days}` : `$${days}`)
  return {
    create: (config: RetentionDays): BatchJob =>
      simpleBatchJob(job, find, remove, { days: typeof days === 'number' ? days : config[days] }),
    overdueSql: hasNoMetric ? [] : [overdueSql],
  }
}

const compiled = (Object.entries(rules) as [BatchJobName, Rule][]).map(compile)

export const createRetentionJobs = (config: RetentionDays): BatchJob[] => compiled.map(({ create }) => create(config))

/** Returns the time for which the oldest row of each rule is overdue, in seconds. */
export const readOverdue = statement(
  'retention_overdue',
  {
    // Timeout in milliseconds. Prometheus would not wait longer for the response.
    patience: 2_000,
    parameters: { eventDays: int, idempotencyKeyDays: int },
    columns: { job: text, seconds: float },
  },
  `select job, coalesce(seconds, 0) as seconds from (values
     ${compiled.flatMap(({ overdueSql }) => overdueSql).join(',\n     ')}
   ) as due (job, seconds)`,
)
