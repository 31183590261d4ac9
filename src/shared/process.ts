import { setTimeout as delay } from 'node:timers/promises'

/** `relay`: the chain. `deliveries`: webhooks and mails. `jobs`: other background work. An installation needs each role. */
export const roles = ['http', 'relay', 'jobs', 'deliveries'] as const
export type Role = (typeof roles)[number]
const CONFIGURATION_ERRORS = new Set(['ConfigError', 'TrustedDocumentsError'])

/** Returns the exit code for an error: 2 for a wrong configuration, which no restart fixes, otherwise 1. */
export const exitCodeOf = (error: unknown): number =>
  error instanceof Error && CONFIGURATION_ERRORS.has(error.name) ? 2 : 1

/** Time in which two signals count as one, in milliseconds. Ctrl-C under npm sends two. */
const SAME_SIGNAL_MS = 1_000
/** Maximum time to stop child processes after an early end, in milliseconds. */
export const ABANDON_MS = 2_000
export type StopReason = 'second signal' | 'timeout'

/** Resolves with the first stop signal. A second signal, or `milliseconds` later, `abandon` stops child processes and the process exits. */
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
    // SIGHUP: the terminal was closed. Node receives it even under nohup.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
  })
