import type { Log } from '../shared/log.ts'
import type { Role, StopReason } from '../shared/process.ts'

/** Logs the start and the end of the service. */
export interface LifecycleLog {
  /** Does nothing after `shuttingDown`: a signal may arrive during start-up. */
  ready(facts: { url: string; roles: ReadonlySet<Role> }): void
  shuttingDown(signal: NodeJS.Signals): void
  /** `reason` is set when the process ends before all work is finished. */
  stopped(reason?: StopReason): void
}

/** Creates the log of one process. The durations count from the start of the process and from the arrival of the signal. */
export function createLifecycleLog(log: Log, version: string): LifecycleLog {
  let stopping: { signal: NodeJS.Signals; since: number } | undefined
  return {
    ready({ url, roles }) {
      if (stopping) return
      const durationMs = Math.round(performance.now())
      log.info({ url, version, roles: [...roles], durationMs }, 'Ready')
    },
    shuttingDown(signal) {
      stopping = { signal, since: performance.now() }
      log.info({ signal }, 'Shutting down')
    },
    stopped(reason) {
      const durationMs = stopping && Math.round(performance.now() - stopping.since)
      log.info({ signal: stopping?.signal, reason, durationMs }, 'Stopped')
    },
  }
}
