import { expect, it } from 'vitest'
import { violatedConstraint } from '../../../src/db/database-types.ts'
import { OrderStatus } from '../../../src/db/prisma/client.ts'
import { boolean, statement, textOf, uuid } from '../../../src/db/sql.ts'
import { isPaid } from '../../../src/modules/store/orders.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

/** Allowed next statuses of each order status. The trigger `orders_status_step` rejects all other changes. */
const nextStatuses: Record<OrderStatus, readonly OrderStatus[]> = {
  CREATED: ['PENDING', 'SUCCESS', 'EXPIRED', 'CANCELLED'],
  PENDING: ['SUCCESS', 'FAILURE', 'REFUNDED'],
  // An administrator can send a failed delivery again.
  FAILURE: ['SUCCESS', 'REFUNDED'],
  // An administrator can refund an order at any time.
  SUCCESS: ['REFUNDED'],
  EXPIRED: [],
  CANCELLED: [],
  REFUNDED: [],
}

const app = await createTestApp()
const store = await createStore(app, { price: '0' })
const { buyerId, networkAppId } = await (async () => {
  const buyer = await app.newUser()
  const [row] = await app.sql<{ id: string }>('select id::text from network_apps where name = $1', [store.name])
  return { buyerId: buyer.id, networkAppId: row!.id }
})()

const orderStatus = textOf<OrderStatus>('order_status')

const insertOrder = statement(
  'test_order_insert',
  { parameters: { buyer: uuid, app: uuid, status: orderStatus, isPaid: boolean }, columns: { id: uuid } },
  `with charge as (
     insert into transfers (reference) select 'test:' || uuidv7() where $isPaid returning id
   )
   insert into orders (buyer_id, network_app_id, network_app_name, price, quoted_points, quoted_num, expires_at, status,
     transfer_id, paid_at, settled_at)
   select $buyer, $app, 'any', 0, 0, 0, now() + interval '1 minute', $status, (select id from charge),
     case when $isPaid then now() end, case when $status not in ('CREATED', 'PENDING') then now() end
   returning id`,
)

const stepOrder = statement(
  'test_order_step',
  { parameters: { order: uuid, status: orderStatus, isPaid: boolean } },
  `with charge as (
     insert into transfers (reference) select 'test:' || uuidv7() where $isPaid returning id
   )
   update orders set status = $status, paid_at = case when $isPaid then now() end,
     transfer_id = case when $isPaid then coalesce(transfer_id, (select id from charge)) end,
     settled_at = case when $status not in ('CREATED', 'PENDING') then now() end
   where id = $order`,
)

const undone = new Error('undone')

async function canStep(from: OrderStatus, to: OrderStatus): Promise<boolean> {
  const attempt = app.installation.database.transaction(async (query) => {
    const [order] = await query(insertOrder, { buyer: buyerId, app: networkAppId, status: from, isPaid: isPaid(from) })
    await query(stepOrder, { order: order!.id, status: to, isPaid: isPaid(to) })
    throw undone
  })
  const error = await attempt.catch((reason: unknown) => reason)
  if (error === undone) return true
  if (violatedConstraint(error) === 'orders_status_step') return false
  throw error
}

const statuses = Object.values(OrderStatus)

it.each(statuses)('the database allows exactly the listed status changes of an order in %s', async (from) => {
  const taken = []
  for (const to of statuses) if (to !== from && (await canStep(from, to))) taken.push(to)
  expect(taken.toSorted()).toEqual([...nextStatuses[from]].sort())
})
