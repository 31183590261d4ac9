import { unavailable } from '../domain/errors.ts'
import type { QueueLoad } from '../domain/telemetry.ts'

/** How much is done at once, and how many may wait for it. */
export interface BoundedQueueOptions {
  /** What is asked for, in words for a refusal. */
  name: string
  atOnce: number
  maxWaiting: number
}

/** Does so much at once and lets so many wait; `load` tells how full it is. Raises UNAVAILABLE for the others. */
export function createBoundedQueue({ name, atOnce, maxWaiting }: BoundedQueueOptions) {
  let running = 0
  let refused = 0
  const waiting: (() => void)[] = []
  const enter = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      if (waiting.length >= maxWaiting) {
        refused += 1
        throw unavailable(name)
      }
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running++
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
  const load = (): QueueLoad => ({ places: atOnce, running, waiting: waiting.length, refused })
  return Object.assign(enter, { load })
}
