/** Bodies of webhook calls. A body contains only immutable data, so that each attempt sends the same bytes. */
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import { arrayOf, type RowOf, statement, uuid } from '../../db/sql.ts'
import { createBatchLoader } from '../../shared/async.ts'
import { toId } from '../../shared/ids.ts'
import { add, formatAmount, toUnits } from '../../shared/money.ts'
import { webhookEventColumns, webhookEventColumnsSql } from './deliveries.sql.ts'

const amount = z.string().regex(/^-?\d+(\.\d+)?$/)
const timestamp = z.iso.datetime()

const order = {
  network_app_id: z.string().describe('Identifier of the network app.'),
  network_app_name: z.string().describe('Name of the network app when the order was created.'),
  price: amount.describe('Price in currency units when the order was created.'),
  num_paid: amount.describe('Amount paid in currency units.'),
  points_paid: amount.describe('Amount paid in points.'),
  total_cost: amount.describe('Total amount paid.'),
  created_at: timestamp.describe('Time at which the order was created.'),
  paid_at: timestamp.describe('Time of the payment.'),
  buyer: z.string().describe('Identifier of the buyer.'),
}

const orderSchema = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.object({ id: z.string().describe('Identifier of the order.'), ...order, ...shape }).describe('The order.')

const eventBody = <const Type extends string, Data extends z.core.$ZodLooseShape>(
  ...[type, id, description, data]: [type: Type, id: string, description: string, data: Data]
) =>
  z
    .object({
      type: z.literal(type).describe('Type of the event.'),
      timestamp: timestamp.describe('Time of the event.'),
      data: z.object(data).describe('The subject of the event.'),
    })
    .meta({ id, description })

export const orderPaidBody = eventBody(
  ...(['order.paid', 'OrderPaidEvent', 'An order was paid. The app must execute its action.'] as const),
  {
    order: orderSchema({
      status: z
        .literal('pending')
        .describe('Status of the order. It becomes `success` when the app accepts this call.'),
    }),
    action_args: z
      .record(z.string(), z.unknown())
      .describe('Arguments of the order. An empty object if the order has none.'),
  },
)

export const orderRefundedBody = eventBody('order.refunded', 'OrderRefundedEvent', 'An order was refunded.', {
  order: orderSchema({
    status: z.enum(['partially_refunded', 'refunded']).describe('`refunded` after a full refund of the order.'),
    num_refunded: amount.describe('Total refunded currency units, including earlier refunds.'),
    points_refunded: amount.describe('Total refunded points, including earlier refunds.'),
    total_refunded: amount.describe('Total refunded amount, including earlier refunds.'),
  }),
  refund: z
    .object({
      id: z.string().describe('Identifier of the refund.'),
      num: amount.describe('Refunded currency units.'),
      points: amount.describe('Refunded points.'),
      total: amount.describe('Refunded amount.'),
      created_at: timestamp.describe('Time of the refund.'),
    })
    .describe('Amounts of this refund.'),
})

export const webhookTestBody = eventBody(
  ...(['webhook.test', 'WebhookTestEvent', 'A test event. The receiver need not do anything.'] as const),
  { network_app_id: order.network_app_id },
)

/** Reads events in the feed of an app's owner that are also sent to the app's webhook. */
const findWebhookEvents = statement(
  'webhook_events',
  { parameters: { events: arrayOf(uuid) }, columns: webhookEventColumns },
  `select ${webhookEventColumnsSql}
   from events e
   left join orders o on o.id = e.order_id
   left join webhook_deliveries d on d.event_id = e.id
   join network_apps a on a.id = coalesce(o.network_app_id, d.network_app_id)
   left join refunds r on r.transfer_id = e.transfer_id
   where e.id = any ($events) and e.type in ('order.paid', 'order.refunded', 'webhook.test') and e.owner_id = a.owner_id`,
)

export type WebhookEvent = RowOf<typeof webhookEventColumns>

export type FindWebhookEvent = (id: string) => Promise<WebhookEvent | undefined>

