/** Why an order is not made or not paid: told one by one by a real call, all together by a dry run. */
import type { OrderStatus } from '../../platform/prisma/client.ts'
import { DomainError } from '../errors.ts'
import { type Funds, refusalsOf } from '../wallet/quote.ts'

export const expired = () => new DomainError('ORDER_EXPIRED', 'The order was not confirmed in time. Create a new one.')

export const noSuchApp = () => new DomainError('INVALID_NETWORK_APP_NAME', 'There is no such network app.')

/** An order that is not paid, by the database's clock, with what its buyer has. */
export interface Unpaid extends Funds {
  status: OrderStatus
  overdue: boolean
  /** Whether the app's owner is still there to be paid. */
  is_sold: boolean
  price: string
}

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
