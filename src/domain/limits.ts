import { throttled } from './errors.ts'
import { type Database, statement } from './ports.ts'

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

interface Counted {
  key: string
  count: number
  window_end: string
  retry_after: number
}

// A fixed window that opens with the first hit. The row's lock makes concurrent hits count one after the other. Refused
// hits count as one in all: then it is known how many were let in, whatever is given back.
const hit = statement<Counted>(
  'limit_hit',
  `insert into limits as l (key, window_end, count) values ($1, now() + make_interval(secs => $2), 1)
   on conflict (key) do update set
     count = case when l.window_end <= now() then 1 else least(l.count, $3::int) + 1 end,
     window_end = case when l.window_end <= now() then excluded.window_end else l.window_end end
   returning key, count, window_end::text as window_end,
     greatest(1, ceil(extract(epoch from window_end - now())))::int as retry_after`,
)

const unhit = statement<never>(
  'limit_give_back',
  `update limits set count = greatest(0, least(count, $3::int) - 1) where key = $1 and window_end = $2::timestamptz`,
)

const SWEPT_AT_ONCE = 1_000
/** At most so many at once: $1. What they are about is told to nobody: it may be an address. */
const sweep = statement<{ forgotten: true }>(
  'limit_sweep',
  `delete from limits where key in (
     select key from limits where window_end < now() - interval '1 minute' limit $1 for update skip locked
   ) returning true as forgotten`,
)

const find = statement<{ retry_after: number }>(
  'limit_find',
  `select greatest(1, ceil(extract(epoch from window_end - now())))::int as retry_after
   from limits where key = $1 and window_end > now() and count >= $2::int`,
)

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

export function createLimits({ database }: { database: Database }): Limits {
  return {
    async assertOpen(limit, subject) {
      const [full] = await database.query(find, [`${limit.name}:${subject}`, limit.count])
      if (full) throw throttled(full.retry_after)
    },
    async take(limit, subject) {
      const [counted] = await database.query(hit, [`${limit.name}:${subject}`, limit.seconds, limit.count])
      const { key, count, window_end, retry_after } = counted!
      if (count > limit.count) throw throttled(retry_after)
      return { key, windowEnd: window_end }
    },
    async giveBack({ count }, { key, windowEnd }) {
      await database.query(unhit, [key, windowEnd, count])
    },
    async sweep() {
      while ((await database.query(sweep, [SWEPT_AT_ONCE])).length === SWEPT_AT_ONCE);
    },
  }
}
