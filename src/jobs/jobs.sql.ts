/** Statements on pg-boss's tables for operators. */

import { boolean, int, jsonb, orNull, statement, text, timestamp, uuid } from '../db/sql.ts'
import { type IdPrefix, toId, UUID } from '../shared/ids.ts'

/** Fields of a job's data that are IDs or kinds, never an address or content. A redacted dead letter keeps only these. */
const facts = ['template', 'requestId', 'at', 'userId', 'orderId', 'deliveryId', 'assetId', 'trace'] as const
/** Mark in a dead letter from which data was removed. It can no longer be retried. */
const CUT = 'isCut'

const publicFacts: Record<string, [name: string, prefix: IdPrefix]> = {
  userId: ['user', 'user'],
  orderId: ['order', 'order'],
  deliveryId: ['delivery', 'delivery'],
}

/** Returns the subject of a job, with public IDs. `nid` is the public ID of its asset. */
export function subjectOf(data: object, nid: string | null = null): Record<string, unknown> {
  const { template, at, task, ...others } = data as Record<string, unknown>
  const subject: Record<string, unknown> = { template, at, task }
  for (const [fact, [name, prefix]] of Object.entries(publicFacts)) {
    const id = others[fact]
    if (typeof id === 'string') subject[name] = UUID.test(id) ? toId(prefix, id) : id
  }
  if (nid !== null || others.assetId !== undefined) subject.asset = nid ?? others.assetId
  return subject
}

/** $1: UUID of an asset. */
export const findNid = 'select nid from assets where id = $1::uuid'

/** Condition: a notice to the previous address of an account. It keeps its address for 30 days while the account exists. */
const isAddressedSql = `data->>'template' in ('email-change-requested', 'email-changed')
     and created_on > now() - interval '30 days'
     and exists (select from users u where u.id = case when data->>'userId' ~ '${UUID.source}' then (data->>'userId')::uuid end and u.deleted_at is null)`

const kept = `array[${[...facts, CUT].map((fact) => `'${fact}'`).join(', ')}]`

/** Condition: a dead letter contains more than the permitted fields. */
export const holdsMoreSql = `data - ${kept} <> '{}'`

/** Condition: a dead letter still has all the data that a retry needs. */
const wholeSql = `source_name is not null and not data ? '${CUT}'`

/** Makes the current attempt the last one. $1: queue, $2: job. */
export const makeLastAttempt = 'update jobs.job set retry_limit = retry_count where name = $1 and id = $2::uuid'

/** Allows another attempt after the current one. $1: queue, $2: job. */
export const allowAnother =
  'update jobs.job set retry_limit = retry_count + 1 where name = $1 and id = $2::uuid and retry_limit <= retry_count'

/** Extends the retention of waiting jobs to that of their queue. An earlier version may have set a shorter one. */
export const keepWaiting = `
  update jobs.job j set keep_until = j.created_on + make_interval(secs => q.retention_seconds) from jobs.queue q
  where q.name = j.name and j.state < 'active' and j.keep_until < j.created_on + make_interval(secs => q.retention_seconds)`

/** Finds dead letters with data that must be removed. $1: last ID of the previous page, $2: page size. */
export const findUnredacted = `
  select id::text from jobs.job j
  where name = 'dead-letter' and id > $1::uuid and ${holdsMoreSql} and not (${isAddressedSql}) order by j.id limit $2`

/** Removes personal data from dead letters. $1: their IDs. */
export const redactLetters = `
  update jobs.job set data = jsonb_build_object('${CUT}', true) ||
    (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(data) where key = any (${kept}))
  where name = 'dead-letter' and id = any ($1::uuid[])`

const reasonSql = (output: string) => `coalesce(${output}->>'message', ${output}->'value'->>'message')`

const counts = { queue: text, count: int, oldest: timestamp, last_error: orNull(text) }

/** Counts unfinished jobs by queue. The last error is that of the most recent attempt. */
export const countWaiting = statement(
  'jobs_waiting',
  { columns: { ...counts, next_attempt_at: timestamp } },
  `select q.name as queue, w.* from jobs.queue q cross join lateral (
     select count(*)::int as count, min(created_on) as oldest, min(start_after) as next_attempt_at,
       (array_agg(${reasonSql('output')} order by started_on desc) filter (where output is not null))[1] as last_error
     from (
       select * from jobs.job j where j.name = q.name and j.state < 'active' and not j.blocked
       union all select * from jobs.job j where j.name = q.name and j.state = 'active'
     ) undone
   ) w
   where w.count > 0 and q.name <> 'dead-letter' and q.name not like '\\_\\_%' order by q.name`,
)

/** Counts dead letters by their original queue, with the last error of each queue. */
export const countDead = statement(
  'jobs_dead_count',
  { columns: counts },
  `select coalesce(source_name, '-') as queue, count(*)::int as count, min(created_on) as oldest,
     (array_agg(${reasonSql('source_output')} order by created_on desc))[1] as last_error
   from jobs.job where name = 'dead-letter' group by source_name order by source_name`,
)

/** Returns the newest dead letters. */
export const findDead = statement(
  'jobs_dead',
  {
    parameters: { limit: int },
    columns: {
      id: text,
      queue: text,
      failed_at: timestamp,
      data: jsonb<Record<string, string>>(),
      nid: orNull(text),
      attempts: int,
      error: orNull(text),
      /** True if the data that a retry needs is complete. */
      can_be_retried: boolean,
    },
  },
  `select id::text, coalesce(source_name, '-') as queue, created_on as failed_at,
     (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(data) where key = any (${kept}) and key <> '${CUT}') as data,
     (select nid from assets a where a.id = case when data->>'assetId' ~ '${UUID.source}' then (data->>'assetId')::uuid end) as nid,
     coalesce(source_retry_count, 0) + 1 as attempts, ${reasonSql('source_output')} as error,
     ${wholeSql} as can_be_retried
   from jobs.job where name = 'dead-letter' order by created_on desc, id desc limit $limit`,
)

/** Retries waiting jobs now and enqueues dead letters again. Applies to one job or, without an ID, to all. */
export const retryJobs = statement(
  'jobs_retry',
  { parameters: { job: orNull(uuid) }, columns: { count: int } },
  `with updated_jobs as (
     update jobs.job set start_after = now() where state = 'retry' and ($job is null or id = $job) returning id
   ), deleted_letters as (
     delete from jobs.job
     where name = 'dead-letter' and ${wholeSql}
       and ($job is null or id = $job)
     returning source_name, data, group_id
   ), enqueued_jobs as materialized (
     select enqueue(source_name, data, group_id) as id from deleted_letters
   )
   select ((select count(*) from updated_jobs) + (select count(id) from enqueued_jobs))::int as count`,
)
