/** Runs background tasks that poll the chain. */

import { performance } from 'node:perf_hooks'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { createLogThrottle, type Log } from '../shared/log.ts'
import { explainError } from '../shared/operator-errors.ts'
import { WrongChainError } from './registry/registry.ts'

/** One step and its log messages. */
export interface PollerOptions {
  /** Returns the pause in milliseconds. An error is logged once per outage, and the step is repeated. */
  step(): Promise<number>
  /** Aborted when the task is stopped. `step` must end soon after that. */
  stopping: AbortController
  /** Releases resources after the last step. */
  close(): Promise<void>
  log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Log messages: for the first failure of an outage, and for its end. */
  messages: { failed: string; recovered: string }
}

/** A background task that repeats its step until it is stopped. */
export interface Poller {
  start(): void
  /** Stops the task. Resolves after the current step and the release of its resources. */
  stop(): Promise<void>
}

const LONGEST_BACKOFF_MS = 5_000

/** Creates a task that repeats `step`. Retries with exponential backoff after errors. */
export function createPoller({ step, stopping, close, log, messages }: PollerOptions): Poller {
  const deduper = createLogDeduper()
  let running: Promise<void> | undefined

  const run = async () => {
    for (let failures = 0; !stopping.signal.aborted; ) {
      let pause: number
      try {
        pause = await step()
        const outage = deduper.recovers()
        if (outage) log.info(outage, messages.recovered)
        failures = 0
      } catch (error) {
        if (stopping.signal.aborted) break
        failures += 1
        const reason = explainError(error)
        const level = error instanceof WrongChainError ? 'error' : 'warn'
        if (deduper.fails({ message: messages.failed, reason })) log[level]({ err: error, reason }, messages.failed)
        pause = Math.min(250 * 2 ** Math.min(failures, 10), LONGEST_BACKOFF_MS)
      }
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => {})
    }
    await close()
  }

  return {
    start() {
      running ??= run()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

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

/** Runs signing work so that it yields the CPU to the requests of the same process. */
export interface CpuThrottle {
  /** Runs one short task, then yields to the event loop. Yields for longer while the process is busy. */
  run<T>(work: () => Promise<T>): Promise<T>
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

export function createCpuThrottle(): CpuThrottle {
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
    async run(work) {
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
