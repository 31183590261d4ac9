/** Refunds by administrators, and reads of all refunds. `webhooks/deliveries.sql.ts` has the automatic refunds. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Prisma, Refund } from '../../db/prisma/client.ts'
import { DomainError, notFound, validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, once, onceParams } from '../../shared/idempotency.ts'
import { newUuid, uuidFrom } from '../../shared/ids.ts'
import { inspect, parse, requiredText } from '../../shared/input.ts'
import { createReader, type Search, searched } from '../../shared/lists.ts'
import { AMOUNT, add, fromUnits, least, toUnits } from '../../shared/money.ts'
import { assertMay, canAdminister, visibleOrders, visibleRefunds } from '../../shared/policy.ts'
import { auditorOf } from '../audit/audit-sql.ts'
import { type Problem, problemsOf } from '../wallet/quote.ts'
import { findRefundable, refundStatement } from './refunds.sql.ts'

type Reader = Use<'actor' | 'database'>

type RefundQuery = Omit<Prisma.RefundFindManyArgs, 'where'>

interface RefundFilter {
  orderId: string
  search: Search
}

const refundInput = z.strictObject({
  orderId: z.string(),
  /** Amount to refund. Default: the amount that has not been refunded yet. */
  amount: z
    .string({ error: 'Expected an amount such as 0.5.' })
    .regex(AMOUNT, 'Expected an amount such as 0.5.')
    .refine((value) => /[1-9]/.test(value), 'Ensure this value is greater than 0.')
    .optional(),
  /** Reason of the refund. The buyer can read the reason. */
  reason: requiredText(500),
})

type RefundInput = z.input<typeof refundInput>

/** Quote of a refund. Amounts are decimal strings. */
export interface RefundQuote {
  num: string
  points: string
  total: string
  /** Amount of the order that can still be refunded. */
  refundable: string
  /** All problems that prevent the refund. Empty if the refund would succeed. */
  problems: Problem[]
}

/** Refundable amounts of an order, and facts that can prevent a refund. */
interface Refundable {
  paid: boolean
  /** True if the buyer's account was deleted. */
  isBuyerDeleted: boolean
  /** Amounts that can still be refunded. */
  points: string
  num: string
}

const unable = (message: string) => new DomainError('UNABLE_TO_REFUND_ORDER', message)

/** Returns the error that prevents the refund, or undefined if it is possible. */
function errorOf(
  { paid, isBuyerDeleted, points, num }: Refundable,
  amount: string | undefined,
): DomainError | undefined {
  const left = add(points, num)
  if (!paid) return unable('The order is not paid.')
  if (left === '0') return unable('The order is already completely refunded.')
  if (isBuyerDeleted) return unable('The buyer’s account is deleted.')
  if (amount === undefined || toUnits(amount) <= toUnits(left)) return undefined
  return validationFailed({ amount: [`Ensure this value is at most ${left}, which can still be refunded.`] })
}

/** Splits an amount like the statement `refundOrder` does: currency units are refunded before points. */
function splitOf({ num, points }: Refundable, amount: string | undefined) {
  const left = add(num, points)
  const total = least(toUnits(amount ?? left), toUnits(left))
  const inNum = least(total, toUnits(num))
  return { num: fromUnits(inNum), points: fromUnits(total - inNum), total: fromUnits(total), refundable: left }
}

/** Reads the refundable amounts of an order. Throws NOT_FOUND. */
async function readRefundable({ database }: Use<'database'>, orderId: string): Promise<Refundable & { uuid: string }> {
  const uuid = uuidFrom(orderId, 'order', 'Order')
  const [found] = await database.query(findRefundable, { order: uuid })
  if (!found) throw notFound('Order')
  return { ...found, uuid }
}

const orderBusy = () =>
  new DomainError('CONFLICT', 'The order is being settled by another request. Try again.', { retryAfter: 1 })

/**
 * Refunds an amount of a paid order, or the whole remaining amount. Concurrent refunds never exceed the paid amount.
 * Returns the UUID of the refund. Throws NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND,
 * UNABLE_TO_REFUND_ORDER.
 */
export async function refundOrder(
  context: IdempotentContext & Use<'notifications'>,
  rawInput: RefundInput,
): Promise<string> {
  const { actor, database } = context
  assertMay(actor, 'store:administer')
  const input = parse(refundInput, rawInput)
  return once(context, 'refundOrder', input, async () => {
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
    if (!inserted) throw errorOf(await readRefundable(context, orderId), amount) ?? orderBusy()
    for (const user of inserted.feeds) context.notifications.notify(user)
    return refund
  })
}

/** Quotes `refundOrder` with all problems. Throws only NOT_AUTHENTICATED, PERMISSION_DENIED and NOT_FOUND. */
export async function quoteRefundOrder(context: Reader, rawInput: RefundInput): Promise<RefundQuote> {
  assertMay(context.actor, 'store:administer')
  const { data, refusals } = inspect(refundInput, rawInput)
  const refundable = await readRefundable(context, rawInput.orderId)
  const error = errorOf(refundable, data.amount)
  const problems = [...refusals, ...(error ? [error] : [])].flatMap(problemsOf)
  return { ...splitOf(refundable, data.amount), problems }
}

/** Reads the refunds of an order, oldest first. Buyers see refunds of their own orders, and administrators see all. */
export const refundReader = createReader<Refund, RefundQuery>()({
  ...{ model: 'refund', prefix: 'refund', label: 'Refund', action: 'order:read' },
  orderBy: [{ numBefore: 'asc' }, { pointsBefore: 'asc' }],
  visible: visibleRefunds,
  /** Returns the conditions of a filter. Throws NOT_FOUND for an order that the actor may not see. */
  async where({ orderId, search }: RefundFilter, { actor, database }): Promise<Prisma.RefundWhereInput> {
    const id = uuidFrom(orderId, 'order', 'Order')
    const visible = canAdminister(actor) ? {} : visibleOrders(actor)
    if (!(await database.read.order.count({ where: { id, ...visible } }))) throw notFound('Order')
    return { orderId: id, ...searched(search, (word) => [{ reason: word }]) }
  },
})
