/** What looks at the chain again and again, in one process at a time, and never in a request's way. */
import { setTimeout as delay } from 'node:timers/promises'
import { explainError } from '../domain/explain-error.ts'
import type { Log } from '../domain/ports/log.ts'
import { WrongChainError } from './registry/registry.ts'
import { createTeller } from './teller.ts'

/** One look, and what is told of trouble. */
export interface WatchOptions {
  /** Returns how long to rest, in milliseconds. What it raises is told once for as long as it lasts, and it is asked again. */
  step(): Promise<number>
  /** Aborted when it is stopped; `step` ends soon then. */
  stopping: AbortController
  /** Gives up what it holds, once the last step is over. */
  close(): Promise<void>
  log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Told before what is in the way, and when it is over. */
  words: { waits: string; goesOn: string }
}

/** Goes on until it is stopped. */
export interface Watch {
  start(): void
  /** Fulfilled when the step in hand is finished and what it held is given up. */
  stop(): Promise<void>
}

const LONGEST_BACKOFF_MS = 5_000

/** Takes step after step, ever more rarely while they fail. */
export function createWatch({ step, stopping, close, log, words }: WatchOptions): Watch {
  const teller = createTeller()
  let running: Promise<void> | undefined

  const run = async () => {
    for (let failures = 0; !stopping.signal.aborted; ) {
      let pause: number
      try {
        pause = await step()
        if (teller.ends()) log.info({}, words.goesOn)
        failures = 0
      } catch (error) {
        if (stopping.signal.aborted) break
        failures += 1
        const found = explainError(error)
        const level = error instanceof WrongChainError ? 'error' : 'warn'
        if (teller.begins(found)) log[level]({ err: error }, `${words.waits}: ${found}`)
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
