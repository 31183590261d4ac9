/**
 * SQL functions `enqueue` and `enqueue_fairly`, and indexes on pg-boss's job table. The functions add a job inside the
 * statement that causes it, exactly as one version of pg-boss does. Each start of a server installs them.
 */
import { lockForTransaction } from '../db/session-settings.ts'
import { holdsMoreSql } from './jobs.sql.ts'

/**
 * Version of pg-boss whose insertion (`insertJobs` in `plans.js`) the functions repeat. After an update of pg-boss,
 * `test/unit/jobs/enqueue.test.ts` checks that both fill the same columns. Then enter the new version here.
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

/**
 * SQL that creates the functions, or replaces them if their text differs. If a newer pg-boss created the tables, the
 * functions belong to a newer Annal and are kept.
 */
export const enqueueFunctionSql = `
  ${lockForTransaction};
  DO $install$ BEGIN${Object.entries(bodies).map(install).join('')}
  END $install$`

const isDead = `name = 'dead-letter'`

/** Indexes by name: their columns and their condition. Dead letters stay for a year, and these indexes find them without a full scan. */
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

/** SQL that creates missing indexes. It blocks new jobs meanwhile, for about two seconds per million jobs. */
export const jobIndexesSql = `
  ${lockForTransaction};
  DO $install$ BEGIN${Object.entries(indexes).map(create).join('')}
  END $install$`
