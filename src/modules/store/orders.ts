/** Orders: purchases of network apps. `expire-orders.ts` expires orders that are not confirmed. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import { type Order, OrderStatus, type Prisma } from '../../db/prisma/client.ts'
import { authenticationFailed, DomainError, LostKeyError, notFound } from '../../shared/errors.ts'
import { type IdempotentContext, insertIdempotencyKey, once, onceParams } from '../../shared/idempotency.ts'
import { fromId, newUuid, toId, uuidFrom } from '../../shared/ids.ts'
import { idInput, inspect, jsonObject, parse, trimmedText } from '../../shared/input.ts'
import { createReader, type Search, searched } from '../../shared/lists.ts'
import { assertTrusted, assertUserMay, type UserActor, visibleOrders } from '../../shared/policy.ts'
import { maxCost, noCost, type Quote, quoteOf, readFunds, validateCharge } from '../wallet/quote.ts'
import * as sql from './orders.sql.ts'

type OrderQuery = Omit<Prisma.OrderFindManyArgs, 'where'>

/** Returns true if an order with this status was paid, even if it was refunded later. */
export const isPaid = (status: OrderStatus) => !['CREATED', 'EXPIRED', 'CANCELLED'].includes(status)

/** Returns true if an order can no longer be confirmed, even if the expiry job has not processed it yet. */
const isExpired = ({ status, overdue }: sql.OrderState) => status === 'EXPIRED' || (status === 'CREATED' && overdue)

const orderExpired = () => new DomainError('ORDER_EXPIRED', 'The order was not confirmed in time. Create a new one.')
const walletBusy = () =>
  new DomainError('CONFLICT', 'Your wallet is being used by another request. Try again.', { retryAfter: 1 })

const newestFirst: Prisma.OrderOrderByWithRelationInput[] = [{ createdAt: 'desc' }, { id: 'desc' }]

/** Reads the actor's own orders, newest first. */
export const orderReader = createReader<Order, OrderQuery>()({
  ...{ model: 'order', prefix: 'order', label: 'Order', action: 'order:read', orderBy: newestFirst },
  visible: visibleOrders,
  where: ({ search, ...filter }: { status?: OrderStatus; search?: Search }): Prisma.OrderWhereInput => ({
    ...filter,
    ...searched(search, (word) => [{ networkAppName: word }]),
  }),
})

const saleFilterInput = z
  .strictObject({ networkAppId: idInput('app'), buyerId: idInput('user'), status: z.enum(OrderStatus) })
  .partial()

/** Reads the orders of all users, newest first, for administrators. */
export const saleReader = createReader<Order, OrderQuery>()({
  ...{ model: 'order', prefix: 'order', label: 'Order', action: 'store:administer', orderBy: newestFirst },
  isBounded: true,
  visible: () => ({}),
  where(filter: z.input<typeof saleFilterInput>): Prisma.OrderWhereInput {
    return parse(saleFilterInput, filter)
  },
})

/** Returns the current status of a buyer's order, to explain why the order was not changed. Throws NOT_FOUND. */
async function readOrderState({ database }: Use<'database'>, buyer: UserActor, uuid: string) {
  const [state] = await database.query(sql.findOrderState, { order: uuid, buyer: buyer.id })
  if (state) return state
  await database.query(sql.waitForStandbys)
  throw notFound('Order')
}

/** Maximum size of the arguments as JSON text, in bytes. */
export const MAX_ACTION_ARGS_BYTES = 65_536

export const actionArgsContext = (orderId: string) => `order:${orderId}\naction-args\nv1`

/** Arguments that this process encrypted. The cache saves a decryption in the response to `createOrder`. */
const plainTexts = new WeakMap<Uint8Array, string>()
/** Orders whose decryption failure was logged. */
const loggedOrders = new Set<string>()
const MAX_LOGGED = 10_000

/** Encrypts the arguments of an order, because they may contain an access token. Empty arguments become null. */
async function sealActionArgs({ envelopeCipher }: Use<'envelopeCipher'>, orderId: string, json: string) {
  if (json === '{}') return null
  const sealed = await envelopeCipher.seal(json, actionArgsContext(orderId))
  plainTexts.set(sealed, json)
  return sealed
}

/** Decrypts the arguments of an order. Throws LostKeyError. */
export const openActionArgs = async (
  { envelopeCipher }: Use<'envelopeCipher'>,
  orderId: string,
  sealed: Uint8Array | null,
): Promise<Record<string, unknown>> =>
  sealed ? JSON.parse(plainTexts.get(sealed) ?? (await envelopeCipher.open(sealed, actionArgsContext(orderId)))) : {}

/** Decrypts the arguments of an order for display. Logs a failure once per order, and returns an empty object. */
export const showActionArgs = (context: Use<'envelopeCipher' | 'log'>, orderId: string, sealed: Uint8Array | null) =>
  openActionArgs(context, orderId, sealed).catch((error: unknown) => {
    if (!(error instanceof LostKeyError)) throw error
    if (loggedOrders.size >= MAX_LOGGED) loggedOrders.clear()
    const fields = { err: error, order: toId('order', orderId) }
    if (!loggedOrders.has(orderId))
      context.log.error(fields, 'Failed to decrypt the arguments of an order; showing them as empty')
    loggedOrders.add(orderId)
    return {}
  })

