import type { Use } from '../../context.ts'
import type { Order } from '../../db/prisma/client.ts'
import { DomainError } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once, remember } from '../../shared/idempotency.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { assertUserMay } from '../../shared/policy.ts'
import { cancelOrder as cancelOrderStatement, type OrderRow } from './orders.sql.ts'
import { asOrder, getOrderByUuid, isExpired, orderExpired, readOrderState } from './orders.ts'

/** Cancels an unpaid order of the caller. Throws NOT_FOUND, ORDER_EXPIRED, UNABLE_TO_CANCEL_ORDER. */
export async function cancelOrder(
  context: IdempotentContext & Use<'notifications'>,
  { id }: { id: string },
): Promise<Order> {
  const { actor, database } = context
  assertUserMay(actor, 'order:cancel')
  const order = uuidFrom(id, 'order', 'Order')
  let cancelled: OrderRow | undefined
  await once(context, 'cancelOrder', { id }, async () => {
    ;[cancelled] = await database.query(cancelOrderStatement, { order, buyer: actor.id, ...idempotencyParams(context) })
    if (cancelled) {
      context.notifications.notify(actor.id)
      return order
    }
    const state = await readOrderState(context, actor, order)
    if (isExpired(state)) throw orderExpired()
    if (state.status !== 'CANCELLED')
      throw new DomainError('UNABLE_TO_CANCEL_ORDER', 'A paid order cannot be cancelled.')
    return remember(context, order)
  })
  return cancelled ? asOrder(cancelled) : getOrderByUuid(context, order)
}
