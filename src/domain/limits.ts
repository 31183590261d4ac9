import { DomainError } from './errors.ts'
import { type Database, statement } from './ports.ts'

/** At most `count` in `seconds`, on the database's clock, shared by every process and both doors. */
export interface Limit {
  name: string
  count: number
  seconds: number
}

interface Counted {
  count: number
  retry_after: number
}

// A fixed window that opens with the first hit. The row's lock makes concurrent hits count one after the other.
const hit = statement<Counted>(
  'limit_hit',
  `insert into limits as l (key, window_end, count) values ($1, now() + make_interval(secs => $2), 1)
   on conflict (key) do update set
     count = case when l.window_end <= now() then 1 else l.count + 1 end,
     window_end = case when l.window_end <= now() then excluded.window_end else l.window_end end
   returning count, greatest(1, ceil(extract(epoch from window_end - now())))::int as retry_after`,
)

const sweep = statement<never>('limit_sweep', `delete from limits where window_end < now() - interval '1 minute'`)

export interface Limits {
  /** Counts one more of `subject` against the limit. Raises THROTTLED with the seconds to wait. */
  take(limit: Limit, subject: string): Promise<void>
  /** Forgets windows that have ended. */
  sweep(): Promise<void>
}

export function createLimits({ database }: { database: Database }): Limits {
  return {
    async take(limit, subject) {
      const [counted] = await database.query(hit, [`${limit.name}:${subject}`, limit.seconds])
      if (counted && counted.count > limit.count) {
        throw new DomainError(
          'THROTTLED',
          `Request was throttled. Expected available in ${counted.retry_after} seconds.`,
          {
            retryAfter: counted.retry_after,
          },
        )
      }
    },
    async sweep() {
      await database.query(sweep)
    },
  }
}
