import type { Actor } from '../actor.ts'
import { throttled } from '../errors.ts'
import type { Log } from '../ports/log.ts'
import { networkOf } from '../request-limits.ts'
import type { Meter } from '../telemetry.ts'
import type { HeldPlaces } from './held-places.ts'

/** Seconds. Nobody knows when a stream ends; sooner it makes no sense to ask again. */
const WAIT_SECONDS = 30

/** Counts streams that are open. */
export interface StreamLimits {
  /** Counts one more open stream of the actor; returns the way to give it back. Raises THROTTLED, UNAVAILABLE. */
  take(actor: Actor): Promise<() => void>
  /** Tells the other processes again what is open here. Raises UNAVAILABLE. */
  tellAll(): Promise<void>
  /** How many are open at this process. */
  count(): number
}

/**
 * Streams that are open at once, at all processes together: of one user, whatever sessions they come by, and from one network
 * address, whoever asks. A place is taken before it is known whether it was free: of two that come at the same moment for the last
 * one both may be refused, and never are both let in.
 */
export function createStreamLimits({
  streamsPerUser,
  streamsPerAddress,
  places,
  meter,
  log,
}: {
  streamsPerUser: number
  streamsPerAddress: number
  places: HeldPlaces
  meter: Meter
  log: Log
}): StreamLimits {
  let streams = 0
  const open = new Map<string, number>()

  const bucketsOf = (actor: Exclude<Actor, { kind: 'system' }>): [key: string, most: number][] => [
    [`streams:address:${networkOf(actor.address)}`, streamsPerAddress],
    ...(actor.kind === 'user' ? [[`streams:user:${actor.id}`, streamsPerUser] as [string, number]] : []),
  ]

  function add(keys: readonly string[], change: 1 | -1) {
    streams += change
    for (const key of keys) {
      const left = (open.get(key) ?? 0) + change
      if (left > 0) open.set(key, left)
      else open.delete(key)
    }
  }

  function refuse(): never {
    meter.limitRefused('streams')
    throw throttled(WAIT_SECONDS)
  }

  return {
    count: () => streams,
    async tellAll() {
      if (open.size > 0) await places.tell([...open.keys()], open)
    },
    async take(actor) {
      if (actor.kind === 'system') return () => {}
      const buckets = bucketsOf(actor)
      const keys = buckets.map(([key]) => key)
      if (buckets.some(([key, most]) => (open.get(key) ?? 0) >= most)) refuse()
      add(keys, 1)
      let isGivenBack = false
      const giveBack = async () => {
        if (isGivenBack) return
        isGivenBack = true
        add(keys, -1)
        await places
          .tell(keys, open)
          .catch((error: unknown) => log.debug({ err: error }, 'Failed to record the end of a stream; retrying'))
      }
      try {
        await places.tell(keys, open)
        const others = await places.readOthers(keys)
        if (buckets.some(([key, most]) => (open.get(key) ?? 0) + (others.get(key) ?? 0) > most)) refuse()
        return () => void giveBack()
      } catch (error) {
        // Whoever is refused is in nobody's way any more when they hear of it.
        await giveBack()
        throw error
      }
    },
  }
}
