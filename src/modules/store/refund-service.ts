/** What administrators give back of paid orders. Contract: `refundOrder`, `refunds`, `/api/v3/store/network-app-orders/{id}/refunds/`. */

import type { Database } from '../../db/database-types.ts'
import type { Prisma, Refund } from '../../db/prisma/client.ts'
import type { Actor } from '../../shared/actor.ts'
import { DomainError, notFound, validationFailed } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { newUuid, uuidFrom } from '../../shared/ids.ts'
import { inspect, parse } from '../../shared/input.ts'
import { type Search, searched } from '../../shared/lists.ts'
import { add, fromUnits, least, toUnits } from '../../shared/money.ts'
import { assertMay, canAdminister, visibleOrders, visibleRefunds } from '../../shared/policy.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import { type Problem, problemsOf } from '../wallet/quote.ts'
import { type RefundInput, refundInput } from './refund-input.ts'
import { findRefundable, refundOrder } from './refunds.sql.ts'

/** What a caller wants loaded, in Prisma's language; made from the GraphQL document. */
export type RefundQuery = Omit<Prisma.RefundFindFirstArgs, 'where'>
/** The same for a page. */
export type RefundsQuery = Omit<Prisma.RefundFindManyArgs, 'where'>

interface Dependencies {
  database: Database
  notifications: Pick<FeedNotifications, 'notify'>
  idempotency: Idempotency
}

/** What a refund gives back, before it is made. Decimal strings. */
export interface RefundQuote {
  num: string
  points: string
  total: string
  /** What can be given back of the order now. */
  refundable: string
  /** Everything the real call would refuse; empty: it would be carried out. */
  problems: Problem[]
}

interface Refundable {
  paid: boolean
  /** The buyer's account was deleted. */
  gone: boolean
  points: string
  num: string
}

const unable = (message: string) => new DomainError('UNABLE_TO_REFUND_ORDER', message)

/** Why so much of an order is not given back; undefined when it can be. */
function refusalOf({ paid, gone, points, num }: Refundable, amount: string | undefined): DomainError | undefined {
  const left = add(points, num)
  if (!paid) return unable('The order is not paid.')
  if (left === '0') return unable('Nothing is left to give back.')
  if (gone) return unable('The buyer’s account is deleted.')
  if (amount === undefined || toUnits(amount) <= toUnits(left)) return undefined
  return validationFailed({ amount: [`Ensure this value is at most ${left}, which is what can still be given back.`] })
}

/** How an amount comes back: what was spent last first, as `refundOrder` has it. */
function splitOf({ num, points }: Refundable, amount: string | undefined) {
  const left = add(num, points)
  const total = least(toUnits(amount ?? left), toUnits(left))
  const inNum = least(total, toUnits(num))
  return { num: fromUnits(inNum), points: fromUnits(total - inNum), total: fromUnits(total), refundable: left }
}

/** Refunds of orders: made by administrators, seen by them and the buyer. */
export function createRefundService({ database, notifications, idempotency }: Dependencies) {
  /** Raises NOT_FOUND. */
  async function refundableOf(orderId: string): Promise<Refundable & { uuid: string }> {
    const uuid = uuidFrom(orderId, 'order', 'Order')
    const [found] = await database.query(findRefundable, { order: uuid })
    if (!found) throw notFound('Order')
    return { ...found, uuid }
  }

  /** The UUID of an order that the actor may see: their own; an administrator sees all. Raises NOT_AUTHENTICATED, NOT_FOUND. */
  async function visibleOrder(actor: Actor, orderId: string): Promise<string> {
    assertMay(actor, 'order:read')
    const id = uuidFrom(orderId, 'order', 'Order')
    const seen = canAdminister(actor) ? {} : visibleOrders(actor)
    if (!(await database.read.order.count({ where: { id, ...seen } }))) throw notFound('Order')
    return id
  }

  const foundBy = (search: Search) => searched<Prisma.RefundWhereInput>(search, (word) => [{ reason: word }])

  const busy = () =>
    new DomainError('CONFLICT', 'The order is being settled by another request. Try again.', { retryAfter: 1 })

  /** A refund by its UUID; null when there is none that the actor may see. */
  async function find(actor: Actor, uuid: string, query: RefundQuery = {}): Promise<Refund | null> {
    return database.read.refund.findFirst({ ...query, where: { id: uuid, ...visibleRefunds(actor) } })
  }

  /** A refund by its UUID. Raises NOT_FOUND. */
  async function get(actor: Actor, uuid: string, query?: RefundQuery): Promise<Refund> {
    const refund = await find(actor, uuid, query)
    if (!refund) throw notFound('Refund')
    return refund
  }

  return {
    find,
    get,

    /** What was given back of an order, the oldest first. Raises NOT_AUTHENTICATED, NOT_FOUND. */
    async list(actor: Actor, orderId: string, search: Search, query: RefundsQuery): Promise<Refund[]> {
      const orderBy: Prisma.RefundOrderByWithRelationInput[] = [{ numBefore: 'asc' }, { pointsBefore: 'asc' }]
      const where = { orderId: await visibleOrder(actor, orderId), ...foundBy(search) }
      return database.read.refund.findMany({ ...query, orderBy, where })
    },

    /** How many `list` would give in all. Raises what `list` raises. */
    async count(actor: Actor, orderId: string, search: Search): Promise<number> {
      return database.read.refund.count({ where: { orderId: await visibleOrder(actor, orderId), ...foundBy(search) } })
    },

    /**
     * Gives money of a paid order back: an amount, or all that is left. Never more than was paid, however many ask at once.
     * Returns the refund's UUID. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND, UNABLE_TO_REFUND_ORDER.
     */
    async refund(actor: Actor, rawInput: RefundInput, context: IdempotencyContext): Promise<string> {
      assertMay(actor, 'store:administer')
      const input = parse(refundInput, rawInput)
      return idempotency.once(actor, context, 'refundOrder', input, async () => {
        const { orderId, amount, reason } = input
        const { uuid, ...refundable } = await refundableOf(orderId)
        const refused = refusalOf(refundable, amount)
        if (refused) throw refused
        const id = newUuid()
        const [made] = await database.query(refundOrder, {
          ...{ refund: id, order: uuid, subject: orderId, amount: amount ?? null, reason },
          ...auditorOf(actor),
          ...fingerprintOf(context),
        })
        if (!made) throw refusalOf(await refundableOf(orderId), amount) ?? busy()
        for (const feed of made.feeds) notifications.notify(feed)
        return id
      })
    },

    /**
     * Quotes `refund`: the split of the returned amount. All other refusals are problems of the quote.
     * Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND.
     */
    async quote(actor: Actor, rawInput: RefundInput): Promise<RefundQuote> {
      assertMay(actor, 'store:administer')
      const { data, refusals } = inspect(refundInput, rawInput)
      const refundable = await refundableOf(rawInput.orderId)
      const refused = refusalOf(refundable, data.amount)
      const problems = [...refusals, ...(refused ? [refused] : [])].flatMap(problemsOf)
      return { ...splitOf(refundable, data.amount), problems }
    },
  }
}
