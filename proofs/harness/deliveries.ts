/** What became of the deliveries of sales. */
import { toId } from '../../src/domain/ids.ts'
import { arrayOf, int, orNull, type RowOf, statement, text, textOf, timestamp, uuid } from '../../src/domain/sql.ts'
import type { ConnectedDatabase } from '../../src/platform/database/database.ts'
import { orderUuid } from './store.ts'

const delivery = {
  /** UUID. */
  id: text,
  orderId: text,
  /** The `webhook-id`. */
  eventId: text,
  status: textOf<'PENDING' | 'DELIVERED' | 'GIVEN_UP'>(),
  orderStatus: text,
  createdAt: timestamp,
  attempts: int,
}
export type Delivery = RowOf<typeof delivery>

const findDeliveries = statement(
  'proof_deliveries',
  { parameters: { orders: arrayOf(uuid) }, columns: delivery },
  `select d.id::text, d.order_id::text as "orderId", d.event_id::text as "eventId", d.status::text,
     o.status::text as "orderStatus", d.created_at as "createdAt", d.attempt_count as attempts
   from webhook_deliveries d join orders o on o.id = d.order_id where d.order_id = any($orders) order by d.id`,
)

export async function readDeliveries(database: ConnectedDatabase, orderIds: readonly string[]): Promise<Delivery[]> {
  const rows = await database.query(findDeliveries, { orders: orderIds.map(orderUuid) })
  return rows.map((row) => ({ ...row, eventId: toId('event', row.eventId) }))
}

const attempt = {
  deliveryId: text,
  number: int,
  /** Milliseconds. */
  duration: int,
  statusCode: orNull(int),
  failure: orNull(text),
  response: text,
}
export type AttemptRow = RowOf<typeof attempt>

const findAttempts = statement(
  'proof_attempts',
  { parameters: { deliveries: arrayOf(uuid) }, columns: attempt },
  `select delivery_id::text as "deliveryId", number, duration, status_code as "statusCode", failure, response
   from webhook_attempts where delivery_id = any($deliveries) order by delivery_id, number`,
)

export const readAttempts = (database: ConnectedDatabase, deliveryIds: readonly string[]) =>
  database.query(findAttempts, { deliveries: deliveryIds })

const makeDue = statement(
  'proof_pass_time',
  { parameters: { deliveries: arrayOf(uuid) } },
  `with due as (update webhook_deliveries set next_attempt_at = now() where id = any($deliveries) returning id::text)
   update jobs.job set start_after = now() from due
   where name = 'webhook-delivery' and data->>'deliveryId' = due.id and state < 'active'`,
)

/** Lets the time until the next attempts pass. */
export const passTime = (database: ConnectedDatabase, deliveryIds: readonly string[]) =>
  database.query(makeDue, { deliveries: deliveryIds })
