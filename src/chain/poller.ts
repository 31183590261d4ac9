/** Runs background tasks that poll the chain. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../shared/log.ts'
import { explainError } from '../shared/operator-errors.ts'
import { createLogDeduper } from './log-dedupe.ts'
import { WrongChainError } from './registry/registry.ts'

/** One step and its log messages. */
export interface WatchOptions {
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
export interface Watch {
  start(): void
  /** Stops the task. Resolves after the current step and the release of its resources. */
  stop(): Promise<void>
}

const LONGEST_BACKOFF_MS = 5_000

/** Creates a task that repeats `step`. Retries with exponential backoff after errors. */
export function createWatch({ step, stopping, close, log, messages }: WatchOptions): Watch {
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
