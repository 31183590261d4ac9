/** Jobs that end unconfirmed orders and erase arguments. Several processes can run them at once. */
import type { AppContext } from '../../context.ts'
import type { Sweep } from '../../jobs/batch-job.ts'
import { createSweeper } from '../../jobs/run-batch-job.ts'
import {
  eraseOldArguments,
  expireOrders as expireOrdersStatement,
  findOldArguments,
  findOverdue,
} from './expire-orders.sql.ts'
import { ORDERS_AT_ONCE } from './orders.sql.ts'

type Needs = Pick<AppContext, 'database' | 'log' | 'notifications'>

/** Ends the orders that were not confirmed in time. */
export async function expireOrders(context: Needs): Promise<void> {
  const job: Sweep = {
    name: 'expire-orders',
    find: (query, part) => query(findOverdue, part),
    page: ORDERS_AT_ONCE,
    async handle(query, orders) {
      const expired = await query(expireOrdersStatement, { orders })
      return { items: expired.map(({ id }) => id), owners: expired.map(({ buyer_id }) => buyer_id) }
    },
  }
  await createSweeper(context).run(job)
}

/** Erases the arguments of orders that ended ORDER_ARGUMENTS_DAYS ago. */
export async function eraseOrderArguments(
  context: Needs & Pick<AppContext, 'config'>,
  cancel?: AbortSignal,
): Promise<void> {
  const job: Sweep = {
    name: 'erase-arguments',
    find: (query, part) => query(findOldArguments, { ...part, days: context.config.store.orderArgumentsDays }),
    page: ORDERS_AT_ONCE,
    handle: async (query, orders) => ({
      items: (await query(eraseOldArguments, { orders })).map(({ item }) => item),
    }),
  }
  await createSweeper(context).run(job, cancel)
}
