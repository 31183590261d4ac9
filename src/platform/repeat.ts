import type { Log } from '../domain/ports.ts'

export interface Repetition {
  /** Lets a run that is under way come to its end. */
  stop(): Promise<void>
}

/** Does `work` again and again with a pause between; one that fails is told and tried again. */
export function repeat(work: () => Promise<unknown>, pauseMilliseconds: number, log: Log, failure: string): Repetition {
  let stopped = false
  let timer: NodeJS.Timeout
  let running: Promise<void> = Promise.resolve()
  const run = async () => {
    await work().catch((error: unknown) => log.warn({ err: error }, failure))
    if (!stopped) schedule()
  }
  const schedule = () => {
    timer = setTimeout(() => {
      running = run()
    }, pauseMilliseconds)
  }
  schedule()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}
