/** The end of orders that nobody confirms, and of what they were to tell. Safe in several processes at once. */
import type { Database } from '../../db/database-types.ts'
import type { Sweep } from '../../jobs/batch-job.ts'
import { createSweeper } from '../../jobs/run-batch-job.ts'
import type { Log } from '../../shared/log.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import { eraseOldArguments, expireOrders, findOldArguments, findOverdue } from './expire-orders.sql.ts'
import { ORDERS_AT_ONCE } from './orders.sql.ts'

interface Dependencies {
  database: Database
  notifications: Pick<FeedNotifications, 'notify'>
  log: Pick<Log, 'error'>
  config: { orderArgumentsDays: number }
}

/** What becomes of orders by time: part of the order service, called by the sweeps of the process. */
export function createOrderExpiry({ database, notifications, log, config }: Dependencies) {
  const sweeper = createSweeper({ database, log, notifications })

  const expiry: Sweep = {
    name: 'expire-orders',
    find: (query, part) => query(findOverdue, part),
    page: ORDERS_AT_ONCE,
    async handle(query, orders) {
      const ended = await query(expireOrders, { orders })
      return { items: ended.map(({ id }) => id), owners: ended.map(({ buyer_id }) => buyer_id) }
    },
  }

  const erasure: Sweep = {
    name: 'erase-arguments',
    find: (query, part) => query(findOldArguments, { ...part, days: config.orderArgumentsDays }),
    page: ORDERS_AT_ONCE,
    handle: async (query, orders) => ({
      items: (await query(eraseOldArguments, { orders })).map(({ item }) => item),
    }),
  }

  return {
    /** Ends the orders whose time is over. */
    async expire(): Promise<void> {
      await sweeper.run(expiry)
    },

    /** Erases arguments of orders that are over for long. */
    async sweepArguments(cancel?: AbortSignal): Promise<void> {
      await sweeper.run(erasure, cancel)
    },
  }
}
