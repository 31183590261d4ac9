/** Which items sweeps could not deal with, and when each is tried again. */
import { type Statement, statement } from '../ports.ts'

/** Seconds: the first pause, and the longest. Each is twice the one before. */
const FIRST_PAUSE = 5
const LONGEST_PAUSE = 3_600

/** $1 sweep, $2 items, $3 why. Returns how often each has failed by now. */
export const noteSetbacks = statement<{ item: string; attempts: number }>(
  'setbacks_note',
  `insert into setbacks as s (sweep, item, next_attempt_at, trouble)
   select $1, failed.item, now() + make_interval(secs => ${FIRST_PAUSE}), failed.trouble
   from unnest($2::text[], $3::text[]) as failed (item, trouble)
   on conflict (sweep, item) do update set attempts = s.attempts + 1, trouble = excluded.trouble,
     next_attempt_at = now() + make_interval(secs => least(${FIRST_PAUSE} * 2 ^ least(s.attempts, 30), ${LONGEST_PAUSE}))
   returning item, attempts`,
)

/** They worked: $1 sweep, $2 items. */
export const forgetSetbacks = statement<never>(
  'setbacks_forget',
  'delete from setbacks where sweep = $1 and item = any ($2::text[])',
)

/** They are not among what fails any more: $1 sweep, $2 items that do. */
export const forgetOtherSetbacks = statement<never>(
  'setbacks_forget_others',
  'delete from setbacks where sweep = $1 and item <> all ($2::text[])',
)

/** What nobody has tried for a day after it was due is not there any more; deposits are there until they are credited. */
export const forgetStaleSetbacks = statement<never>(
  'setbacks_forget_stale',
  `delete from setbacks s where s.next_attempt_at < now() - interval '1 day'
     and not (s.sweep = 'credit-deposits' and exists (select from set_aside_deposits d where d.transaction_hash = s.item))`,
)

export interface SetbackRow {
  sweep: string
  item: string
  attempts: number
  since: Date
  next_attempt_at: Date
  trouble: string
}

/** For the operator, those that failed for longest first: $1 how many at most. */
export const findSetbacks: Statement<SetbackRow> = statement(
  'setbacks_find',
  'select sweep, item, attempts, since, next_attempt_at, trouble from setbacks order by since, sweep, item limit $1',
)

/** Everything that rests is due now; returns how many. */
export const retrySetbacks = statement<{ count: number }>(
  'setbacks_retry',
  `with due as (update setbacks set next_attempt_at = date_trunc('milliseconds', now()) where next_attempt_at > now() returning 1)
   select count(*)::int as count from due`,
)
