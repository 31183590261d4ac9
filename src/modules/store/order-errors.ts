/** Reasons for which an order is not made or not paid. A real call reports the first, a quote reports all. */
import type { OrderStatus } from '../../db/prisma/client.ts'
import { DomainError } from '../../shared/errors.ts'
import { type Funds, refusalsOf } from '../wallet/quote.ts'

/** The refusal ORDER_EXPIRED. */
export const expired = () => new DomainError('ORDER_EXPIRED', 'The order was not confirmed in time. Create a new one.')

/** `seconds` until one of them ends by itself, if that is known. */
const tooManyOpen = (open: number, seconds: number | null) =>
  new DomainError('TOO_MANY_OPEN_ORDERS', `You have ${open} orders to confirm: confirm or cancel one of them first.`, {
    ...(seconds !== null && { retryAfter: Math.max(1, seconds) }),
  })

/** An app on offer, with what its buyer has. */
export interface Offer extends Funds {
  price: string
  /** How many orders of the buyer are open, and the seconds until the first of them ends. */
  open: number
  free_in: number | null
}

/** Why an order is not made now. Empty: it can be. */
export function refusalsOfCreation(
  offer: Offer,
  { maxCost, maxOpen }: { maxCost: string | undefined; maxOpen: number },
) {
  const refusals = refusalsOf('order', offer, { funds: offer, maxCost })
  return offer.open >= maxOpen ? [...refusals, tooManyOpen(offer.open, offer.free_in)] : refusals
}

/** The refusal INVALID_NETWORK_APP_NAME, also of an app that is not sold any more. */
export const noSuchApp = () => new DomainError('INVALID_NETWORK_APP_NAME', 'There is no such network app.')

/** An order that is not paid, by the database's clock, with what its buyer has. */
export interface Unpaid extends Funds {
  status: OrderStatus
  overdue: boolean
  /** Whether the app's owner is still there to be paid. */
  is_sold: boolean
  price: string
}

/** Whether an order's time is over, also before the sweep has come to it. */
export const isExpired = ({ status, overdue }: Pick<Unpaid, 'status' | 'overdue'>) =>
  status === 'EXPIRED' || (status === 'CREATED' && overdue)

/** Why an unpaid order is not paid now. Empty: it can be. */
export function refusalsOfPayment(order: Unpaid, maxCost: string | undefined): DomainError[] {
  const refusals = refusalsOf('order', order, { funds: order, maxCost })
  if (isExpired(order)) return [expired(), ...refusals]
  if (!order.is_sold) return [new DomainError('UNABLE_TO_CONFIRM_ORDER', 'The seller is gone.'), ...refusals]
  if (order.status === 'CREATED') return refusals
  return [new DomainError('UNABLE_TO_CONFIRM_ORDER', 'The order was cancelled.'), ...refusals]
}
