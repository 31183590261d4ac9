/** What a receiver is told. Made from what never changes, so that every attempt sends the same bytes. */
import { toId } from '../ids.ts'
import { add, formatAmount } from '../money.ts'
import type { RowOf } from '../sql.ts'
import type { paidOrderColumns } from './delivery-statements.ts'

/** What of an order stands in the body. Amounts are decimal strings. */
export type PaidOrder = Omit<RowOf<typeof paidOrderColumns>, 'action_args'>

/** The request's body: JSON text. Amounts are decimal strings; nobody's e-mail stands in it. */
export function writePayload(due: PaidOrder, actionArgs: Record<string, unknown>): string {
  return JSON.stringify({
    type: 'order.paid',
    timestamp: due.paid_at.toISOString(),
    data: {
      order: {
        id: toId('order', due.order_id),
        status: 'pending',
        network_app_id: toId('app', due.network_app_id),
        network_app_name: due.network_app_name,
        price: formatAmount(due.price),
        num_paid: formatAmount(due.num_paid),
        points_paid: formatAmount(due.points_paid),
        total_cost: add(due.num_paid, due.points_paid),
        created_at: due.created_at.toISOString(),
        paid_at: due.paid_at.toISOString(),
        buyer: toId('user', due.buyer_id),
      },
      action_args: actionArgs,
    },
  })
}

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
