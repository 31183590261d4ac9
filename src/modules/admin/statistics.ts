/** Statistics of the service for administrators, counted from existing tables. */

import type { Database } from '../../db/database-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { validationFailed } from '../../shared/errors.ts'
import { assertMay } from '../../shared/policy.ts'
import { type DayStatistics, readBacklog, readDays } from './statistics.sql.ts'

/** Maximum number of days in one query. */
export const MAX_DAYS = 31

/** Statistics per day, oldest first, and the current backlog. */
export interface Statistics {
  days: DayStatistics[]
  /** Commits that are not included in a block. */
  waitingCommits: number
  /** Acceptance time of the oldest waiting commit. Null when none waits. */
  oldestWaitingCommitAt: Date | null
  /** Webhook deliveries that will be retried. */
  waitingDeliveries: number
}

export type StatisticsService = ReturnType<typeof createStatisticsService>

/** Counts statistics. `orderWindowSeconds` is the time in which an order can be confirmed. */
export function createStatisticsService({
  database,
  config: { orderWindowSeconds: window },
}: {
  database: Pick<Database, 'query'>
  config: { orderWindowSeconds: number }
}) {
  return {
    /**
     * Returns statistics of the last `days` days in UTC, including today. Raises NOT_AUTHENTICATED, PERMISSION_DENIED,
     * VALIDATION_FAILED.
     */
    async read(actor: Actor, days: number): Promise<Statistics> {
      assertMay(actor, 'store:administer')
      if (days < 1 || days > MAX_DAYS) throw validationFailed({ days: [`Must be between 1 and ${MAX_DAYS}.`] })
      const [perDay, [backlog]] = await Promise.all([
        database.query(readDays, { days, window }),
        database.query(readBacklog),
      ])
      const { commits = 0, oldestCommitAt = null, deliveries = 0 } = backlog ?? {}
      return {
        days: perDay,
        waitingCommits: commits,
        oldestWaitingCommitAt: oldestCommitAt,
        waitingDeliveries: deliveries,
      }
    },
  }
}
