import { createBatch } from './batch.ts'
import { throttled } from './errors.ts'
import type { Database } from './ports/database.ts'
import { arrayOf, boolean, float, int, joinedStatement, statement, text } from './sql.ts'
import type { Meter } from './telemetry.ts'

/** At most `count` in `seconds`, on the database's clock, shared by every process and both doors. */
export interface Limit {
  name: string
  count: number
  seconds: number
}

/** One that was counted, and can be given back. */
export interface Hit {
  readonly key: string
  readonly windowEnd: string
}

/**
 * Counts a hit in a fixed window that opens with the first one. Of many at once, by whichever process, each has a count of its own: the
 * row's lock has statements count one after the other, and those that come together are one statement, because whoever waits for that
 * lock would keep a connection from everybody else. Refused hits count as one in all: then it is known how many were let in, whatever
 * is given back.
 */
const hit = joinedStatement(
  'limit_hit',
  {
    parameters: { key: text, seconds: float, count: int },
    columns: { key: text, count: int, window_end: text, retry_after: int },
    apart: [],
  },
  ({ item, place }) => `with ${item},
   turns as materialized (
     select *, row_number() over (partition by key) as turn, count(*) over (partition by key) as hits from item
   ),
   counted as (
     insert into limits as l (key, window_end, count)
       select key, now() + make_interval(secs => seconds), hits from turns where turn = 1 order by key
     on conflict (key) do update set
       count = case when l.window_end <= now() then excluded.count
         else least(l.count, (select t.count from turns t where t.key = l.key and t.turn = 1)) + excluded.count end,
       window_end = case when l.window_end <= now() then excluded.window_end else l.window_end end
     returning key, count, window_end
   )
   select ${place} key, (c.count - t.hits + t.turn)::int as count, c.window_end::text as window_end,
     greatest(1, ceil(extract(epoch from c.window_end - now())))::int as retry_after
   from counted c join turns t using (key)`,
)

/** Takes one hit back from a window that has not ended since. */
const unhit = statement(
  'limit_give_back',
  { parameters: { key: text, windowEnd: text, count: int } },
  `update limits set count = greatest(0, least(count, $count) - 1) where key = $key and window_end = $windowEnd::timestamptz`,
)

const SWEPT_AT_ONCE = 1_000
/** At most so many at once. What they are about is told to nobody: it may be an address. */
const sweep = statement(
  'limit_sweep',
  { parameters: { limit: int }, columns: { forgotten: boolean } },
  `delete from limits where key in (
     select key from limits where window_end < now() - interval '1 minute' limit $limit for update skip locked
   ) returning true as forgotten`,
)

/** Which of these windows are full now, with the seconds until they end; `position` among them counts from 1. */
const find = statement(
  'limit_find',
  { parameters: { keys: arrayOf(text), counts: arrayOf(int) }, columns: { position: int, retry_after: int } },
  `select asked.position::int, greatest(1, ceil(extract(epoch from l.window_end - now())))::int as retry_after
   from unnest((select $keys), (select $counts)) with ordinality as asked (key, most, position) join limits l using (key)
   where l.window_end > now() and l.count >= asked.most`,
)

/** Limits that hold for all processes together, by the database's clock. */
export interface Limits {
  /** Counts nothing. Raises THROTTLED when one more of `subject` would be refused now. */
  assertOpen(limit: Limit, subject: string): Promise<void>
  /** Counts one more of `subject` against the limit. Raises THROTTLED with the seconds to wait. */
  take(limit: Limit, subject: string): Promise<Hit>
  /** Takes a hit back, unless its window has ended. */
  giveBack(limit: Limit, hit: Hit): Promise<void>
  /** Forgets windows that have ended. */
  sweep(): Promise<void>
}

const bucketOf = ({ name, count }: Limit, subject: string) => ({ key: `${name}:${subject}`, count })

/** Limits as rows of the table `limits`. A hit is a statement of its own, so it counts even when what it was for fails. */
export function createLimits({ database, meter }: { database: Database; meter: Meter }): Limits {
  const refusal = ({ name }: Limit, seconds: number) => {
    meter.limitRefused(name)
    return throttled(seconds)
  }

  const secondsUntilOpen = createBatch(async (buckets: { key: string; count: number }[]) => {
    const full = await database.query(find, {
      keys: buckets.map(({ key }) => key),
      counts: buckets.map(({ count }) => count),
    })
    const found = new Map(full.map(({ position, retry_after }) => [position, retry_after]))
    return buckets.map((_, index) => found.get(index + 1))
  })

  return {
    async assertOpen(limit, subject) {
      const seconds = await secondsUntilOpen(bucketOf(limit, subject))
      if (seconds !== undefined) throw refusal(limit, seconds)
    },
    async take(limit, subject) {
      const [counted] = await database.query(hit, { ...bucketOf(limit, subject), seconds: limit.seconds })
      const { key, count, window_end, retry_after } = counted!
      if (count > limit.count) throw refusal(limit, retry_after)
      return { key, windowEnd: window_end }
    },
    async giveBack({ count }, { key, windowEnd }) {
      await database.query(unhit, { key, windowEnd, count })
    },
    async sweep() {
      while ((await database.query(sweep, { limit: SWEPT_AT_ONCE })).length === SWEPT_AT_ONCE);
    },
  }
}
