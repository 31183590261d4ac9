import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Order, OrderStatus } from '../../db/prisma/client.ts'
import { DomainError, notFound } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once, remember } from '../../shared/idempotency.ts'
import { uuidFrom } from '../../shared/ids.ts'
import { inspect, parse } from '../../shared/input.ts'
import { assertTrusted, assertUserMay } from '../../shared/policy.ts'
import { type Funds, maxCost, noCost, type Quote, quoteOf, validateCharge } from '../wallet/quote.ts'
import { findOrderState, type OrderRow, payOrder } from './orders.sql.ts'
import { asOrder, getOrderByUuid, isExpired, isPaid, orderExpired, readOrderState, walletBusy } from './orders.ts'

const confirmOrderInput = z.strictObject({ maxCost })

interface ConfirmOrderInput extends z.input<typeof confirmOrderInput> {
  id: string
}

interface UnpaidOrder extends Funds {
  status: OrderStatus
  overdue: boolean
  /** False if the owner of the app deleted their account. */
  is_sold: boolean
  price: string
}

/** Returns all reasons why the order cannot be paid. A payment throws the first one. A quote returns all of them. */
function problemsOf(order: UnpaidOrder, cost: string | undefined): DomainError[] {
  const problems = validateCharge('order', order, { funds: order, maxCost: cost })
  if (isExpired(order)) return [orderExpired(), ...problems]
  if (!order.is_sold)
    return [new DomainError('UNABLE_TO_CONFIRM_ORDER', 'The seller deleted their account.'), ...problems]
  if (order.status === 'CREATED') return problems
  return [new DomainError('UNABLE_TO_CONFIRM_ORDER', 'The order was cancelled.'), ...problems]
}

/**
 * Pays an order from the buyer's wallet, exactly once, and schedules its webhook. An order that is already paid is returned without another
 * charge. Throws UNTRUSTED_CLIENT, NOT_FOUND, ORDER_EXPIRED, UNABLE_TO_CONFIRM_ORDER, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST.
 */
export async function confirmOrder(
  context: IdempotentContext & Use<'config' | 'notifications'>,
  { id, ...rawInput }: ConfirmOrderInput,
): Promise<Order> {
  const { actor, database } = context
  assertUserMay(actor, 'order:pay')
  assertTrusted(actor, { needed: true })
  const input = parse(confirmOrderInput, rawInput)
  const order = uuidFrom(id, 'order', 'Order')
  let paid: (OrderRow & { ownerId: string }) | undefined
  await once(context, 'confirmOrder', { id, ...input }, async () => {
    ;[paid] = await database.query(payOrder, {
      ...{ order, buyer: actor.id, maxCost: input.maxCost ?? null },
      ...{ platformShare: context.config.store.platformShare },
      ...idempotencyParams(context),
    })
    if (paid) {
      for (const user of new Set([actor.id, paid.ownerId])) context.notifications.notify(user)
      return order
    }
    const state = await readOrderState(context, actor, order)
    if (!isPaid(state.status)) throw problemsOf(state, input.maxCost)[0] ?? walletBusy()
    return remember(context, order)
  })
  return paid ? asOrder(paid) : getOrderByUuid(context, order)
}

/**
 * Quotes `confirmOrder`. An order that is already paid costs nothing. Other errors are part of the quote. Throws only UNTRUSTED_CLIENT and
 * NOT_FOUND.
 */
export async function quoteConfirmOrder(
  { actor, database }: Use<'actor' | 'database'>,
  { id, ...rawInput }: ConfirmOrderInput,
): Promise<Quote> {
  assertUserMay(actor, 'order:pay')
  assertTrusted(actor, { needed: true })
  const { data, refusals } = inspect(confirmOrderInput, rawInput)
  const [order] = await database.query(findOrderState, { order: uuidFrom(id, 'order', 'Order'), buyer: actor.id })
  if (!order) throw notFound('Order')
  if (isPaid(order.status)) return quoteOf(noCost, order, refusals)
  return quoteOf(order, order, [...refusals, ...problemsOf(order, data.maxCost)])
}
