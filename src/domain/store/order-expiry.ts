/** The end of orders that nobody confirms, and of what they were to tell. Safe in several processes at once. */
import type { Database, FeedNotices, Log } from '../ports.ts'
import { createSetbacks } from '../setbacks.ts'
import { eraseOldArguments, expireOrders, findOverdueBuyers, ORDERS_AT_ONCE } from './order-statements.ts'

interface Dependencies {
  database: Database
  notices: Pick<FeedNotices, 'announce'>
  log: Pick<Log, 'error'>
  config: { orderArgumentsDays: number }
}

export function createOrderExpiry({ database, notices, log, config }: Dependencies) {
  const setbacks = createSetbacks({ first: 5, longest: 3_600 })

  /** Ends some orders, of one buyer or of everybody who does not rest; returns how many. */
  async function expireSome(buyer: string | null): Promise<number> {
    const buyers = await database.query(expireOrders, [setbacks.resting(), buyer])
    for (const { buyer_id } of buyers) notices.announce(buyer_id)
    return buyers.reduce((sum, { ended }) => sum + ended, 0)
  }

  /** After a batch that failed: each buyer's orders by themselves, so that one who fails holds up nobody. */
  async function expireOneByOne(): Promise<void> {
    for (const { buyer_id } of await database.query(findOverdueBuyers, [setbacks.resting()])) {
      try {
        await expireSome(buyer_id)
        setbacks.forget(buyer_id)
      } catch (error) {
        const seconds = setbacks.note(buyer_id)
        log.error({ err: error, user: buyer_id, seconds }, 'Orders of a user could not be expired; tried again later')
      }
    }
  }

  return {
    /** Ends the orders whose time is over. */
    async expire(): Promise<void> {
      try {
        while ((await expireSome(null)) === ORDERS_AT_ONCE);
      } catch {
        await expireOneByOne()
      }
    },

    /** Erases arguments of orders that are over for long. */
    async sweepArguments(): Promise<void> {
      while ((await database.query(eraseOldArguments, [config.orderArgumentsDays])).length === ORDERS_AT_ONCE);
    },
  }
}
