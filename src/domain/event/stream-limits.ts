import type { Actor } from '../actor.ts'
import { throttled } from '../errors.ts'
import { networkOf } from '../request-limits.ts'
import type { Meter } from '../telemetry.ts'

/** Seconds. Nobody knows when a stream ends; sooner it makes no sense to ask again. */
const WAIT_SECONDS = 30

/** Counts streams that are open. */
export interface StreamLimits {
  /** Counts one more open stream of the actor; returns the way to give it back. Raises THROTTLED. */
  take(actor: Actor): () => void
  /** How many are open. */
  count(): number
}

/**
 * Streams that are open at once: of one user, whatever sessions they come by, and from one network address, whoever asks.
 * Counted in memory, for an open stream belongs to the process that serves it.
 */
export function createStreamLimits({
  streamsPerUser,
  streamsPerAddress,
  meter,
}: {
  streamsPerUser: number
  streamsPerAddress: number
  meter: Meter
}): StreamLimits {
  let streams = 0
  const open = new Map<string, number>()

  const bucketsOf = (actor: Exclude<Actor, { kind: 'system' }>): [key: string, most: number][] => [
    [`address:${networkOf(actor.address)}`, streamsPerAddress],
    ...(actor.kind === 'user' ? [[`user:${actor.id}`, streamsPerUser] as [string, number]] : []),
  ]

  return {
    count: () => streams,
    take(actor) {
      if (actor.kind === 'system') return () => {}
      const buckets = bucketsOf(actor)
      if (buckets.some(([key, most]) => (open.get(key) ?? 0) >= most)) {
        meter.limitRefused('streams')
        throw throttled(WAIT_SECONDS)
      }
      streams += 1
      for (const [key] of buckets) open.set(key, (open.get(key) ?? 0) + 1)
      let isGivenBack = false
      return () => {
        if (isGivenBack) return
        isGivenBack = true
        streams -= 1
        for (const [key] of buckets) {
          const left = open.get(key)! - 1
          if (left > 0) open.set(key, left)
          else open.delete(key)
        }
      }
    },
  }
}
