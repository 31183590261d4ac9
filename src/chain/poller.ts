import { performance } from 'node:perf_hooks'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { isDatabaseOutage } from '../shared/errors.ts'
import { createLogThrottle, type Log } from '../shared/log.ts'
import { explainError } from '../shared/operator-errors.ts'
import { WrongChainError } from './registry/registry.ts'

export interface Poller {
  start(): void
  /** Stops the task. Resolves after the current step and the release of its resources. */
  stop(): Promise<void>
}

export const idle: Poller = { start() {}, async stop() {} }

export interface PollerOptions {
  /** Runs one step. Returns the pause until the next one (ms). After an error, the step is repeated. */
  step(): Promise<number>
  stopping: AbortController
  close?(): Promise<void>
  log: Pick<Log, 'info' | 'warn' | 'error'>
  messages: { failed: string; recovered: string }
  onFailure?(reason: string): void
  /** Maximum retry delay in milliseconds. The delay starts at 500 ms and doubles. */
  longestBackoff?: number
  /** Pause after a wake-up, in milliseconds. One step then handles all work that arrived during the pause. */
  wakeDelay?: number
}

/** Creates a task that repeats `step`, with exponential backoff after errors. `wake` ends the current pause. */
export function createPoller(options: PollerOptions): Poller & { wake(): void } {
  const { step, stopping, close, log, messages, onFailure, longestBackoff = 5_000, wakeDelay = 0 } = options
  const deduper = createLogDeduper()
  let running: Promise<void> | undefined
  let waking = new AbortController()
  let lastReason: string | undefined

  const pause = (milliseconds: number, ...signals: AbortSignal[]) =>
    delay(milliseconds, undefined, { signal: AbortSignal.any([stopping.signal, ...signals]) }).catch(() => {})

  const run = async () => {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        const milliseconds = await step()
        logOnce(log, deduper, undefined, messages.recovered)
        failures = 0
        lastReason = undefined
        await pause(milliseconds, waking.signal)
        if (waking.signal.aborted) await pause(wakeDelay)
      } catch (error) {
        if (stopping.signal.aborted) break
        failures += 1
        const reason = explainError(error)
        const isWrongChain = error instanceof WrongChainError
        // A wrong chain is logged each time it appears, because nothing can be signed until an operator acts.
        const isLogged = isDatabaseOutage(error) || !deduper.fails({ message: messages.failed, reason })
        if (!isLogged || (isWrongChain && reason !== lastReason))
          log[isWrongChain ? 'error' : 'warn']({ err: error, reason }, messages.failed)
        lastReason = reason
        onFailure?.(reason)
        await pause(Math.min(250 * 2 ** Math.min(failures, 10), longestBackoff))
      }
      if (waking.signal.aborted) waking = new AbortController()
    }
    await close?.()
  }

  return {
    start() {
      running ??= run()
    },
    wake: () => waking.abort(),
    async stop() {
      stopping.abort()
      await running
    },
  }
}

export interface Problem {
  message: string
  /** Exact cause of the problem. The same message with a different reason is a different problem. */
  reason?: string
  fields?: object
}

export type LogDeduper = ReturnType<typeof createLogDeduper>

/** Decides when to log a recurring problem: once per outage, and at most once in ten minutes if outages recur. */
export function createLogDeduper() {
  const throttle = createLogThrottle(600_000)
  let outage: { current: string; since: number; failures: number; isLogged: boolean } | undefined
  return {
    fails({ message, reason = '' }: Problem): boolean {
      const text = `${message} ${reason}`
      outage ??= { current: '', since: performance.now(), failures: 0, isLogged: false }
      outage.failures += 1
      if (outage.current === text) return false
      outage.current = text
      const isDue = throttle(text) !== undefined
      outage.isLogged ||= isDue
      return isDue
    },
    /** Records a success. Returns the outage that ended, or undefined if that outage was not logged. */
    recovers(): { failures: number; downSeconds: number } | undefined {
      const ended = outage
      outage = undefined
      if (!ended?.isLogged) return undefined
      return { failures: ended.failures, downSeconds: Math.round((performance.now() - ended.since) / 100) / 10 }
    },
  }
}

/** Logs a problem once per outage. If `problem` is undefined and an outage ended, logs `recovered`. */
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

/** The process counts as busy if other work uses more than this share of the event loop's time. */
const BUSY_SHARE = 0.5
const WINDOW_MS = 50
export const restAfter = (spent: number) => Math.min(spent * 15, 60)
export type CpuThrottle = ReturnType<typeof createCpuThrottle>

/** Creates a throttle that lets signing work yield the CPU to the requests of the same process. */
export function createCpuThrottle() {
  let since = performance.eventLoopUtilization()
  let ownTime = 0
  let isBusy = false
  return {
    /** Runs one short task, then yields to the event loop. Yields longer if the process is busy. */
    async run<T>(work: () => Promise<T>): Promise<T> {
      const start = performance.now()
      const result = await work()
      const spent = performance.now() - start
      ownTime += spent
      const { active, idle } = performance.eventLoopUtilization(since)
      if (active + idle >= WINDOW_MS) {
        isBusy = (active - ownTime) / (active + idle) > BUSY_SHARE
        since = performance.eventLoopUtilization()
        ownTime = 0
      }
      await (isBusy ? delay(restAfter(spent)) : nextTurn())
      return result
    },
  }
}
