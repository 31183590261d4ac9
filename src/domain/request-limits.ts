import { throttled } from './errors.ts'
import type { Meter } from './telemetry.ts'

/** Seconds; also how long a caller over the limit waits at most. */
const WINDOW_SECONDS = 60

/** Limits of requests a minute in this process. */
export interface RequestLimits {
  /** Counts one request of a session. Raises THROTTLED. */
  takeSession(tokenId: string): void
  /** Counts one request of nobody in particular. Raises THROTTLED. */
  takeAddress(address: string): void
}

/**
 * One IPv6 customer has at least 2^64 addresses: they count as one. Expects groups as `2001:db8:0:0:0:0:0:1`.
 */
export const networkOf = (address: string) =>
  address.includes(':') ? `${address.split(':', 4).join(':')}::/64` : address

/**
 * Requests a minute. Counted in memory, for a write with every request would cost more than the request: so each process
 * lets so many through, and starts from nothing. `now` in milliseconds.
 */
export function createRequestLimits(
  { requestsPerToken, requestsPerAddress }: { requestsPerToken: number; requestsPerAddress: number },
  meter: Meter,
  now: () => number = performance.now.bind(performance),
): RequestLimits {
  const sessions = new Map<string, number>()
  const addresses = new Map<string, number>()
  let end = 0

  function take(limit: string, counts: Map<string, number>, subject: string, most: number) {
    const at = now()
    if (at >= end) {
      end = at + WINDOW_SECONDS * 1_000
      sessions.clear()
      addresses.clear()
    }
    const count = (counts.get(subject) ?? 0) + 1
    if (count > most) {
      meter.limitRefused(limit)
      throw throttled(Math.max(1, Math.ceil((end - at) / 1_000)))
    }
    counts.set(subject, count)
  }

  return {
    takeSession: (tokenId) => take('requests-by-token', sessions, tokenId, requestsPerToken),
    takeAddress: (address) => take('requests-by-address', addresses, networkOf(address), requestsPerAddress),
  }
}
