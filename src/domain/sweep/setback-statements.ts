/** Which items sweeps could not deal with, and when each is tried again. */
import { arrayOf, int, statement, text, timestamp } from '../sql.ts'

/** Seconds: the first pause, and the longest. Each is twice the one before. */
const FIRST_PAUSE = 5
const LONGEST_PAUSE = 3_600

/** Puts items off that failed: `items` and `troubles`, why each did, in pairs. Returns how often each has failed by now. */
export const noteSetbacks = statement(
  'setbacks_note',
  {
    parameters: { sweep: text, items: arrayOf(text), troubles: arrayOf(text) },
    columns: { item: text, attempts: int },
  },
  `insert into setbacks as s (sweep, item, next_attempt_at, trouble)
   select $sweep, failed.item, now() + make_interval(secs => ${FIRST_PAUSE}), failed.trouble
   from unnest($items, $troubles) as failed (item, trouble)
   on conflict (sweep, item) do update set attempts = s.attempts + 1, trouble = excluded.trouble,
     next_attempt_at = now() + make_interval(secs => least(${FIRST_PAUSE} * 2 ^ least(s.attempts, 30), ${LONGEST_PAUSE}))
   returning item, attempts`,
)

/** Items that worked, or need not be dealt with any more. */
export const forgetSetbacks = statement(
  'setbacks_forget',
  { parameters: { sweep: text, items: arrayOf(text) } },
  'delete from setbacks where sweep = $sweep and item = any ($items)',
)

/** All others but these, which fail, are not among what fails any more. */
export const forgetOtherSetbacks = statement(
  'setbacks_forget_others',
  { parameters: { sweep: text, items: arrayOf(text) } },
  'delete from setbacks where sweep = $sweep and item <> all ($items)',
)

/** What nobody has tried for a day after it was due is not there any more; deposits are there until they are credited. */
export const forgetStaleSetbacks = statement(
  'setbacks_forget_stale',
  {},
  `delete from setbacks s where s.next_attempt_at < now() - interval '1 day'
     and not (s.sweep = 'credit-deposits' and exists (select from set_aside_deposits d where d.transaction_hash = s.item))`,
)

/** For the operator, those that failed for longest first. */
export const findSetbacks = statement(
  'setbacks_find',
  {
    parameters: { limit: int },
    columns: { sweep: text, item: text, attempts: int, since: timestamp, next_attempt_at: timestamp, trouble: text },
  },
  'select sweep, item, attempts, since, next_attempt_at, trouble from setbacks order by since, sweep, item limit $limit',
)

/** Everything that rests is due now; returns how many. */
export const retrySetbacks = statement(
  'setbacks_retry',
  { columns: { count: int } },
  `with updated_setbacks as (
     update setbacks set next_attempt_at = date_trunc('milliseconds', now()) where next_attempt_at > now() returning 1
   )
   select count(*)::int as count from updated_setbacks`,
)
