/** Every kind of thing a feed tells. */
export const eventTypes = [
  'commit.accepted',
  'commit.failed',
  'commit.final',
  'delivery.delivered',
  'delivery.given-up',
  'deposit.credited',
  'deposit.frozen',
  'deposit.released',
  'order.cancelled',
  'order.created',
  'order.expired',
  'order.failed',
  'order.paid',
  'order.refunded',
  'order.succeeded',
  'points.granted',
  'withdrawal.cancelled',
  'withdrawal.confirmed',
  'withdrawal.failed',
  'withdrawal.requested',
  'webhook.test',
] as const

/** A kind of thing that a feed tells. */
export type EventType = (typeof eventTypes)[number]
