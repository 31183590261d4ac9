/** What may follow on what in an order's life. The database refuses every other step (trigger `orders_status_step`). */
import type { OrderStatus } from '../../db/prisma/client.ts'

/** The statuses that each may be followed by; those without any are ends. */
export const nextStatuses: Record<OrderStatus, readonly OrderStatus[]> = {
  CREATED: ['PENDING', 'SUCCESS', 'EXPIRED', 'CANCELLED'],
  PENDING: ['SUCCESS', 'FAILURE', 'REFUNDED'],
  // A delivery that was given up can be sent again, and then the order is served after all.
  FAILURE: ['SUCCESS', 'REFUNDED'],
  // An administrator can give the money back at any time.
  SUCCESS: ['REFUNDED'],
  EXPIRED: [],
  CANCELLED: [],
  REFUNDED: [],
}

/** Whether an order was paid at some time; a refunded one was. */
export const isPaid = (status: OrderStatus) => !['CREATED', 'EXPIRED', 'CANCELLED'].includes(status)
