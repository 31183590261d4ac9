import type { Log } from '../../domain/ports/log.ts'

/** Work that is done again and again. */
export interface Repetition {
  /** Tells a run that is under way to end, and waits for it. */
  stop(): Promise<void>
}

/** What work returns that need not be done again. */
export const done = Symbol('done')

/** Milliseconds. What fails again and again is told once in so long. */
const TELL_EVERY_MS = 3_600_000
/** Milliseconds between tries of what fails and is usually done more often. */
const LONGEST_PAUSE_MS = 60_000

/**
 * Does `work` again and again with a pause between; one that fails is told, once an hour, and tried again, ever more rarely:
 * up to a minute apart, or as far as usual. Work of many steps heeds the signal between them; work that returns `done` is over.
 */
export function repeat(
  work: (cancel: AbortSignal) => Promise<unknown>,
  pauseMilliseconds: number,
  log: Log,
  failure: string,
): Repetition {
  const stopping = new AbortController()
  const longest = Math.max(pauseMilliseconds, LONGEST_PAUSE_MS)
  let failures = 0
  let toldAt = Number.NEGATIVE_INFINITY
  const tell = (error: unknown) => {
    const now = performance.now()
    const isDue = failures === 1 || now - toldAt >= TELL_EVERY_MS
    log[isDue ? 'warn' : 'debug']({ err: error, failures }, failure)
    if (isDue) toldAt = now
  }
  let timer: NodeJS.Timeout
  let running: Promise<void> = Promise.resolve()
  const run = async () => {
    try {
      if ((await work(stopping.signal)) === done) return
      failures = 0
    } catch (error) {
      failures += 1
      if (!stopping.signal.aborted) tell(error)
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
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}
