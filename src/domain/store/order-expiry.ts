/** The end of orders that nobody confirms, and of what they were to tell. Safe in several processes at once. */
import type { Database, FeedNotices, Log } from '../ports.ts'
import { plainSweep } from '../sweep/plain-sweep.ts'
import type { Sweep } from '../sweep/sweep.ts'
import { createSweeper } from '../sweep/sweeper.ts'
import { eraseOldArguments, expireOrders, findOldArguments, findOverdue, ORDERS_AT_ONCE } from './order-statements.ts'

interface Dependencies {
  database: Database
  notices: Pick<FeedNotices, 'announce'>
  log: Pick<Log, 'error'>
  config: { orderArgumentsDays: number }
}

export function createOrderExpiry({ database, notices, log, config }: Dependencies) {
  const sweeper = createSweeper({ database, log, notices })

  const expiry: Sweep = {
    name: 'expire-orders',
    find: findOverdue,
    page: ORDERS_AT_ONCE,
    async carryOut(query, orders) {
      const ended = await query(expireOrders, [orders])
      return { items: ended.map(({ id }) => id), owners: ended.map(({ buyer_id }) => buyer_id) }
    },
  }

  const erasure: Sweep = {
    ...plainSweep('erase-arguments', findOldArguments, eraseOldArguments, ORDERS_AT_ONCE),
    values: [config.orderArgumentsDays],
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
