/**
 * The SQL functions `enqueue` and `enqueue_fairly`, which put a job on a queue inside the statement that causes it. They fill in a row
 * of pg-boss's own table as pg-boss does, so they belong to one version of pg-boss, and are made beside its tables whenever a server
 * starts.
 */
import { lockForTransaction } from '../db/migration-lock.ts'

/**
 * Whose insertion (`insertJobs` in its `plans.js`) it repeats. When pg-boss is updated, `test/unit/jobs/enqueue.test.ts` says
 * whether the two still fill in the same; then these are the new version's.
 */
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

/** Beyond it the jobs of a lane are not counted: they come in the order in which they were put there. */
const MAX_COUNTED = 1_000

const bodies = {
  enqueue: bodyOf('0'),
  /** The more of its lane wait on the queue, the later a job comes: nobody waits for all that one lane brings at once. */
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

/**
 * SQL that makes the functions, or makes one anew when another text stands there: that of a migration, or of an earlier version. Where
 * the tables are those of a newer pg-boss, the functions are those of a newer Annal, and stay.
 */
export const enqueueFunctionSql = `
  ${lockForTransaction};
  DO $install$ BEGIN${Object.entries(bodies).map(install).join('')}
  END $install$`
