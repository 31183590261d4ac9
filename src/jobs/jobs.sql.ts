/** What operators see of the job queue, whose tables are the library's own. */

import { boolean, int, jsonb, orNull, statement, text, timestamp, uuid } from '../db/sql.ts'
import { type IdPrefix, toId, UUID } from '../shared/ids.ts'

/** Facts of a payload that are identifiers and kinds, never an address or content. Of a dead letter they are all that stays. */
const facts = ['template', 'requestId', 'at', 'userId', 'orderId', 'deliveryId', 'assetId', 'trace'] as const
/** Stands in a dead letter that lost something, and so cannot be carried out any more. */
const CUT = 'isCut'

const publicFacts: Record<string, [name: string, prefix: IdPrefix]> = {
  userId: ['user', 'user'],
  orderId: ['order', 'order'],
  deliveryId: ['delivery', 'delivery'],
}

/** Returns what a job is about, with public IDs. `nid` identifies the asset. */
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

/** $1 the asset of a job. */
export const findNid = 'select nid from assets where id = $1::uuid'

/** In dead letters of notices to an address that its account has given up, for as long as there is the account, and for so many days. */
const isAddressedSql = `data->>'template' in ('email-change-requested', 'email-changed')
     and created_on > now() - interval '30 days'
     and exists (select from users u where u.id = case when data->>'userId' ~ '${UUID.source}' then (data->>'userId')::uuid end and u.deleted_at is null)`

const kept = `array[${[...facts, CUT].map((fact) => `'${fact}'`).join(', ')}]`

/** Whether a dead letter holds more than facts. */
export const holdsMoreSql = `data - ${kept} <> '{}'`

/** Whether a dead letter still holds all it takes to carry it out. */
const wholeSql = `source_name is not null and not data ? '${CUT}'`

/** The attempt under way is the last one: $1 queue, $2 job. */
export const makeLastAttempt = 'update jobs.job set retry_limit = retry_count where name = $1 and id = $2::uuid'

/** The attempt under way is not the last one: $1 queue, $2 job. */
export const allowAnother =
  'update jobs.job set retry_limit = retry_count + 1 where name = $1 and id = $2::uuid and retry_limit <= retry_count'

/** What waits is kept as long as its queue says now, whatever an earlier version said that put it there. */
export const keepWaiting = `
  update jobs.job j set keep_until = j.created_on + make_interval(secs => q.retention_seconds) from jobs.queue q
  where q.name = j.name and j.state < 'active' and j.keep_until < j.created_on + make_interval(secs => q.retention_seconds)`

/** Dead letters that hold more than they may: $1 the last one that was looked at, $2 how many at most. */
export const findUnredacted = `
  select id::text from jobs.job j
  where name = 'dead-letter' and id > $1::uuid and ${holdsMoreSql} and not (${isAddressedSql}) order by j.id limit $2`

/** Takes out of these letters ($1) what they may not hold. */
export const redactLetters = `
  update jobs.job set data = jsonb_build_object('${CUT}', true) ||
    (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(data) where key = any (${kept}))
  where name = 'dead-letter' and id = any ($1::uuid[])`

const reasonSql = (output: string) => `coalesce(${output}->>'message', ${output}->'value'->>'message')`

const counts = { queue: text, count: int, oldest: timestamp, last_error: orNull(text) }

/** What is not done. The last error is that of the one that was tried last. */
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

/** For the operator: dead letters by the queue that they are from, with the last error of each. */
export const countDead = statement(
  'jobs_dead_count',
  { columns: counts },
  `select coalesce(source_name, '-') as queue, count(*)::int as count, min(created_on) as oldest,
     (array_agg(${reasonSql('source_output')} order by created_on desc))[1] as last_error
   from jobs.job where name = 'dead-letter' group by source_name order by source_name`,
)

/** For the operator: the newest dead letters. */
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
      /** Whether it still holds all it takes. */
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

/** Has what waits for its next attempt tried now, and what was given up tried anew: all of it, or one job. */
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
