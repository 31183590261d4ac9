/** What a receiver is told. Made from what never changes, so that every attempt sends the same bytes. */
import type { z } from 'zod'
import { toId } from '../../shared/ids.ts'
import { add, formatAmount, toUnits } from '../../shared/money.ts'
import type { orderPaidBody, orderRefundedBody, webhookTestBody } from './webhook-bodies.ts'
import type { WebhookEvent } from './webhook-events.ts'

type Given<Row, Name extends keyof Row> = Row & { [Key in Name]: NonNullable<Row[Key]> }
/** An event about an order that was paid. */
export type Sale = Given<
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

/** In the log a word stands for the arguments. */
type Payment = Omit<z.output<typeof orderPaidBody>, 'data'> & {
  data: Omit<z.output<typeof orderPaidBody>['data'], 'action_args'> & { action_args: unknown }
}

const writePayment = (order: Sale, actionArgs: unknown) =>
  JSON.stringify({
    type: 'order.paid',
    timestamp: order.paid_at.toISOString(),
    data: { order: presentOrder(order, 'pending'), action_args: actionArgs },
  } satisfies Payment)

/** The reason stays between the administrator and the buyer: it may name somebody. */
function writeRefund(order: Refund): string {
  const { refund_num: num, refund_points: points, num_refunded: numInAll, points_refunded: pointsInAll } = order
  const total = add(numInAll, pointsInAll)
  const isWhole = toUnits(total) === toUnits(order.price)
  const at = order.refunded_at.toISOString()
  return JSON.stringify({
    type: 'order.refunded',
    timestamp: at,
    data: {
      order: {
        ...presentOrder(order, isWhole ? 'refunded' : 'partially_refunded'),
        num_refunded: formatAmount(numInAll),
        points_refunded: formatAmount(pointsInAll),
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

/** Whether it is about an order that was paid. */
export const isSale = (event: WebhookEvent): event is Sale => event.order_id !== null
const isRefund = (sale: Sale): sale is Refund => sale.refund_id !== null

/** The request's body: JSON text. Amounts are decimal strings; nobody's e-mail stands in it. `actionArgs`: those of an order. */
export function writePayload(event: WebhookEvent, actionArgs: unknown): string {
  if (!isSale(event)) return writeTest(event)
  return isRefund(event) ? writeRefund(event) : writePayment(event, actionArgs)
}

/** Every text and number in the arguments: one of them may be a live token, and no answer that repeats it may be kept. */
export function textsOf(value: unknown): string[] {
  const texts: string[] = []
  for (const rest = [value]; rest.length > 0; ) {
    const next = rest.pop()
    if (typeof next === 'string' || typeof next === 'number') texts.push(String(next))
    // One by one: a list may be longer than a call has arguments.
    else if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) rest.push(inner)
  }
  return texts
}
