import { createLogThrottle, type Log } from '../shared/log.ts'

/** A failure that may last. */
export interface Problem {
  /** Constant text of the log line. */
  message: string
  /** The exact cause. A different reason is a different problem. */
  reason?: string
  /** Further fields of the log line. */
  fields?: object
}

/** Number of failures and duration of an outage. */
export interface Outage {
  failures: number
  downSeconds: number
}

/** Decides when to log a recurring problem: once per outage, at most every ten minutes. */
export interface LogDeduper {
  /** Notes a failure. Returns true if it should be logged. */
  fails(problem: Problem): boolean
  /** Notes a success. Returns the outage that ended, if it was logged. */
  recovers(): Outage | undefined
}

/** Default minimum time between two log lines about the same problem, in milliseconds. A flapping node would fill the log. */
const DEFAULT_QUIET_MS = 600_000

/** Creates a deduper. It logs the same problem at most once in `quiet` milliseconds, even if it ends and returns. */
export function createLogDeduper(quiet = DEFAULT_QUIET_MS): LogDeduper {
  const throttle = createLogThrottle(quiet)
  let outage: { current: string; since: number; failures: number; isLogged: boolean } | undefined
  return {
    fails({ message, reason = '' }) {
      const text = `${message} ${reason}`
      outage ??= { current: '', since: performance.now(), failures: 0, isLogged: false }
      outage.failures += 1
      if (outage.current === text) return false
      outage.current = text
      const isDue = throttle(text) !== undefined
      outage.isLogged ||= isDue
      return isDue
    },
    recovers() {
      const ended = outage
      outage = undefined
      if (!ended?.isLogged) return undefined
      const downSeconds = Math.round((performance.now() - ended.since) / 100) / 10
      return { failures: ended.failures, downSeconds }
    },
  }
}

/** Logs a problem once per outage as a warning. Without a problem logs `recovered` if an outage ended. `subject` is part of both lines. */
export function logOnce(
  log: Pick<Log, 'info' | 'warn'>,
  deduper: LogDeduper,
  problem: Problem | undefined,
  recovered: string,
  subject: object = {},
): void {
  if (!problem) {
    const outage = deduper.recovers()
    if (outage) log.info({ ...subject, ...outage }, recovered)
  } else if (deduper.fails(problem)) {
    const reason = problem.reason === undefined ? {} : { reason: problem.reason }
    log.warn({ ...subject, ...problem.fields, ...reason }, problem.message)
  }
}
