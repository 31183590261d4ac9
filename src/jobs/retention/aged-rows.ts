/** Rules for rows that are deleted by age. Each rule has a batch job, its statements, and a metric of the delay. */

import { arrayOf, float, int, statement, text } from '../../db/sql.ts'
import { firstIdSql } from '../../shared/ids.ts'
import { type BatchJob, type BatchJobName, idPlaceSql, isNotBackedOffSql, pageShape, placeSql } from '../batch-job.ts'
import { noteKeptFromSql } from './kept-from.ts'

/** Retention periods, in days. */
export interface RetentionDays {
  eventDays: number
  idempotencyKeyDays: number
  sessionIdleDays: number
}

/** Retention of one-time tokens, in days. A delayed mail must not replace the secret of a newer request. */
export const ONE_TIME_TOKEN_DAYS = 7

/** Retention rule of one table. Its SQL refers to a row as `r` and may use `$days`. */
interface Rule {
  job: BatchJobName
  /** Prefix of the statement names. */
  name: string
  table: string
  /** Primary key column: a time-ordered UUID, or bytes. */
  key: { uuid: string } | { bytes: string }
  /** First column of the index that finds the rows. The key follows it in the index. Default: the key. */
  by?: string
  /** SQL condition: the row is old enough. */
  isOver: string
  /** SQL expression of the time since which the row is old enough. */
  overSince: string
  days(config: RetentionDays): number
  /** SQL expression of the days, for the metric. Undefined for a rule without a metric. */
  daysSql?: string
  page?: number
  /** Further CTEs of the delete statement. The CTE `over_rows` contains the locked rows that are old enough. */
  parts?: string
  /** SQL condition that keeps a row although it is old enough. */
  unless?: string
}

const daysSql = 'make_interval(days => $days)'
const beforeSql = `now() - ${daysSql}`

const rules: readonly Rule[] = [
  {
    job: 'forget-idempotency-keys',
    name: 'idempotency',
    table: 'idempotency_keys',
    key: { bytes: 'scope' },
    by: 'created_at',
    isOver: `r.created_at < ${beforeSql}`,
    overSince: `r.created_at + ${daysSql}`,
    days: ({ idempotencyKeyDays }) => idempotencyKeyDays,
    daysSql: '$idempotencyKeyDays',
    page: 1_000,
  },
  {
    job: 'forget-tokens',
    name: 'token',
    table: 'access_tokens',
    key: { uuid: 'id' },
    by: 'expires_at',
    isOver: `r.expires_at < ${beforeSql}`,
    overSince: `r.expires_at + ${daysSql}`,
    days: () => 0,
    daysSql: '0',
  },
  {
    job: 'forget-idle-sessions',
    name: 'idle_token',
    table: 'access_tokens',
    key: { uuid: 'id' },
    isOver: `r.id < ${firstIdSql(beforeSql)} and greatest(r.created_at, r.last_used_at) < ${beforeSql}`,
    overSince: `greatest(r.created_at, r.last_used_at) + ${daysSql}`,
    days: ({ sessionIdleDays }) => sessionIdleDays,
    // There is no metric, because finding one idle session requires reading all old sessions.
  },
  {
    job: 'forget-one-time-tokens',
    name: 'one_time_token',
    table: 'one_time_tokens',
    key: { bytes: 'hash' },
    by: 'expires_at',
    isOver: `r.expires_at < ${beforeSql}`,
    overSince: `r.expires_at + ${daysSql}`,
    days: () => ONE_TIME_TOKEN_DAYS,
    daysSql: `${ONE_TIME_TOKEN_DAYS}`,
  },
  // Deliveries must be deleted before the events they refer to.
  {
    job: 'forget-deliveries',
    name: 'delivery',
    table: 'webhook_deliveries',
    key: { uuid: 'id' },
    isOver: `r.id < ${firstIdSql(beforeSql)} and r.settled_at < ${beforeSql}`,
    overSince: `r.settled_at + ${daysSql}`,
    days: ({ eventDays }) => eventDays,
    daysSql: '$eventDays',
    parts: `deleted_attempts as (delete from webhook_attempts a using over_rows where a.delivery_id = over_rows.id),
   ${noteKeptFromSql(beforeSql)}`,
  },
  // A feed's oldest events are deleted first, so its positions have no gap. An event with a delivery is kept, and so
  // are later events.
  {
    job: 'forget-events',
    name: 'event',
    table: 'events',
    key: { uuid: 'id' },
    isOver: `r.id < ${firstIdSql(beforeSql)} and r.created_at < ${beforeSql}`,
    overSince: `r.created_at + ${daysSql}`,
    days: ({ eventDays }) => eventDays,
    daysSql: '$eventDays',
    parts: `kept_events as materialized (
     select feeds.owner_id, first_kept.sequence
     from (select distinct owner_id from over_rows) feeds cross join lateral (
       select e.sequence from events e
       where e.owner_id = feeds.owner_id and (e.id not in (select id from over_rows)
         or exists (select from webhook_deliveries d where d.event_id = e.id))
       order by e.sequence limit 1
     ) first_kept
   ),
   ${noteKeptFromSql(beforeSql)}`,
    unless: 'exists (select from kept_events k where k.owner_id = r.owner_id and k.sequence <= r.sequence)',
  },
]