const createOrderInput = z.strictObject({
  /** ID or name of the network app. */
  networkApp: trimmedText(100)
    // Names are stored in Unicode form NFC. A client may send an accent as a separate character.
    .transform((value) => value.normalize())
    .refine((value) => value.length > 0, 'This field is required.'),
  /** Arguments that are sent to the webhook. */
  actionArgs: jsonObject
    .default({})
    .transform((value) => JSON.stringify(value))
    .refine((json) => Buffer.byteLength(json) <= MAX_ACTION_ARGS_BYTES, 'Ensure this object has no more than 64 KB.'),
  maxCost,
})

const appParams = (networkApp: string) => ({ app: fromId(networkApp, 'app')?.uuid ?? null, name: networkApp })

const noSuchApp = () => new DomainError('INVALID_NETWORK_APP_NAME', 'There is no such network app.')

/** Returns all errors that prevent the creation of an order. A quote lists all errors. `createOrder` throws the first. */
function offerProblems(offer: sql.Offer, cost: string | undefined, { config }: Use<'config'>): DomainError[] {
  const problems = validateCharge('order', offer, { funds: offer, maxCost: cost })
  if (offer.open < config.limits['open-orders']) return problems
  const message = `You have ${offer.open} unconfirmed orders. Confirm or cancel one of them first.`
  const retry = offer.free_in === null ? {} : { retryAfter: Math.max(1, offer.free_in) }
  return [...problems, new DomainError('TOO_MANY_OPEN_ORDERS', message, retry)]
}

/**
 * Creates an order for a network app at its current price. The buyer is charged later, by `confirmOrder`. Throws
 * UNTRUSTED_CLIENT, VALIDATION_FAILED, INVALID_NETWORK_APP_NAME, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST,
 * TOO_MANY_OPEN_ORDERS.
 */
export async function createOrder(
  context: IdempotentContext & Use<'config' | 'envelopeCipher' | 'notifications'>,
  rawInput: z.input<typeof createOrderInput>,
): Promise<Order> {
  const { actor, database, config } = context
  assertUserMay(actor, 'order:create')
  assertTrusted(actor, { needed: true })
  const input = parse(createOrderInput, rawInput)
  const app = appParams(input.networkApp)
  // Creating an order costs nothing, and cancelled orders do not count against the limit of open orders.
  context.idempotency.isFree = true
  let created: Order | undefined
  const uuid = await once(context, 'createOrder', input, async () => {
    const order = newUuid()
    const encrypted = await sealActionArgs(context, order, input.actionArgs)
    const [inserted] = await database.query(sql.insertOrder, {
      ...{ order, buyer: actor.id, ...app, actionArgs: encrypted, maxCost: input.maxCost ?? null },
      ...{ window: config.store.orderWindowSeconds, maxOpen: config.limits['open-orders'] },
      ...onceParams(context),
    })
    if (inserted) {
      created = { ...inserted, actionArgs: encrypted as Order['actionArgs'] }
      context.notifications.notify(actor.id)
      return order
    }
    const [offer] = await database.query(sql.findOffer, { buyer: actor.id, ...app })
    if (!offer) throw noSuchApp()
    if (offer.closed) throw authenticationFailed()
    throw offerProblems(offer, input.maxCost, context)[0] ?? walletBusy()
  })
  return created ?? orderReader.getByUuid(context, uuid)
}

/** Quotes `createOrder`: the price to pay at confirmation. Throws UNTRUSTED_CLIENT. */
export async function quoteCreateOrder(
  context: Use<'actor' | 'database' | 'config'>,
  rawInput: z.input<typeof createOrderInput>,
): Promise<Quote> {
  const { actor, database } = context
  assertUserMay(actor, 'order:create')
  assertTrusted(actor, { needed: true })
  const { data, refusals } = inspect(createOrderInput, rawInput)
  if (data.networkApp === undefined) return quoteOf(noCost, await readFunds(context, actor.id), refusals)
  const [offer] = await database.query(sql.findOffer, { buyer: actor.id, ...appParams(data.networkApp) })
  if (!offer) return quoteOf(noCost, await readFunds(context, actor.id), [...refusals, noSuchApp()])
  return quoteOf(offer, offer, [...refusals, ...offerProblems(offer, data.maxCost, context)])
}

const confirmOrderInput = z.strictObject({ maxCost })

type ConfirmOrderInput = z.input<typeof confirmOrderInput> & { id: string }

/** Returns all errors that prevent the payment of an order. A quote lists all errors. `confirmOrder` throws the first. */
function paymentProblems(order: sql.OrderState, cost: string | undefined): DomainError[] {
  const problems = validateCharge('order', order, { funds: order, maxCost: cost })
  const unable = (message: string) => [new DomainError('UNABLE_TO_CONFIRM_ORDER', message), ...problems]
  if (isExpired(order)) return [orderExpired(), ...problems]
  if (!order.is_sold) return unable('The seller deleted their account.')
  return order.status === 'CREATED' ? problems : unable('The order was cancelled.')
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
    ;[paid] = await database.query(sql.payOrder, {
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
 * Quotes `confirmOrder`. A paid order costs nothing. Throws UNTRUSTED_CLIENT, NOT_FOUND.
 */
export async function quoteConfirmOrder(
  { actor, database }: Use<'actor' | 'database'>,
  { id, ...rawInput }: ConfirmOrderInput,
): Promise<Quote> {
  assertUserMay(actor, 'order:pay')
  assertTrusted(actor, { needed: true })
  const { data, refusals } = inspect(confirmOrderInput, rawInput)
  const [order] = await database.query(sql.findOrderState, { order: uuidFrom(id, 'order', 'Order'), buyer: actor.id })
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
    ;[cancelled] = await database.query(sql.cancelOrder, { order, buyer: actor.id, ...onceParams(context) })
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
