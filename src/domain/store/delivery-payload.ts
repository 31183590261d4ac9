/** What a receiver is told. Made from what never changes, so that every attempt sends the same bytes. */
import { toId } from '../ids.ts'
import { add, formatAmount, toUnits } from '../money.ts'
import type { RowOf } from '../sql.ts'
import type { paidOrderColumns, refundColumns } from './delivery-statements.ts'

/** What of an order stands in the body. Amounts are decimal strings. */
export type PaidOrder = Omit<RowOf<typeof paidOrderColumns>, 'action_args'>

type Refund = { [Name in keyof RowOf<typeof refundColumns>]: NonNullable<RowOf<typeof refundColumns>[Name]> }

const presentOrder = (order: PaidOrder, status: string) => ({
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

const writePayment = (order: PaidOrder, actionArgs: Record<string, unknown>) =>
  JSON.stringify({
    type: 'order.paid',
    timestamp: order.paid_at.toISOString(),
    data: { order: presentOrder(order, 'pending'), action_args: actionArgs },
  })

/** The reason stays between the administrator and the buyer: it may name somebody. */
function writeRefund(order: PaidOrder & Refund): string {
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
  })
}

const isRefund = (told: PaidOrder & RowOf<typeof refundColumns>): told is PaidOrder & Refund => told.refund_id !== null

/** The request's body: JSON text. Amounts are decimal strings; nobody's e-mail stands in it. */
export const writePayload = (
  told: PaidOrder & RowOf<typeof refundColumns>,
  actionArgs: Record<string, unknown>,
): string => (isRefund(told) ? writeRefund(told) : writePayment(told, actionArgs))

/** Every text in the arguments: one of them may be a live token, and no answer that repeats it may be kept. */
export function textsOf(value: unknown): string[] {
  const texts: string[] = []
  for (const rest = [value]; rest.length > 0; ) {
    const next = rest.pop()
    if (typeof next === 'string') texts.push(next)
    // One by one: a list may be longer than a call has arguments.
    else if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) rest.push(inner)
  }
  return texts
}
