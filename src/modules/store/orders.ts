/** Orders: purchases of network apps. `expire-orders.ts` expires orders that are not confirmed. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import { type Order, OrderStatus, type Prisma } from '../../db/prisma/client.ts'
import { authenticationFailed, DomainError, notFound } from '../../shared/errors.ts'
import { type IdempotentContext, insertIdempotencyKey, once, onceParams } from '../../shared/idempotency.ts'
import { fromId, newUuid, uuidFrom } from '../../shared/ids.ts'
import { idInput, inspect, jsonObject, parse, trimmedText } from '../../shared/input.ts'
import { createReader, type Search, searched } from '../../shared/lists.ts'
import type { UserActor } from '../../shared/policy.ts'
import { assertTrusted, assertUserMay, visibleOrders } from '../../shared/policy.ts'
import { type Funds, maxCost, noCost, type Quote, quoteOf, readFunds, validateCharge } from '../wallet/quote.ts'
import {
  awaitStandbys,
  cancelOrder as cancelOrderStatement,
  findOffer,
  findOrderState,
  insertOrder,
  payOrder,
} from './orders.sql.ts'

type OrderQuery = Omit<Prisma.OrderFindManyArgs, 'where'>

interface OrderFilter {
  status?: OrderStatus | undefined
  search?: Search
}

/** Returns true if an order with this status has been paid. This includes refunded orders. */
export const isPaid = (status: OrderStatus) => !['CREATED', 'EXPIRED', 'CANCELLED'].includes(status)

/** Returns true if an order can no longer be confirmed, even if the expiry job has not processed it yet. */
const isExpired = ({ status, overdue }: { status: OrderStatus; overdue: boolean }) =>
  status === 'EXPIRED' || (status === 'CREATED' && overdue)

const orderExpired = () => new DomainError('ORDER_EXPIRED', 'The order was not confirmed in time. Create a new one.')
const walletBusy = () =>
  new DomainError('CONFLICT', 'Your wallet is being used by another request. Try again.', { retryAfter: 1 })

const newestFirst: Prisma.OrderOrderByWithRelationInput[] = [{ createdAt: 'desc' }, { id: 'desc' }]

/** Reads the actor's own orders, newest first. */
export const orderReader = createReader<Order, OrderQuery>()<OrderFilter, Prisma.OrderWhereInput>({
  ...{ model: 'order', prefix: 'order', label: 'Order', action: 'order:read', orderBy: newestFirst },
  visible: visibleOrders,
  where: ({ search, ...filter }) => ({ ...filter, ...searched(search, (word) => [{ networkAppName: word }]) }),
})

const saleFilterInput = z.strictObject({
  networkAppId: idInput('app').optional(),
  buyerId: idInput('user').optional(),
  status: z.enum(OrderStatus).optional(),
})

/** Reads the orders of all users, newest first, for administrators. */
export const saleReader = createReader<Order, OrderQuery>()({
  ...{ model: 'order', prefix: 'order', label: 'Order', action: 'store:administer', orderBy: newestFirst },
  isBounded: true,
  visible: () => ({}),
  where(filter: z.input<typeof saleFilterInput>): Prisma.OrderWhereInput {
    const { networkAppId, buyerId, status } = parse(saleFilterInput, filter)
    return {
      ...(networkAppId !== undefined && { networkAppId: fromId(networkAppId)!.uuid }),
      ...(buyerId !== undefined && { buyerId: fromId(buyerId)!.uuid }),
      ...(status !== undefined && { status }),
    }
  },
})

/** Returns the current status of a buyer's order, to explain why the order was not changed. Throws NOT_FOUND. */
async function readOrderState({ database }: Use<'database'>, buyer: UserActor, uuid: string) {
  const [state] = await database.query(findOrderState, { order: uuid, buyer: buyer.id })
  if (state) return state
  await database.query(awaitStandbys)
  throw notFound('Order')
}

