/** What a receiver reads from the feed when it missed the call: the very bodies of `order.paid` and `order.refunded` in the feed of an app's owner. */
import { createBatch } from '../batch.ts'
import type { Database } from '../ports.ts'
import { arrayOf, statement, uuid } from '../sql.ts'
import type { ActionArgs } from '../store/action-args.ts'
import { writePayload } from '../store/delivery-payload.ts'
import { paidOrderColumns, refundColumns, refundColumnsSql } from '../store/delivery-statements.ts'

/** Those of the events that tell an app's owner of a payment, or that it was given back. */
const findSales = statement(
  'event_sales',
  { parameters: { events: arrayOf(uuid) }, columns: { event_id: uuid, ...paidOrderColumns, ...refundColumns } },
  `select e.id as event_id, o.id as order_id, o.network_app_id, o.buyer_id, o.network_app_name, o.price::text,
     o.num_paid::text, o.points_paid::text, o.created_at, o.paid_at, o.action_args, ${refundColumnsSql}
   from events e join orders o on o.id = e.order_id join network_apps a on a.id = o.network_app_id
   left join refunds r on r.transfer_id = e.transfer_id
   where e.id = any ($events) and e.type in ('order.paid', 'order.refunded') and e.owner_id = a.owner_id`,
)

/** Finds the bodies of webhook calls by the events that they told of; questions that come together are one statement. */
export function createEventData({ database, actionArgs }: { database: Database; actionArgs: ActionArgs }) {
  const find = createBatch(async (ids: string[]) => {
    const rows = await database.query(findSales, { events: ids })
    const found = new Map(rows.map((row) => [row.event_id, row]))
    return ids.map((id) => found.get(id))
  })

  /** The body of the call for an event, by the event's UUID; null when it is none that a call tells of. */
  return async (id: string): Promise<Record<string, unknown> | null> => {
    const sale = await find(id)
    if (!sale) return null
    return JSON.parse(writePayload(sale, await actionArgs.show(sale.order_id, sale.action_args)))
  }
}
