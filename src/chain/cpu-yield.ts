/** Keeps signing from slowing down the requests that share the process. */
import { performance } from 'node:perf_hooks'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'

/** Lets the requests of a busy process go first. */
export interface Pace {
  /** Runs one short piece of work, then lets others have their turn; a longer one while they are busy. */
  turn<T>(work: () => Promise<T>): Promise<T>
}

/** Above this share of the event loop taken by others, we are in their way. */
const BUSY_SHARE = 0.5
/** While others are busy, we rest this many times as long as we worked. */
const REST_FACTOR = 15
/**
 * Milliseconds at most: a signature takes a few, and what took longer was waiting for its turn. Without a limit the busiest
 * hour would bring commits to a standstill.
 */
const LONGEST_REST_MS = 60
/** Milliseconds between two looks at how busy the others are. */
const WINDOW = 50

/** Milliseconds to rest after work that took so long, while others are busy. */
export const restAfter = (spent: number) => Math.min(spent * REST_FACTOR, LONGEST_REST_MS)

/** A pace of its own: work rests the longer after each piece, the busier this process is with other things. */
export function createPace(): Pace {
  let since = performance.eventLoopUtilization()
  let ownTime = 0
  let isBusy = false

  const look = () => {
    const { active, idle } = performance.eventLoopUtilization(since)
    if (active + idle < WINDOW) return
    isBusy = (active - ownTime) / (active + idle) > BUSY_SHARE
    since = performance.eventLoopUtilization()
    ownTime = 0
  }

  return {
    async turn(work) {
      const start = performance.now()
      const result = await work()
      const spent = performance.now() - start
      ownTime += spent
      look()
      await (isBusy ? delay(restAfter(spent)) : nextTurn())
      return result
    },
  }
}
