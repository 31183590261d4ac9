/** So many at once, and the others wait their turn for a while. */
import { DomainError } from '../domain/errors.ts'
import type { Gate } from '../domain/ports.ts'
import type { QueueLoad } from '../domain/telemetry.ts'

/** Lets everything in. */
export const openGate: Gate = (work) => work()

/** A gate that tells how full it is. */
export type WatchedGate = Gate & { load(): QueueLoad }

/** How many are let in, and how many wait for how long. */
export interface GateOptions {
  places: number
  /** How many may wait. */
  queue: number
  /** Milliseconds that one waits at most. */
  patience: number
  /** What there is too much of, as the beginning of a sentence. */
  what: string
}

/**
 * A gate that lets `places` in at once; the others wait in turn, for `patience` milliseconds at most. Raises UNAVAILABLE
 * to those who wait too long or are too many.
 */
export function createGate({ places, queue, patience, what }: GateOptions): WatchedGate {
  let free = places
  let refused = 0
  const waiting = new Set<() => void>()
  const refusal = () => {
    refused += 1
    const message = `${what} are asked for too often right now. Try again shortly.`
    return new DomainError('UNAVAILABLE', message, { retryAfter: 2 })
  }

  const turn = () =>
    new Promise<void>((resolve, reject) => {
      if (waiting.size >= queue) return reject(refusal())
      const go = () => {
        clearTimeout(timer)
        waiting.delete(go)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(go)
        reject(refusal())
      }, patience)
      waiting.add(go)
    })

  const enter: Gate = async (work) => {
    if (free > 0) free -= 1
    else await turn()
    try {
      return await work()
    } finally {
      // The place goes to whoever waits longest.
      const [next] = waiting
      if (next) next()
      else free += 1
    }
  }
  return Object.assign(enter, {
    load: () => ({ places, running: places - free, waiting: waiting.size, refused }),
  })
}
