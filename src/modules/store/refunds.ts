/** Refunds by administrators, and reads of all refunds. `webhooks/deliveries.sql.ts` has the automatic refunds. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Prisma, Refund } from '../../db/prisma/client.ts'
import { DomainError, notFound, validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, once, onceParams } from '../../shared/idempotency.ts'
import { newUuid, uuidFrom } from '../../shared/ids.ts'
import { inspect, parse, positiveAmount, requiredText } from '../../shared/input.ts'
import { createReader, type Search, searched } from '../../shared/lists.ts'
import { add, fromUnits, least, toUnits } from '../../shared/money.ts'
import { assertMay, canAdminister, visibleOrders, visibleRefunds } from '../../shared/policy.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { problemsOf } from '../wallet/quote.ts'
import { findRefundable, type Refundable, refundStatement } from './refunds.sql.ts'

const refundInput = z.strictObject({
  orderId: z.string(),
  /** Default: the amount that has not been refunded yet. */
  amount: positiveAmount.optional(),
  reason: requiredText(500),
})

type RefundInput = z.input<typeof refundInput>

const unable = (message: string) => new DomainError('UNABLE_TO_REFUND_ORDER', message)

function errorOf({ paid, isBuyerDeleted, points, num }: Refundable, amount?: string): DomainError | undefined {
  const left = add(points, num)
  if (!paid) return unable('The order is not paid.')
  if (left === '0') return unable('The order is already completely refunded.')
  if (isBuyerDeleted) return unable('The buyer’s account is deleted.')
  if (amount === undefined || toUnits(amount) <= toUnits(left)) return undefined
  return validationFailed({ amount: [`Ensure this value is at most ${left}, which can still be refunded.`] })
}

/** Splits an amount as `refundStatement` does: currency units are refunded before points. */
function splitOf({ num, points }: Refundable, amount?: string) {
  const left = add(num, points)
  const total = least(toUnits(amount ?? left), toUnits(left))
  const inNum = least(total, toUnits(num))
  return { num: fromUnits(inNum), points: fromUnits(total - inNum), total: fromUnits(total), refundable: left }
}

/** Reads the refundable amounts of an order. Throws NOT_FOUND. */
async function readRefundable({ database }: Use<'database'>, orderId: string) {
  const uuid = uuidFrom(orderId, 'order', 'Order')
  const [found] = await database.query(findRefundable, { order: uuid })
  if (!found) throw notFound('Order')
  return { ...found, uuid }
}

/**
 * Refunds an amount of a paid order, by default all that remains. Returns the UUID of the refund. Throws
 * NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND, UNABLE_TO_REFUND_ORDER.
 */
export async function refundOrder(
  context: IdempotentContext & Use<'notifications'>,
  rawInput: RefundInput,
): Promise<{ id: string }> {
  const { actor, database } = context
  assertMay(actor, 'store:administer')
  const input = parse(refundInput, rawInput)
  const id = await once(context, 'refundOrder', input, async () => {
    const { orderId, amount, reason } = input
    const { uuid, ...refundable } = await readRefundable(context, orderId)
    const error = errorOf(refundable, amount)
    if (error) throw error
    const refund = newUuid()
    const [inserted] = await database.query(refundStatement, {
      ...{ refund, order: uuid, subject: orderId, amount: amount ?? null, reason },
      ...auditorOf(actor),
      ...onceParams(context),
    })
    if (!inserted) {
      const busy = 'The order is being settled by another request. Try again.'
      throw (
        errorOf(await readRefundable(context, orderId), amount) ?? new DomainError('CONFLICT', busy, { retryAfter: 1 })
      )
    }
    for (const user of inserted.feeds) context.notifications.notify(user)
    return refund
  })
  return { id }
}

export type RefundQuote = Awaited<ReturnType<typeof quoteRefundOrder>>

/** Quotes `refundOrder`. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND. */
export async function quoteRefundOrder(context: Use<'actor' | 'database'>, rawInput: RefundInput) {
  assertMay(context.actor, 'store:administer')
  const { data, refusals } = inspect(refundInput, rawInput)
  const refundable = await readRefundable(context, rawInput.orderId)
  const error = errorOf(refundable, data.amount)
  const problems = [...refusals, ...(error ? [error] : [])].flatMap(problemsOf)
  return { ...splitOf(refundable, data.amount), problems }
}

/** Reads the refunds of an order, oldest first. Buyers see refunds of their own orders, and administrators see all. */
export const refundReader = createReader<Refund, Omit<Prisma.RefundFindManyArgs, 'where'>>()({
  ...{ model: 'refund', prefix: 'refund', label: 'Refund', action: 'order:read' },
  orderBy: [{ numBefore: 'asc' }, { pointsBefore: 'asc' }],
  visible: visibleRefunds,
  /** Throws NOT_FOUND for an order that the actor may not see. */
  async where(filter: { orderId: string; search?: Search }, { actor, database }): Promise<Prisma.RefundWhereInput> {
    const id = uuidFrom(filter.orderId, 'order', 'Order')
    const visible = canAdminister(actor) ? {} : visibleOrders(actor)
    if (!(await database.read.order.count({ where: { id, ...visible } }))) throw notFound('Order')
    return { orderId: id, ...searched(filter.search, (word) => [{ reason: word }]) }
  },
})
