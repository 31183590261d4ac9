/** Dry runs of what an order costs: everything is checked as by the real call, and nothing is written. */
import type { Order } from '../../platform/prisma/client.ts'
import { type Actor, assertUser, type UserActor } from '../actor.ts'
import { notFound } from '../errors.ts'
import { fromId, uuidFrom } from '../ids.ts'
import { inspect } from '../input.ts'
import { assertTrusted, assertUserMay } from '../policy.ts'
import type { Database } from '../ports/database.ts'
import type { FundsService } from '../wallet/funds.ts'
import { nothingToPay, type Quote, quoteOf, receiptOf } from '../wallet/quote.ts'
import { type CreateOrderInput, createOrderInput, payInput } from './order-input.ts'
import { noSuchApp, refusalsOfCreation, refusalsOfPayment } from './order-refusals.ts'
import { findOffer, findOrderState } from './order-statements.ts'
import { isPaid } from './order-status.ts'

/** What orders would cost, and did: part of the order service. `maxOpen`: orders of one user that may wait to be confirmed. */
export function createOrderQuotes({
  database,
  funds: wallets,
  maxOpen,
}: {
  database: Database
  funds: FundsService
  maxOpen: number
}) {
  const fundsOf = ({ id }: UserActor) => wallets.of(id)

  return {
    /**
     * A dry run of `create`: what confirming the order would cost. All its other refusals are the quote's problems; the
     * price of an app that is not there is 0. Raises NOT_AUTHENTICATED, UNTRUSTED_CLIENT.
     */
    async quoteCreation(actor: Actor, rawInput: CreateOrderInput): Promise<Quote> {
      assertUserMay(actor, 'order:create')
      assertTrusted(actor, { needed: true })
      const { data, refusals } = inspect(createOrderInput, rawInput)
      const { networkApp, maxCost } = data
      if (networkApp === undefined) return quoteOf(nothingToPay, await fundsOf(actor), refusals)
      const appId = fromId(networkApp, 'app')?.uuid ?? null
      const [offer] = await database.query(findOffer, { buyer: actor.id, app: appId, name: networkApp })
      if (!offer) return quoteOf(nothingToPay, await fundsOf(actor), [...refusals, noSuchApp()])
      return quoteOf(offer, offer, [...refusals, ...refusalsOfCreation(offer, { maxCost, maxOpen })])
    },

    /**
     * A dry run of `confirm`. A paid order costs nothing more. All other refusals are the quote's problems.
     * Raises NOT_AUTHENTICATED, UNTRUSTED_CLIENT, NOT_FOUND.
     */
    async quotePayment(actor: Actor, id: string, rawInput: { maxCost?: string | undefined }): Promise<Quote> {
      assertUserMay(actor, 'order:pay')
      assertTrusted(actor, { needed: true })
      const { data, refusals } = inspect(payInput, rawInput)
      const uuid = uuidFrom(id, 'order', 'Order')
      const [order] = await database.query(findOrderState, { order: uuid, buyer: actor.id })
      if (!order) throw notFound('Order')
      if (isPaid(order.status)) return quoteOf(nothingToPay, order, refusals)
      return quoteOf(order, order, [...refusals, ...refusalsOfPayment(order, data.maxCost)])
    },

    /** What confirming an order that was just made will cost. Raises NOT_AUTHENTICATED. */
    async quoteOrder(actor: Actor, { price }: Pick<Order, 'price'>): Promise<Quote> {
      assertUser(actor)
      return quoteOf({ price }, await fundsOf(actor))
    },

    /** What a confirmation charged: the order's price, or nothing when another one had paid it. Raises NOT_AUTHENTICATED. */
    async receipt(
      actor: Actor,
      order: Pick<Order, 'price' | 'pointsPaid' | 'numPaid'>,
      isCharged: boolean,
    ): Promise<Quote> {
      assertUser(actor)
      const funds = await fundsOf(actor)
      if (!isCharged) return receiptOf(nothingToPay, { points: '0', num: '0' }, funds)
      return receiptOf(order, { points: order.pointsPaid, num: order.numPaid }, funds)
    },
  }
}