/** Creates a batch loader of webhook events. Concurrent lookups share one SQL statement. */
export const createWebhookEventLookup = (database: Pick<Database, 'query'>): FindWebhookEvent =>
  createBatchLoader(async (ids: string[]) => {
    const rows = await database.query(findWebhookEvents, { events: ids })
    const found = new Map(rows.map((row) => [row.event_id, row]))
    return ids.map((id) => found.get(id))
  })

type Given<Row, Name extends keyof Row> = Row & { [Key in Name]: NonNullable<Row[Key]> }
type Sale = Given<
  WebhookEvent,
  'order_id' | 'buyer_id' | 'network_app_name' | 'price' | 'num_paid' | 'points_paid' | 'created_at' | 'paid_at'
>
type Refund = Given<
  Sale,
  'refund_id' | 'refunded_at' | 'refund_points' | 'refund_num' | 'points_refunded' | 'num_refunded'
>

const presentOrder = <Status extends string>(order: Sale, status: Status) => ({
  id: toId('order', order.order_id),
  status,
  network_app_id: toId('app', order.network_app_id),
  network_app_name: order.network_app_name,
  price: formatAmount(order.price),
  num_paid: formatAmount(order.num_paid),
  points_paid: formatAmount(order.points_paid),
  total_cost: add(order.num_paid, order.points_paid),
  created_at: order.created_at.toISOString(),
  paid_at: order.paid_at.toISOString(),
  buyer: toId('user', order.buyer_id),
})

/** `actionArgs`: the arguments, or in the delivery log the text that replaces them. */
const writePayment = (order: Sale, actionArgs: unknown) =>
  JSON.stringify({
    type: 'order.paid',
    timestamp: order.paid_at.toISOString(),
    data: { order: presentOrder(order, 'pending'), action_args: actionArgs as Record<string, unknown> },
  } satisfies z.output<typeof orderPaidBody>)

/** Writes the body of `order.refunded`. Omits the reason of the refund, because it may contain personal data. */
function writeRefund(order: Refund): string {
  const { refund_num: num, refund_points: points } = order
  const total = add(order.num_refunded, order.points_refunded)
  const isWhole = toUnits(total) === toUnits(order.price)
  const at = order.refunded_at.toISOString()
  return JSON.stringify({
    type: 'order.refunded',
    timestamp: at,
    data: {
      order: {
        ...presentOrder(order, isWhole ? 'refunded' : 'partially_refunded'),
        num_refunded: formatAmount(order.num_refunded),
        points_refunded: formatAmount(order.points_refunded),
        total_refunded: total,
      },
      refund: {
        id: toId('refund', order.refund_id),
        num: formatAmount(num),
        points: formatAmount(points),
        total: add(num, points),
        created_at: at,
      },
    },
  } satisfies z.output<typeof orderRefundedBody>)
}

const writeTest = ({ occurred_at, network_app_id }: WebhookEvent) =>
  JSON.stringify({
    type: 'webhook.test',
    timestamp: occurred_at.toISOString(),
    data: { network_app_id: toId('app', network_app_id) },
  } satisfies z.output<typeof webhookTestBody>)

export const isSale = (event: WebhookEvent): event is Sale => event.order_id !== null
const isRefund = (sale: Sale): sale is Refund => sale.refund_id !== null

/** Returns the body of a webhook call as JSON, without e-mail addresses. `actionArgs`: arguments of the order. */
export function writePayload(event: WebhookEvent, actionArgs: unknown): string {
  if (!isSale(event)) return writeTest(event)
  return isRefund(event) ? writeRefund(event) : writePayment(event, actionArgs)
}

/** Returns all strings and numbers in the arguments. They may be valid tokens, so stored responses omit them. */
export function textsOf(value: unknown): string[] {
  const texts: string[] = []
  for (const rest = [value]; rest.length > 0; ) {
    const next = rest.pop()
    if (typeof next === 'string' || typeof next === 'number') texts.push(String(next))
    // `push(...values)` fails for very long lists.
    else if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) rest.push(inner)
  }
  return texts
}
