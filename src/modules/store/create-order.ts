import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Order } from '../../db/prisma/client.ts'
import { authenticationFailed, DomainError } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once } from '../../shared/idempotency.ts'
import { fromId, newUuid } from '../../shared/ids.ts'
import { inspect, jsonObject, parse, trimmedText } from '../../shared/input.ts'
import { assertTrusted, assertUserMay } from '../../shared/policy.ts'
import { type Funds, maxCost, noCost, type Quote, quoteOf, readFunds, validateCharge } from '../wallet/quote.ts'
import { findOffer, insertOrder, type OrderRow } from './orders.sql.ts'
import { asOrder, getOrderByUuid, walletBusy } from './orders.ts'

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

interface Offer extends Funds {
  price: string
  /** Number of the buyer's open orders. `free_in`: seconds until the first of them expires. */
  open: number
  free_in: number | null
}

const noSuchApp = () => new DomainError('INVALID_NETWORK_APP_NAME', 'There is no such network app.')

const tooManyOpen = ({ open, free_in }: Offer) =>
  new DomainError('TOO_MANY_OPEN_ORDERS', `You have ${open} orders to confirm: confirm or cancel one of them first.`, {
    ...(free_in !== null && { retryAfter: Math.max(1, free_in) }),
  })

/** Returns all reasons why the order cannot be created. A creation throws the first one. A quote returns all of them. */
function problemsOf(offer: Offer, cost: string | undefined, { config }: Use<'config'>): DomainError[] {
  const problems = validateCharge('order', offer, { funds: offer, maxCost: cost })
  return offer.open >= config.limits['open-orders'] ? [...problems, tooManyOpen(offer)] : problems
}

/**
 * Creates an order for a network app at its current price. The buyer is charged later, by `confirmOrder`. Throws UNTRUSTED_CLIENT,
 * VALIDATION_FAILED, INVALID_NETWORK_APP_NAME, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST, TOO_MANY_OPEN_ORDERS.
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
  // A cancelled order makes room for the next one.
  context.idempotency.isFree = true
  let created: OrderRow | undefined
  const uuid = await once(context, 'createOrder', input, async () => {
    const order = newUuid()
    const encrypted = await context.actionArgs.seal(order, input.actionArgs)
    const [inserted] = await database.query(insertOrder, {
      ...{ order, buyer: actor.id, ...app, actionArgs: encrypted, maxCost: input.maxCost ?? null },
      ...{ window: config.store.orderWindowSeconds, maxOpen: config.limits['open-orders'] },
      ...idempotencyParams(context),
    })
    if (inserted) {
      created = { ...inserted, actionArgs: encrypted as Buffer | null }
      context.notifications.notify(actor.id)
      return order
    }
    const [offer] = await database.query(findOffer, { buyer: actor.id, ...app })
    if (!offer) throw noSuchApp()
    if (offer.closed) throw authenticationFailed()
    throw problemsOf(offer, input.maxCost, context)[0] ?? walletBusy()
  })
  return created ? asOrder(created) : getOrderByUuid(context, uuid)
}

/** Quotes `createOrder`: the price to pay at confirmation. Other errors are part of the quote. Throws only UNTRUSTED_CLIENT. */
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
  return quoteOf(offer, offer, [...refusals, ...problemsOf(offer, data.maxCost, context)])
}