/** Maximum size of the arguments as JSON text, in bytes. */
export const MAX_ACTION_ARGS_BYTES = 65_536

const actionArgs = jsonObject
  .default({})
  .transform((value) => JSON.stringify(value))
  .refine((json) => Buffer.byteLength(json) <= MAX_ACTION_ARGS_BYTES, 'Ensure this object has no more than 64 KB.')

const createOrderInput = z.strictObject({
  /** ID or name of the network app. */
  networkApp: trimmedText(100)
    // Names are stored in Unicode form NFC. A client may send an accent as a separate character.
    .transform((value) => value.normalize())
    .refine((value) => value.length > 0, 'This field is required.'),
  /** Arguments that are sent to the webhook. */
  actionArgs,
  maxCost,
})

type CreateOrderInput = z.input<typeof createOrderInput>

/** An app that is for sale, with the state of the buyer. */
interface Offer extends Funds {
  price: string
  /** Number of the buyer's open orders. `free_in`: seconds until the first of them expires. */
  open: number
  free_in: number | null
}

const noSuchApp = () => new DomainError('INVALID_NETWORK_APP_NAME', 'There is no such network app.')

const tooManyOpen = ({ open, free_in }: Offer) =>
  new DomainError('TOO_MANY_OPEN_ORDERS', `You have ${open} unconfirmed orders. Confirm or cancel one of them first.`, {
    ...(free_in !== null && { retryAfter: Math.max(1, free_in) }),
  })

/** Returns all errors that prevent the creation of an order. `createOrder` throws the first one. A quote lists all. */
function offerProblems(offer: Offer, cost: string | undefined, { config }: Use<'config'>): DomainError[] {
  const problems = validateCharge('order', offer, { funds: offer, maxCost: cost })
  return offer.open >= config.limits['open-orders'] ? [...problems, tooManyOpen(offer)] : problems
}

/**
 * Creates an order for a network app at its current price. The buyer is charged later, by `confirmOrder`. Throws
 * UNTRUSTED_CLIENT, VALIDATION_FAILED, INVALID_NETWORK_APP_NAME, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST,
 * TOO_MANY_OPEN_ORDERS.
 */
export async function createOrder(
  context: IdempotentContext & Use<'config' | 'actionArgs' | 'notifications'>,
  rawInput: CreateOrderInput,
): Promise<Order> {
  const { actor, database, config } = context
  assertUserMay(actor, 'order:create')
  assertTrusted(actor, { needed: true })
  const input = parse(createOrderInput, rawInput)
  const app = { app: fromId(input.networkApp, 'app')?.uuid ?? null, name: input.networkApp }
  // Creating an order costs nothing, and cancelled orders do not count against the limit of open orders.
  context.idempotency.isFree = true
  let created: Order | undefined
  const uuid = await once(context, 'createOrder', input, async () => {
    const order = newUuid()
    const encrypted = await context.actionArgs.seal(order, input.actionArgs)
    const [inserted] = await database.query(insertOrder, {
      ...{ order, buyer: actor.id, ...app, actionArgs: encrypted, maxCost: input.maxCost ?? null },
      ...{ window: config.store.orderWindowSeconds, maxOpen: config.limits['open-orders'] },
      ...onceParams(context),
    })
    if (inserted) {
      created = { ...inserted, actionArgs: encrypted as Order['actionArgs'] }
      context.notifications.notify(actor.id)
      return order
    }
    const [offer] = await database.query(findOffer, { buyer: actor.id, ...app })
    if (!offer) throw noSuchApp()
    if (offer.closed) throw authenticationFailed()
    throw offerProblems(offer, input.maxCost, context)[0] ?? walletBusy()
  })
  return created ?? orderReader.getByUuid(context, uuid)
}

