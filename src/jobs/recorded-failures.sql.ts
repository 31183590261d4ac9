/** Statements on items that batch jobs and file scans failed to process, and on the time of their next attempt. */
import { arrayOf, int, statement, text, timestamp } from '../db/sql.ts'

/** First and maximum pause of the exponential backoff, in seconds. */
const FIRST_PAUSE_SECONDS = 5
const LONGEST_PAUSE_SECONDS = 3_600

/** Records failures. `items` and `lastErrors` correspond by position. Returns the number of attempts of each item. */
export const noteSetbacks = statement(
  'setbacks_note',
  {
    parameters: { sweep: text, items: arrayOf(text), lastErrors: arrayOf(text) },
    columns: { item: text, attempts: int },
  },
  `insert into setbacks as s (sweep, item, next_attempt_at, last_error)
   select $sweep, failed.item, now() + make_interval(secs => ${FIRST_PAUSE_SECONDS}), failed.last_error
   from unnest($items, $lastErrors) as failed (item, last_error)
   on conflict (sweep, item) do update set attempts = s.attempts + 1, last_error = excluded.last_error,
     next_attempt_at = now() + make_interval(secs => least(${FIRST_PAUSE_SECONDS} * 2 ^ least(s.attempts, 30), ${LONGEST_PAUSE_SECONDS}))
   returning item, attempts`,
)

/** Deletes the recorded failures of items that were processed. */
export const forgetSetbacks = statement(
  'setbacks_forget',
  { parameters: { sweep: text, items: arrayOf(text) } },
  'delete from setbacks where sweep = $sweep and item = any ($items)',
)

/** Deletes the recorded failures of all items that are not in the list. */
export const forgetOtherSetbacks = statement(
  'setbacks_forget_others',
  { parameters: { sweep: text, items: arrayOf(text) } },
  'delete from setbacks where sweep = $sweep and item <> all ($items)',
)

/**
 * Deletes failures that no job retried within a day after they were due, because their items are gone. Keeps deposits
 * until they are credited.
 */
export const forgetStaleSetbacks = statement(
  'setbacks_forget_stale',
  {},
  `delete from setbacks s where s.next_attempt_at < now() - interval '1 day'
     and not (s.sweep = 'credit-deposits' and exists (select from deposits d where d.reference = s.item and d.status <> 'CREDITED'))`,
)

/** Returns recorded failures, oldest first. */
export const findSetbacks = statement(
  'setbacks_find',
  {
    parameters: { limit: int },
    columns: { sweep: text, item: text, attempts: int, since: timestamp, next_attempt_at: timestamp, last_error: text },
  },
  'select sweep, item, attempts, since, next_attempt_at, last_error from setbacks order by since, sweep, item limit $limit',
)

/** Makes all backed-off items due now and returns their number. */
export const retrySetbacks = statement(
  'setbacks_retry',
  { columns: { count: int } },
  `with updated_setbacks as (
     update setbacks set next_attempt_at = date_trunc('milliseconds', now()) where next_attempt_at > now() returning 1
   )
   select count(*)::int as count from updated_setbacks`,
)
