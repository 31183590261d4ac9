/**
 * Requests a minute, of all processes together. A write with every request would cost more than the request: so each process
 * counts in memory, and tells the others a hundredth of the limit at a time.
 */
import { throttled } from './errors.ts'
import type { Database } from './ports/database.ts'
import { float, int, statement, text } from './sql.ts'
import type { Meter } from './telemetry.ts'

/** Seconds; also how long a caller over the limit waits at most. */
const WINDOW_SECONDS = 60
const MS = 1_000
/** A process lets so many through without a word, as a part of the limit: by so much it may be exceeded with each process. */
const PORTION = 1 / 100
/** Milliseconds that the request waits which tells the others: nobody is held up by a database that hangs. */
const TELL_MS = 500
/** Milliseconds without another try when telling failed. Until then each process counts for itself. */
const SILENCE_MS = 1_000

/** Adds to what all processes have let through, in a window that opens with the first of them. Returns how many those are by now. */
const add = statement(
  'request_limit_add',
  { parameters: { key: text, added: int, seconds: float }, columns: { count: int, seconds_left: float } },
  `insert into limits as l (key, window_end, count) values ($key, now() + make_interval(secs => $seconds), $added)
   on conflict (key) do update set
     count = case when l.window_end <= now() then excluded.count else l.count + excluded.count end,
     window_end = case when l.window_end <= now() then excluded.window_end else l.window_end end
   returning count, extract(epoch from window_end - now())::float8 as seconds_left`,
)

/** Limits of requests a minute. */
export interface RequestLimits {
  /** Counts one request of a session. Raises THROTTLED. */
  takeSession(tokenId: string): Promise<void> | undefined
  /** Counts one request of nobody in particular. Raises THROTTLED. */
  takeAddress(address: string): Promise<void> | undefined
}

/**
 * One IPv6 customer has at least 2^64 addresses: they count as one. Expects groups as `2001:db8:0:0:0:0:0:1`.
 */
export const networkOf = (address: string) =>
  address.includes(':') ? `${address.split(':', 4).join(':')}::/64` : address

/** What was let through of one subject in its window. */
interface Count {
  /** By all processes, as far as it is known here. */
  known: number
  /** By this one, and nobody else knows of it. */
  untold: number
  /** Milliseconds. */
  endsAt: number
}

/**
 * Limits that hold for all processes together, within a hundredth for each; while the database is away, for each by itself. A
 * request that has nothing to tell is counted at once. `now` in milliseconds.
 */
export function createRequestLimits({
  database,
  meter,
  config: { requestsPerToken, requestsPerAddress },
  now = performance.now.bind(performance),
}: {
  database: Pick<Database, 'query'>
  meter: Meter
  config: { requestsPerToken: number; requestsPerAddress: number }
  now?: () => number
}): RequestLimits {
  const counts = new Map<string, Count>()
  let sweptAt = now()
  let silentUntil = 0

  function countOf(key: string, at: number): Count {
    if (at - sweptAt >= WINDOW_SECONDS * MS) {
      sweptAt = at
      for (const [each, { endsAt }] of counts) if (endsAt <= at) counts.delete(each)
    }
    const found = counts.get(key)
    if (found && found.endsAt > at) return found
    const fresh = { known: 0, untold: 0, endsAt: at + WINDOW_SECONDS * MS }
    counts.set(key, fresh)
    return fresh
  }

  function refuse(limit: string, { endsAt }: Count): never {
    meter.limitRefused(limit)
    throw throttled(Math.max(1, Math.ceil((endsAt - now()) / MS)))
  }

  async function tell(key: string, count: Count) {
    const added = count.untold
    count.untold = 0
    count.known += added
    try {
      const [told] = await database.query(add, { key, added, seconds: WINDOW_SECONDS })
      count.known = Math.max(count.known, told!.count)
      count.endsAt = now() + told!.seconds_left * MS
    } catch {
      count.known -= added
      count.untold += added
      silentUntil = now() + SILENCE_MS
    }
  }

  async function tellInTime(limit: string, key: string, count: Count, most: number) {
    const patience = Promise.withResolvers<void>()
    const timer = setTimeout(patience.resolve, TELL_MS)
    await Promise.race([tell(key, count), patience.promise])
    clearTimeout(timer)
    if (count.known > most) refuse(limit, count)
  }

  function take(limit: string, subject: string, most: number): Promise<void> | undefined {
    const key = `${limit}:${subject}`
    const at = now()
    const count = countOf(key, at)
    if (count.known + count.untold >= most) refuse(limit, count)
    count.untold += 1
    if (count.untold < Math.floor(most * PORTION) || at < silentUntil) return undefined
    return tellInTime(limit, key, count, most)
  }

  return {
    takeSession: (tokenId) => take('requests-by-token', tokenId, requestsPerToken),
    takeAddress: (address) => take('requests-by-address', networkOf(address), requestsPerAddress),
  }
}
