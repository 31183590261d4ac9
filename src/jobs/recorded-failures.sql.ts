/** Statements on items that batch jobs and file scans failed to process, and on the time of their next attempt. */
import { arrayOf, int, statement, text, timestamp } from '../db/sql.ts'

/** First and maximum pause of the exponential backoff, in seconds. */
const FIRST_PAUSE_SECONDS = 5
const LONGEST_PAUSE_SECONDS = 3_600

/** Records failures. `items` and `lastErrors` correspond by position. Returns the number of attempts of each item. */
export const recordJobFailures = statement(
  'job_failures_note',
  {
    parameters: { job: text, items: arrayOf(text), lastErrors: arrayOf(text) },
    columns: { item: text, attempts: int },
  },
  `insert into job_failures as s (job, item, next_attempt_at, last_error)
   select $job, failed.item, now() + make_interval(secs => ${FIRST_PAUSE_SECONDS}), failed.last_error
   from unnest($items, $lastErrors) as failed (item, last_error)
   on conflict (job, item) do update set attempts = s.attempts + 1, last_error = excluded.last_error,
     next_attempt_at = now() + make_interval(secs => least(${FIRST_PAUSE_SECONDS} * 2 ^ least(s.attempts, 30), ${LONGEST_PAUSE_SECONDS}))
   returning item, attempts`,
)

/** Deletes the recorded failures of items that were processed. */
export const deleteJobFailures = statement(
  'job_failures_forget',
  { parameters: { job: text, items: arrayOf(text) } },
  'delete from job_failures where job = $job and item = any ($items)',
)

/** Deletes the recorded failures of all items that are not in the list. */
export const deleteOtherJobFailures = statement(
  'job_failures_forget_others',
  { parameters: { job: text, items: arrayOf(text) } },
  'delete from job_failures where job = $job and item <> all ($items)',
)

/**
 * Deletes failures that no job retried within a day after they were due, because their items are gone. Keeps deposits
 * until they are credited.
 */
export const deleteStaleJobFailures = statement(
  'job_failures_forget_stale',
  {},
  `delete from job_failures s where s.next_attempt_at < now() - interval '1 day'
     and not (s.job = 'credit-deposits' and exists (select from deposits d where d.reference = s.item and d.status <> 'CREDITED'))`,
)

/** Returns recorded failures, oldest first. */
export const findJobFailures = statement(
  'job_failures_find',
  {
    parameters: { limit: int },
    columns: { job: text, item: text, attempts: int, since: timestamp, next_attempt_at: timestamp, last_error: text },
  },
  'select job, item, attempts, since, next_attempt_at, last_error from job_failures order by since, job, item limit $limit',
)

/** Makes all backed-off items due now and returns their number. */
export const retryJobFailures = statement(
  'job_failures_retry',
  { columns: { count: int } },
  `with updated_job_failures as (
     update job_failures set next_attempt_at = date_trunc('milliseconds', now()) where next_attempt_at > now() returning 1
   )
   select count(*)::int as count from updated_job_failures`,
)
