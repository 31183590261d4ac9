import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds. Ctrl-C under npm comes twice: the terminal sends it to everybody, and npm passes on what it got. */
const SAME_SIGNAL_MS = 1_000
/** For what must not outlive us. */
export const ABANDON_MS = 2_000

/** Why the process ends before all work is finished. */
export type StopReason = 'second signal' | 'timeout'

/**
 * Resolves with the first signal that asks the process to stop. A second signal, or the end of `milliseconds`, ends the process early:
 * `abandon` is called to stop child processes, and the process exits at most ABANDON_MS later.
 */
export const stopSignal = (
  milliseconds: number,
  abandon: (reason: StopReason) => Promise<void>,
): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let since: number | undefined
    let ending: Promise<never> | undefined
    const end = async (reason: StopReason) => {
      await Promise.race([abandon(reason).catch(() => undefined), delay(ABANDON_MS)])
      return process.exit(1)
    }
    const onSignal = (signal: NodeJS.Signals) => {
      if (since !== undefined) {
        if (performance.now() - since > SAME_SIGNAL_MS) ending ??= end('second signal')
        return
      }
      since = performance.now()
      setTimeout(() => (ending ??= end('timeout')), milliseconds).unref()
      resolve(signal)
    }
    // The last is of a terminal that is closed. Node takes it to heart under nohup, too.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
  })
