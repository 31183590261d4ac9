/** Buying network apps: orders, their payment and their end. Contract: `/api/v3/store/network-app-orders/`. */

import type { Database } from '../../db/database-types.ts'
import type { Order, Prisma } from '../../db/prisma/client.ts'
import type { Actor, UserActor } from '../../shared/actor.ts'
import { authenticationFailed, DomainError, notFound } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { fromId, newUuid, uuidFrom } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { type Cuttable, readClientOf, type Search, searched } from '../../shared/lists.ts'
import type { Log } from '../../shared/log.ts'
import { assertMay, assertTrusted, assertUserMay, visibleOrders } from '../../shared/policy.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import type { FundsService } from '../wallet/funds.ts'
import type { ActionArgs } from './action-args.ts'
import { expired, isExpired, noSuchApp, refusalsOfCreation, refusalsOfPayment } from './order-errors.ts'
import { createOrderExpiry } from './order-expiry.ts'
import { type CreateOrderInput, createOrderInput, payInput } from './order-input.ts'
import { createOrderQuotes } from './order-quotes.ts'
import { isPaid } from './order-status.ts'
import {
  awaitStandbys,
  cancelOrder,
  findOffer,
  findOrderState,
  insertOrder,
  type OrderRow,
  payOrder,
} from './orders.sql.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type OrderQuery = Omit<Prisma.OrderFindManyArgs, 'where'>

/** Which orders are listed. */
interface OrderFilter {
  status?: Order['status'] | undefined
  search?: Search
}

interface Dependencies {
  database: Database
  notifications: Pick<FeedNotifications, 'notify'>
  actionArgs: ActionArgs
  funds: FundsService
  idempotency: Idempotency
  log: Pick<Log, 'error'>
  config: {
    orderWindowSeconds: number
    platformShare: string
    openOrdersPerUser: number
    orderArgumentsDays: number
  }
}

const asOrder = (row: OrderRow) => row as unknown as Order

/**
 * Orders of network apps: made, confirmed once, cancelled, expired. `orderWindowSeconds` is the time to confirm one,
 * `platformShare` what of a sale the platform keeps, from 0 to 1.
 */
