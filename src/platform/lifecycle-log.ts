import type { Log } from '../domain/ports/log.ts'
import type { Role } from '../domain/roles.ts'
import type { StopReason } from './stop-signal.ts'

/** Logs the start and the end of the service. */
export interface LifecycleLog {
  /** Does nothing after `shuttingDown`: a signal may arrive during start-up. */
  ready(facts: { url: string; roles: ReadonlySet<Role>; workers?: number }): void
  shuttingDown(signal: NodeJS.Signals): void
  /** `reason` is set when the process ends before all work is finished. */
  stopped(reason?: StopReason): void
}

/**
 * Creates the log of one process. Worker processes log at `debug`: their supervisor logs for the whole service. The durations are those
 * since the process was started and since the signal arrived.
 */
export function createLifecycleLog(
  log: Log,
  { version, isWorker }: { version: string; isWorker: boolean },
): LifecycleLog {
  const level = isWorker ? 'debug' : 'info'
  let stopping: { signal: NodeJS.Signals; since: number } | undefined
  return {
    ready({ url, roles, workers }) {
      if (stopping) return
      const durationMs = Math.round(performance.now())
      log[level]({ url, version, roles: [...roles], workers, durationMs }, 'Ready')
    },
    shuttingDown(signal) {
      stopping = { signal, since: performance.now() }
      log[level]({ signal }, 'Shutting down')
    },
    stopped(reason) {
      const durationMs = stopping && Math.round(performance.now() - stopping.since)
      log[level]({ signal: stopping?.signal, reason, durationMs }, 'Stopped')
    },
  }
}
