/** How the service does, for administrators. Contract: `figures`. */
import type { Actor } from '../actor.ts'
import { validationFailed } from '../errors.ts'
import { assertMay } from '../policy.ts'
import type { Database } from '../ports/database.ts'
import { type DayFigures, findUnkept, keepSlots, readDays, readWaiting } from './figure-statements.ts'

/** Days that are told at most. */
export const MOST_DAYS = 92

/** Of ten minutes each: those that one run keeps (an installation that was upgraded has thousands), and those that one statement counts. */
const SLOTS_OF_RUN = 3_000
const SLOTS_TOGETHER = 6

/** What happened on each day, the oldest first, and what waits now. */
export interface Figures {
  days: DayFigures[]
  waitingCommits: number
  oldestWaitingCommitAt: Date | null
  waitingDeliveries: number
}

/** Counts what happened; what `createFigureService` makes. */
export type FigureService = ReturnType<typeof createFigureService>

/** Figures of the service, counted from its own tables. `orderWindowSeconds` is the time to confirm an order. */
export function createFigureService({
  database,
  config: { orderWindowSeconds: window },
}: {
  database: Pick<Database, 'query'>
  config: { orderWindowSeconds: number }
}) {
  return {
    /**
     * Keeps what was counted of the time that is over, the newest first, as much as one run takes or until it is told to end. Several
     * processes may. Raises UNAVAILABLE.
     */
    async keep(cancel?: AbortSignal): Promise<void> {
      const slots = (await database.query(findUnkept, { days: MOST_DAYS, limit: SLOTS_OF_RUN })).map(({ slot }) => slot)
      for (let next = 0; next < slots.length && !cancel?.aborted; next += SLOTS_TOGETHER) {
        await database.query(keepSlots, { slots: slots.slice(next, next + SLOTS_TOGETHER), window })
      }
    },

    /** The last `days` days in UTC, today included. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED. */
    async read(actor: Actor, days: number): Promise<Figures> {
      assertMay(actor, 'store:administer')
      if (days < 1 || days > MOST_DAYS) throw validationFailed({ days: [`Expected 1 to ${MOST_DAYS}.`] })
      const [perDay, [waiting]] = await Promise.all([
        database.query(readDays, { days, window }),
        database.query(readWaiting),
      ])
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
