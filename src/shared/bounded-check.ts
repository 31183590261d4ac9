import { setTimeout as delay } from 'node:timers/promises'

/** Longest time for a look at a folder, in milliseconds. A network file system that is away does not answer at all. */
const PATIENCE_MS = 2_000

/**
 * Returns a check that is false after two seconds, and when it fails. One look at a time: each that hangs occupies a thread.
 */
export function boundedCheck(look: () => Promise<boolean>): () => Promise<boolean> {
  let running: Promise<boolean> | undefined
  return () => {
    running ??= look()
      .catch(() => false)
      .finally(() => {
        running = undefined
      })
    const answered = new AbortController()
    const late = delay(PATIENCE_MS, false, { signal: answered.signal })
    return Promise.race([running, late]).finally(() => answered.abort())
  }
}