export function createOrderService({
  database,
  notifications,
  actionArgs: argumentsOf,
  funds,
  idempotency,
  log,
  config,
}: Dependencies) {
  function find(actor: Actor, uuid: string, query: OrderQuery = {}): Promise<Order | null> {
    return database.read.order.findFirst({ ...query, where: { id: uuid, ...visibleOrders(actor) } })
  }

  async function get(actor: Actor, uuid: string, query: OrderQuery = {}): Promise<Order> {
    const order = await find(actor, uuid, query)
    if (!order) throw notFound('Order')
    return order
  }

  /** The order as it stands, for an actor whose statement found it open no more. Raises what the order's state says. */
  async function stateOf(actor: UserActor, uuid: string) {
    const [state] = await database.query(findOrderState, { order: uuid, buyer: actor.id })
    if (state) return state
    await database.query(awaitStandbys)
    throw notFound('Order')
  }

  const busy = () =>
    new DomainError('CONFLICT', 'Your wallet is being used by another request. Try again.', { retryAfter: 1 })

  function listed(actor: Actor, { search, ...filter }: OrderFilter): Prisma.OrderWhereInput {
    assertMay(actor, 'order:read')
    return { ...filter, ...visibleOrders(actor), ...searched(search, (word) => [{ networkAppName: word }]) }
  }

  return {
    ...createOrderExpiry({ database, notifications, log, config }),
    ...createOrderQuotes({ database, funds, maxOpen: config.openOrdersPerUser }),

    /**
     * Orders a network app, named by id or name; its price is frozen. Nothing is charged before `confirm`.
     * Raises NOT_AUTHENTICATED, UNTRUSTED_CLIENT, VALIDATION_FAILED, INVALID_NETWORK_APP_NAME, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST,
     * TOO_MANY_OPEN_ORDERS.
     */
    async create(actor: Actor, rawInput: CreateOrderInput, context: IdempotencyContext): Promise<Order> {
      assertUserMay(actor, 'order:create')
      assertTrusted(actor, { needed: true })
      const { networkApp, actionArgs, maxCost } = parse(createOrderInput, rawInput)
      const appId = fromId(networkApp, 'app')?.uuid ?? null
      let made: OrderRow | undefined
      // An order that is withdrawn makes room for the next.
      context.isFree = true
      const uuid = await idempotency.once(
        actor,
        context,
        'createOrder',
        { networkApp, actionArgs, maxCost },
        async () => {
          const id = newUuid()
          const sealed = await argumentsOf.seal(id, actionArgs)
          const [inserted] = await database.query(insertOrder, {
            ...{ order: id, buyer: actor.id, app: appId, name: networkApp, actionArgs: sealed },
            ...{ window: config.orderWindowSeconds, maxCost: maxCost ?? null, maxOpen: config.openOrdersPerUser },
            ...fingerprintOf(context),
          })
          if (inserted) {
            // The same bytes, which need not be opened for the answer.
            made = { ...inserted, actionArgs: sealed as Buffer | null }
            notifications.notify(actor.id)
            return id
          }
          const [offer] = await database.query(findOffer, { buyer: actor.id, app: appId, name: networkApp })
          if (!offer) throw noSuchApp()
          if (offer.closed) throw authenticationFailed()
          const terms = { maxCost, maxOpen: config.openOrdersPerUser }
          throw refusalsOfCreation(offer, terms)[0] ?? busy()
        },
      )
      return made ? asOrder(made) : get(actor, uuid)
    },

    /**
     * Pays an order from the wallet, exactly once, and has its webhook called. Returns a paid order without charging again.
     * Raises NOT_AUTHENTICATED, UNTRUSTED_CLIENT, NOT_FOUND, ORDER_EXPIRED, UNABLE_TO_CONFIRM_ORDER, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST.
     */
    async confirm(
      actor: Actor,
      id: string,
      rawInput: { maxCost?: string | undefined },
      context: IdempotencyContext,
    ): Promise<Order> {
      assertUserMay(actor, 'order:pay')
      assertTrusted(actor, { needed: true })
      const { maxCost } = parse(payInput, rawInput)
      const uuid = uuidFrom(id, 'order', 'Order')
      let paid: (OrderRow & { ownerId: string }) | undefined
      await idempotency.once(actor, context, 'confirmOrder', { id, maxCost }, async () => {
        ;[paid] = await database.query(payOrder, {
          ...{ order: uuid, buyer: actor.id, platformShare: config.platformShare, maxCost: maxCost ?? null },
          ...fingerprintOf(context),
        })
        if (paid) {
          for (const feed of new Set([actor.id, paid.ownerId])) notifications.notify(feed)
          return uuid
        }
        const order = await stateOf(actor, uuid)
        if (!isPaid(order.status)) throw refusalsOfPayment(order, maxCost)[0] ?? busy()
        return idempotency.remember(context, uuid)
      })
      return paid ? asOrder(paid) : get(actor, uuid)
    },

    /** Withdraws an open order. Raises NOT_AUTHENTICATED, NOT_FOUND, ORDER_EXPIRED, UNABLE_TO_CANCEL_ORDER. */
    async cancel(actor: Actor, id: string, context: IdempotencyContext): Promise<Order> {
      assertUserMay(actor, 'order:cancel')
      const uuid = uuidFrom(id, 'order', 'Order')
      let gone: OrderRow | undefined
      await idempotency.once(actor, context, 'cancelOrder', { id }, async () => {
        ;[gone] = await database.query(cancelOrder, { order: uuid, buyer: actor.id, ...fingerprintOf(context) })
        if (gone) {
          notifications.notify(actor.id)
          return uuid
        }
        const state = await stateOf(actor, uuid)
        if (isExpired(state)) throw expired()
        if (state.status !== 'CANCELLED')
          throw new DomainError('UNABLE_TO_CANCEL_ORDER', 'A paid order cannot be cancelled.')
        return idempotency.remember(context, uuid)
      })
      return gone ? asOrder(gone) : get(actor, uuid)
    },

    /** An order of the actor by its UUID, or null. */
    find,

    /** An order of the actor by its id. Raises NOT_AUTHENTICATED, NOT_FOUND. */
    async get(actor: Actor, id: string, query?: OrderQuery): Promise<Order> {
      assertMay(actor, 'order:read')
      return get(actor, uuidFrom(id, 'order', 'Order'), query)
    },

    /** The actor's orders, newest first. Raises NOT_AUTHENTICATED, VALIDATION_FAILED. */
    async list(actor: Actor, filter: OrderFilter, { cutsPages, ...query }: OrderQuery & Cuttable): Promise<Order[]> {
      const where = listed(actor, filter)
      const orderBy: Prisma.OrderOrderByWithRelationInput[] = [{ createdAt: 'desc' }, { id: 'desc' }]
      return readClientOf(database, cutsPages).order.findMany({ ...query, orderBy, where })
    },

    /** How many orders `list` would give in all. Raises what `list` raises. */
    async count(actor: Actor, filter: OrderFilter): Promise<number> {
      return database.read.order.count({ where: listed(actor, filter) })
    },

    /** The arguments an order was made with; an object, empty when they are erased or do not open. */
    async readActionArgs({ id, actionArgs }: Pick<Order, 'id' | 'actionArgs'>): Promise<Record<string, unknown>> {
      return argumentsOf.show(id, actionArgs)
    },
  }
}
