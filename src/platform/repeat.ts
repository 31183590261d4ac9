import type { Log } from '../domain/ports.ts'

export interface Repetition {
  /** Tells a run that is under way to end, and waits for it. */
  stop(): Promise<void>
}

/**
 * Does `work` again and again with a pause between; one that fails is told and tried again. Work of many steps heeds the signal
 * between them.
 */
export function repeat(
  work: (cancel: AbortSignal) => Promise<unknown>,
  pauseMilliseconds: number,
  log: Log,
  failure: string,
): Repetition {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout
  let running: Promise<void> = Promise.resolve()
  const run = async () => {
    await work(stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) log.warn({ err: error }, failure)
    })
    if (!stopping.signal.aborted) schedule()
  }
  const schedule = () => {
    timer = setTimeout(() => {
      running = run()
    }, pauseMilliseconds)
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
