/** Items that sweeps and file scans failed to handle, and the time of their next attempt. */
import { arrayOf, int, statement, text, timestamp } from '../db/sql.ts'

/** First and longest pause of the exponential backoff, in seconds. */
const FIRST_PAUSE_SECONDS = 5
const LONGEST_PAUSE_SECONDS = 3_600

/** Records failures. `items` and `lastErrors` are pairs. Returns the number of attempts of each item. */
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

/** Deletes the failures of items that were handled. */
export const forgetSetbacks = statement(
  'setbacks_forget',
  { parameters: { sweep: text, items: arrayOf(text) } },
  'delete from setbacks where sweep = $sweep and item = any ($items)',
)

/** Deletes the failures of all items that are not in the list. */
export const forgetOtherSetbacks = statement(
  'setbacks_forget_others',
  { parameters: { sweep: text, items: arrayOf(text) } },
  'delete from setbacks where sweep = $sweep and item <> all ($items)',
)

/** Deletes failures that nothing retried within a day after they were due: their items are gone. Deposits stay until they are credited. */
export const forgetStaleSetbacks = statement(
  'setbacks_forget_stale',
  {},
  `delete from setbacks s where s.next_attempt_at < now() - interval '1 day'
     and not (s.sweep = 'credit-deposits' and exists (select from deposits d where d.reference = s.item and d.status <> 'CREDITED'))`,
)

/** Finds failures for operators, the oldest first. */
export const findSetbacks = statement(
  'setbacks_find',
  {
    parameters: { limit: int },
    columns: { sweep: text, item: text, attempts: int, since: timestamp, next_attempt_at: timestamp, last_error: text },
  },
  'select sweep, item, attempts, since, next_attempt_at, last_error from setbacks order by since, sweep, item limit $limit',
)

/** Makes all backed-off items due now. Returns their number. */
export const retrySetbacks = statement(
  'setbacks_retry',
  { columns: { count: int } },
  `with updated_setbacks as (
     update setbacks set next_attempt_at = date_trunc('milliseconds', now()) where next_attempt_at > now() returning 1
   )
   select count(*)::int as count from updated_setbacks`,
)