/** Quotes `createOrder`: the price to pay at confirmation. The quote lists all errors except UNTRUSTED_CLIENT. */
export async function quoteCreateOrder(
  context: Use<'actor' | 'database' | 'config'>,
  rawInput: CreateOrderInput,
): Promise<Quote> {
  const { actor, database } = context
  assertUserMay(actor, 'order:create')
  assertTrusted(actor, { needed: true })
  const { data, refusals } = inspect(createOrderInput, rawInput)
  if (data.networkApp === undefined) return quoteOf(noCost, await readFunds(context, actor.id), refusals)
  const app = { app: fromId(data.networkApp, 'app')?.uuid ?? null, name: data.networkApp }
  const [offer] = await database.query(findOffer, { buyer: actor.id, ...app })
  if (!offer) return quoteOf(noCost, await readFunds(context, actor.id), [...refusals, noSuchApp()])
  return quoteOf(offer, offer, [...refusals, ...offerProblems(offer, data.maxCost, context)])
}

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

/** Returns all errors that prevent the payment of an order. `confirmOrder` throws the first one. A quote lists all. */
function paymentProblems(order: UnpaidOrder, cost: string | undefined): DomainError[] {
  const problems = validateCharge('order', order, { funds: order, maxCost: cost })
  if (isExpired(order)) return [orderExpired(), ...problems]
  if (!order.is_sold)
    return [new DomainError('UNABLE_TO_CONFIRM_ORDER', 'The seller deleted their account.'), ...problems]
  if (order.status === 'CREATED') return problems
  return [new DomainError('UNABLE_TO_CONFIRM_ORDER', 'The order was cancelled.'), ...problems]
}

/**
 * Pays an order from the buyer's wallet, exactly once, and schedules its webhook. An order that is already paid is
 * returned without another charge. Throws UNTRUSTED_CLIENT, NOT_FOUND, ORDER_EXPIRED, UNABLE_TO_CONFIRM_ORDER,
 * INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST.
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
  let paid: (Order & { ownerId: string }) | undefined
  await once(context, 'confirmOrder', { id, ...input }, async () => {
    ;[paid] = await database.query(payOrder, {
      ...{ order, buyer: actor.id, maxCost: input.maxCost ?? null },
      ...{ platformShare: context.config.store.platformShare },
      ...onceParams(context),
    })
    if (paid) {
      for (const user of new Set([actor.id, paid.ownerId])) context.notifications.notify(user)
      return order
    }
    const state = await readOrderState(context, actor, order)
    if (!isPaid(state.status)) throw paymentProblems(state, input.maxCost)[0] ?? walletBusy()
    return insertIdempotencyKey(context, order)
  })
  return paid ?? orderReader.getByUuid(context, order)
}

/**
 * Quotes `confirmOrder`. An order that is already paid costs nothing. Other errors are part of the quote. Throws only
 * UNTRUSTED_CLIENT and NOT_FOUND.
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
  return quoteOf(order, order, [...refusals, ...paymentProblems(order, data.maxCost)])
}

/** Cancels an unpaid order of the caller. Throws NOT_FOUND, ORDER_EXPIRED, UNABLE_TO_CANCEL_ORDER. */
export async function cancelOrder(
  context: IdempotentContext & Use<'notifications'>,
  { id }: { id: string },
): Promise<Order> {
  const { actor, database } = context
  assertUserMay(actor, 'order:cancel')
  const order = uuidFrom(id, 'order', 'Order')
  let cancelled: Order | undefined
  await once(context, 'cancelOrder', { id }, async () => {
    ;[cancelled] = await database.query(cancelOrderStatement, { order, buyer: actor.id, ...onceParams(context) })
    if (cancelled) {
      context.notifications.notify(actor.id)
      return order
    }
    const state = await readOrderState(context, actor, order)
    if (isExpired(state)) throw orderExpired()
    if (state.status !== 'CANCELLED')
      throw new DomainError('UNABLE_TO_CANCEL_ORDER', 'A paid order cannot be cancelled.')
    return insertIdempotencyKey(context, order)
  })
  return cancelled ?? orderReader.getByUuid(context, order)
}
