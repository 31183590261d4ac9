import { createLogThrottle } from '../domain/log-throttle.ts'
import type { Log } from '../domain/ports/log.ts'

/** When to tell of trouble: once for as long as it lasts, and of what comes and goes once in a while. */
export interface Teller {
  /** Whether to tell of it: it is another one than before, and was not told lately. */
  begins(problem: string): boolean
  /** There is no trouble any more. Returns whether the one that is over was told. */
  ends(): boolean
}

/** Milliseconds. A node that fails every other time would fill the log. */
const DEFAULT_QUIET_MS = 600_000

/** A teller that has told nothing yet. `quiet`: milliseconds within which the same trouble is told once, also when it ends and comes back. */
export function createTeller(quiet = DEFAULT_QUIET_MS): Teller {
  const throttle = createLogThrottle(quiet)
  let current: { problem: string; isTold: boolean } | undefined
  return {
    begins(problem) {
      if (current?.problem === problem) return false
      current = { problem, isTold: throttle(problem) !== undefined }
      return current.isTold
    },
    ends() {
      const wasTold = current?.isTold ?? false
      current = undefined
      return wasTold
    },
  }
}

/** Logs trouble once for as long as it lasts, and at most once in ten minutes; an empty text says that it is over. */
export function logOnce(log: Pick<Log, 'warn'>, teller: Teller, problem: string, fields: object = {}): void {
  if (problem === '') teller.ends()
  else if (teller.begins(problem)) log.warn(fields, problem)
}
