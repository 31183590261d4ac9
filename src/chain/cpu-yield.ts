/** Keeps signing from slowing down the requests that share the process. */
import { performance } from 'node:perf_hooks'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'

/** Runs signing work so that it yields the CPU to the requests of the same process. */
export interface Pace {
  /** Runs one short task, then yields to the event loop. Yields for longer while the process is busy. */
  turn<T>(work: () => Promise<T>): Promise<T>
}

/** Share of event loop time used by other work above which the process counts as busy. */
const BUSY_SHARE = 0.5
/** Pause while the process is busy, as a multiple of the task's duration. */
const REST_FACTOR = 15
/**
 * Maximum pause in milliseconds. A signature takes a few milliseconds, so a longer task was waiting for CPU time itself. Without a
 * maximum, commits would stop while the process is very busy.
 */
const LONGEST_REST_MS = 60
/** Minimum time between two measurements of the load, in milliseconds. */
const WINDOW = 50

/** Returns the pause in milliseconds after a task that took `spent` milliseconds, while the process is busy. */
export const restAfter = (spent: number) => Math.min(spent * REST_FACTOR, LONGEST_REST_MS)

export function createPace(): Pace {
  let since = performance.eventLoopUtilization()
  let ownTime = 0
  let isBusy = false

  const measure = () => {
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
      measure()
      await (isBusy ? delay(restAfter(spent)) : nextTurn())
      return result
    },
  }
}
