/** Roles, stop signals and exit codes of a process. */
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Work of a process. `http`: requests. `relay`: the chain. `deliveries`: webhooks and mails. `jobs`: all other background work. An
 * installation needs each role in at least one process.
 */
export const roles = ['http', 'relay', 'jobs', 'deliveries'] as const

export type Role = (typeof roles)[number]

/** Names of the errors of a wrong configuration. Comparing names avoids loading the configuration. */
const CONFIGURATION_ERRORS = new Set(['ConfigError', 'TrustedDocumentsError'])

/** Returns the exit code for an error: 2 for a wrong configuration, which no restart fixes, otherwise 1. */
export const exitCodeOf = (error: unknown): number =>
  error instanceof Error && CONFIGURATION_ERRORS.has(error.name) ? 2 : 1

/** Time in which two signals count as one, in milliseconds. Ctrl-C under npm sends one from the terminal and one from npm. */
const SAME_SIGNAL_MS = 1_000
/** Maximum time to stop child processes after an early end, in milliseconds. */
export const ABANDON_MS = 2_000

/** Reason for ending the process before all work is finished. */
export type StopReason = 'second signal' | 'timeout'

/**
 * Resolves with the first stop signal. A second signal, or a timeout after `milliseconds`, ends the process early: `abandon`
 * stops child processes, and the process exits at most ABANDON_MS later.
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
    // SIGHUP: the terminal was closed. Node receives it even under nohup.
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
  })
