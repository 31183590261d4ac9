import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds. Ctrl-C under npm comes twice: the terminal sends it to everybody, and npm passes on what it got. */
const SAME_SIGNAL_MS = 1_000
/** For what must not outlive us. */
export const ABANDON_MS = 2_000

/**
 * Fulfilled when we are told to stop. Whoever tells us once more after that does not want to wait. Then, or when `milliseconds` are over, `abandon`
 * ends what must not outlive us, and we are gone ABANDON_MS later at the latest.
 */
export const stopSignal = (milliseconds: number, abandon: () => Promise<void>): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let since: number | undefined
    let ending: Promise<never> | undefined
    const end = async () => {
      await Promise.race([abandon().catch(() => undefined), delay(ABANDON_MS)])
      return process.exit(1)
    }
    const onSignal = (signal: NodeJS.Signals) => {
      if (since !== undefined) {
        if (performance.now() - since > SAME_SIGNAL_MS) ending ??= end()
        return
      }
      since = performance.now()
      setTimeout(() => (ending ??= end()), milliseconds).unref()
      resolve(signal)
    }
    // The last is of a terminal that is closed. Node takes it to heart under nohup, too.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
  })