const compile = (rule: Rule) => {
  const { job, name, table, key, by, isOver, overSince, parts, unless } = rule
  const isUuid = 'uuid' in key
  const column = isUuid ? key.uuid : key.bytes
  const item = isUuid ? `r.${column}::text` : `encode(r.${column}, 'hex')`
  const isNamed = isUuid
    ? `r.${column} = any ($items::uuid[])`
    : `r.${column} = any (array(select decode(item, 'hex') from unnest($items) item))`
  const second = isUuid ? `r.${column}` : item
  const place = by ? placeSql(`r.${by}`, second, ['timestamptz', isUuid ? 'uuid' : 'text']) : idPlaceSql(second)
  const order = by ? `r.${by}, ${second}` : second
  const overSql = `from ${table} r where ${isOver} and ${isNotBackedOffSql(job, item)}`
  const lateSql = `(select greatest(0, extract(epoch from now() - (${overSince})))::float8 ${overSql} order by ${order} limit 1)`
  return {
    rule,
    find: statement(
      `${name}_over`,
      { parameters: { ...pageShape.parameters, days: int }, columns: pageShape.columns },
      `select ${item} as item, ${place.place} as place ${overSql} and ${place.isAfter} order by ${order} limit $limit`,
    ),
    forget: statement(
      `${name}_forget`,
      { parameters: { items: arrayOf(text), days: int }, columns: { item: text } },
      `with over_rows as materialized (
         select r.* from ${table} r where ${isNamed} and ${isOver} for update skip locked
       )${parts ? `,\n${parts}` : ''}
       delete from ${table} r using over_rows
       where r.${column} = over_rows.${column}${unless ? ` and not (${unless})` : ''} returning ${item} as item`,
    ),
    overdueSql: rule.daysSql && `('${job}', ${lateSql.replaceAll('$days', rule.daysSql)})`,
  }
}

const compiled = rules.map(compile)

/** Creates the batch jobs that delete rows by age. */
export const createRetentionJobs = (config: RetentionDays): BatchJob[] =>
  compiled.map(({ rule, find, forget }) => {
    const days = rule.days(config)
    return {
      name: rule.job,
      find: (query, part) => query(find, { ...part, days }),
      page: rule.page ?? 500,
      handle: async (query, items) => ({ items: (await query(forget, { items, days })).map(({ item }) => item) }),
    }
  })

/** Returns the age of the oldest overdue row for each rule, in seconds. */
export const readOverdue = statement(
  'retention_overdue',
  {
    // Prometheus does not wait longer.
    patience: 2_000,
    parameters: { eventDays: int, idempotencyKeyDays: int },
    columns: { job: text, seconds: float },
  },
  `select job, coalesce(seconds, 0) as seconds from (values
     ${compiled.flatMap(({ overdueSql }) => overdueSql ?? []).join(',\n     ')}
   ) as due (job, seconds)`,
)
