import { isDatabaseOutage } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'

export type Repetition = ReturnType<typeof repeat>

export const done = Symbol('done')

const LOG_EVERY_MS = 3_600_000
/** Maximum pause between two attempts of a failing task, in milliseconds. A task's normal pause can be longer. */
const LONGEST_PAUSE_MS = 60_000

/**
 * Runs a background task repeatedly with a pause. A failure is retried with exponential backoff and logged at most once
 * an hour. A task with many steps must check the signal between them. A task that returns `done` is not repeated.
 */
export function repeat(
  work: (cancel: AbortSignal) => Promise<unknown>,
  pauseMilliseconds: number,
  log: Log,
  task: string,
) {
  const stopping = new AbortController()
  const longest = Math.max(pauseMilliseconds, LONGEST_PAUSE_MS)
  let failures = 0
  let failedAt = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  const reportFailure = (error: unknown) => {
    const now = performance.now()
    if (failures === 1) failedAt = now
    const isDue = !isDatabaseOutage(error) && now - loggedAt >= LOG_EVERY_MS
    log[isDue ? 'warn' : 'debug']({ err: error, task, failures }, 'Background task failed; retrying')
    if (isDue) loggedAt = now
  }
  const reportSuccess = () => {
    const downSeconds = Math.round((performance.now() - failedAt) / 100) / 10
    if (loggedAt >= failedAt && failures > 0) log.info({ task, failures, downSeconds }, 'Background task recovered')
    failures = 0
    loggedAt = Number.NEGATIVE_INFINITY
  }
  let timer: NodeJS.Timeout
  let running: Promise<void> = Promise.resolve()
  const run = async () => {
    try {
      const result = await work(stopping.signal)
      reportSuccess()
      if (result === done) return
    } catch (error) {
      failures += 1
      if (!stopping.signal.aborted) reportFailure(error)
    }
    if (!stopping.signal.aborted) schedule()
  }
  const schedule = () => {
    timer = setTimeout(
      () => {
        running = run()
      },
      Math.min(pauseMilliseconds * 2 ** Math.min(failures, 16), longest),
    )
  }
  schedule()
  return {
    async stop(): Promise<void> {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}
