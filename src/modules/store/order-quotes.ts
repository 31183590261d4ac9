/** Quotes of orders: everything is checked as by the real call, and nothing is written. */

import type { Database } from '../../db/database-types.ts'
import type { Actor, UserActor } from '../../shared/actor.ts'
import { notFound } from '../../shared/errors.ts'
import { fromId, uuidFrom } from '../../shared/ids.ts'
import { inspect } from '../../shared/input.ts'
import { assertTrusted, assertUserMay } from '../../shared/policy.ts'
import type { FundsService } from '../wallet/funds.ts'
import { nothingToPay, type Quote, quoteOf } from '../wallet/quote.ts'
import { noSuchApp, refusalsOfCreation, refusalsOfPayment } from './order-errors.ts'
import { type CreateOrderInput, createOrderInput, payInput } from './order-input.ts'
import { isPaid } from './order-status.ts'
import { findOffer, findOrderState } from './orders.sql.ts'

/** Quotes orders; part of the order service. `maxOpen`: maximum number of unconfirmed orders of one user. */
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
     * Quotes `create`: the cost of confirming the order. All other refusals are problems of the quote. The price of an
     * unknown app is 0. Raises NOT_AUTHENTICATED, UNTRUSTED_CLIENT.
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
     * Quotes `confirm`. A paid order costs nothing more. All other refusals are problems of the quote.
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
  }
}
