/** How the service does, for administrators. Contract: `figures`. */
import type { Actor } from '../actor.ts'
import { validationFailed } from '../errors.ts'
import { assertMay } from '../policy.ts'
import type { Database } from '../ports.ts'
import { type DayFigures, readDays, readWaiting } from './figure-statements.ts'

/** Days that are told at most. */
export const MOST_DAYS = 92

/** What happened on each day, the oldest first, and what waits now. */
export interface Figures {
  days: DayFigures[]
  waitingCommits: number
  oldestWaitingCommitAt: Date | null
  waitingDeliveries: number
}

/** Counts what happened; what `createFigureService` makes. */
export type FigureService = ReturnType<typeof createFigureService>

/** Figures of the service, counted from its own tables when they are asked for. */
export function createFigureService({ database }: { database: Pick<Database, 'query'> }) {
  return {
    /** The last `days` days in UTC, today included. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
    async read(actor: Actor, days: number): Promise<Figures> {
      assertMay(actor, 'store:administer')
      if (days < 1 || days > MOST_DAYS) throw validationFailed({ days: [`Expected 1 to ${MOST_DAYS}.`] })
      const [perDay, [waiting]] = await Promise.all([database.query(readDays, { days }), database.query(readWaiting)])
      const { commits = 0, oldestCommitAt = null, deliveries = 0 } = waiting ?? {}
      return {
        days: perDay,
        waitingCommits: commits,
        oldestWaitingCommitAt: oldestCommitAt,
        waitingDeliveries: deliveries,
      }
    },
  }
}
