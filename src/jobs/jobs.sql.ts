/** SQL on pg-boss's tables: the functions that enqueue jobs, and statements for operators. */
import { lockForTransaction } from '../db/session-settings.ts'
import { boolean, int, jsonb, orNull, statement, text, timestamp, uuid } from '../db/sql.ts'
import { type IdPrefix, toId, UUID } from '../shared/ids.ts'

/** Fields of a job's data that are IDs or kinds. A redacted dead letter keeps only these fields. */
const facts = ['template', 'requestId', 'at', 'userId', 'orderId', 'deliveryId', 'assetId', 'trace'] as const
/** Flag in the data of a redacted dead letter. A redacted dead letter can no longer be retried. */
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

export const findNid = 'select nid from assets where id = $1::uuid'

/** Condition: a notice to the previous address of an existing account. It keeps the address for 30 days. */
const isAddressedSql = `data->>'template' in ('email-change-requested', 'email-changed')
     and created_on > now() - interval '30 days'
     and exists (select from users u where u.id = case when data->>'userId' ~ '${UUID.source}' then (data->>'userId')::uuid end and u.deleted_at is null)`

const kept = `array[${[...facts, CUT].map((fact) => `'${fact}'`).join(', ')}]`

const holdsMoreSql = `data - ${kept} <> '{}'`

/** Condition: a dead letter still has all the data that a retry needs. */
const wholeSql = `source_name is not null and not data ? '${CUT}'`

/** SQL that makes the current attempt of a job the last attempt. $1: queue, $2: job. */
export const makeLastAttempt = 'update jobs.job set retry_limit = retry_count where name = $1 and id = $2::uuid'

/** SQL that allows another attempt after the current attempt of a job. $1: queue, $2: job. */
export const allowAnother =
  'update jobs.job set retry_limit = retry_count + 1 where name = $1 and id = $2::uuid and retry_limit <= retry_count'

/** SQL that extends the retention of waiting jobs to the retention of their queue. Old versions set a shorter one. */
export const extendRetention = `
  update jobs.job j set keep_until = j.created_on + make_interval(secs => q.retention_seconds) from jobs.queue q
  where q.name = j.name and j.state < 'active' and j.keep_until < j.created_on + make_interval(secs => q.retention_seconds)`

/** SQL that finds dead letters with data that must be removed. $1: maximum number. */
export const findUnredacted = `
  select id from jobs.job where name = 'dead-letter' and ${holdsMoreSql} and not (${isAddressedSql}) order by id limit $1`

/** SQL that removes personal data from dead letters, and returns their IDs. $1: maximum number. */
export const redactDeadLetters = `
  update jobs.job set data = jsonb_build_object('${CUT}', true) ||
    (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(data) where key = any (${kept}))
  where name = 'dead-letter' and id = any (array(${findUnredacted})) returning id`

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

export const countDead = statement(
  'jobs_dead_count',
  { columns: counts },
  `select coalesce(source_name, '-') as queue, count(*)::int as count, min(created_on) as oldest,
     (array_agg(${reasonSql('source_output')} order by created_on desc))[1] as last_error
   from jobs.job where name = 'dead-letter' group by source_name order by source_name`,
)

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

/** Version of pg-boss whose insertion (`insertJobs` in `plans.js`) the functions repeat. `test/unit/jobs/enqueue.test.ts` compares the two. */
export const writtenFor = { pgBoss: '12.35.0', tables: 43 }

const bodyOf = (priority: string) => `
DECLARE
    made uuid;
BEGIN
    INSERT INTO jobs.job (name, data, group_id, priority, start_after, policy, retry_limit, retry_delay, retry_backoff,
        retry_delay_max, expire_seconds, deletion_seconds, keep_until, heartbeat_seconds, dead_letter)
    SELECT q.name, payload, lane, ${priority}, due, q.policy, q.retry_limit, q.retry_delay, q.retry_backoff,
        q.retry_delay_max, q.expire_seconds, q.deletion_seconds, due + make_interval(secs => q.retention_seconds), q.heartbeat_seconds, q.dead_letter
    FROM jobs.queue q WHERE q.name = queue
    RETURNING id INTO made;
    IF made IS NULL THEN
        RAISE EXCEPTION 'There is no job queue %', queue;
    END IF;
    RETURN made;
END `

/** Maximum number of waiting jobs of a lane that are counted. Later jobs of the lane keep their order of arrival. */
const MAX_COUNTED = 1_000

const bodies = {
  enqueue: bodyOf('0'),
  /** A job's priority falls with the number of waiting jobs in its lane, so one busy lane does not delay the others. */
  enqueue_fairly: bodyOf(`-(SELECT count(*) FROM (
        SELECT FROM jobs.job j WHERE j.name = queue AND j.group_id = lane AND j.state < 'active' LIMIT ${MAX_COUNTED}) AS waiting)`),
}

const install = ([name, body]: [string, string]) => `
    IF (SELECT version FROM jobs.version) = ${writtenFor.tables} AND $body$${body}$body$ IS DISTINCT FROM
       (SELECT prosrc FROM pg_proc WHERE oid = to_regprocedure('${name}(text, jsonb, text, timestamptz)'))
    THEN
      CREATE OR REPLACE FUNCTION ${name}(queue text, payload jsonb, lane text DEFAULT NULL, due timestamptz DEFAULT now())
      RETURNS uuid LANGUAGE plpgsql AS $body$${body}$body$;
    END IF;`

/** SQL that creates or replaces the functions. If a newer pg-boss created the tables, the functions belong to a newer Annal and stay. */
export const enqueueFunctionSql = `
  ${lockForTransaction};
  DO $install$ BEGIN${Object.entries(bodies).map(install).join('')}
  END $install$`

const isDead = `name = 'dead-letter'`

/** Columns and conditions of indexes, by name. Dead letters are kept for a year, so scans would take long. */
const indexes: Record<string, { columns: string; of: string }> = {
  dead_letters_newest_idx: { columns: 'created_on desc, id desc', of: isDead },
  dead_letters_queue_idx: { columns: 'source_name', of: isDead },
  dead_letters_unredacted_idx: { columns: 'id', of: `${isDead} and ${holdsMoreSql}` },
  dead_letters_addressed_idx: { columns: `(data->>'userId')`, of: `${isDead} and data ?| array['email', 'newEmail']` },
  waiting_jobs_of_lane_idx: { columns: 'name, group_id', of: `state < 'active' and group_id is not null` },
  active_jobs_idx: { columns: 'name', of: `state = 'active'` },
}

const create = ([name, { columns, of }]: [string, (typeof indexes)[string]]) => `
    IF to_regclass('jobs.${name}') IS NULL THEN
      CREATE INDEX ${name} ON jobs.job (${columns}) WHERE ${of};
    END IF;`

/** SQL that creates missing indexes. The creation blocks new jobs for about two seconds per million jobs. */
export const jobIndexesSql = `
  ${lockForTransaction};
  DO $install$ BEGIN${Object.entries(indexes).map(create).join('')}
  END $install$`
