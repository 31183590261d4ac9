/** An event as both doors and the stream tell it. */
import type { Event } from '../../db/prisma/client.ts'
import { toId } from '../../shared/ids.ts'
import type { EventType } from './event-type.ts'

/** Identifiers are TypeIDs; what an event is not about is null. */
export interface EventRecord {
  /** Also the `webhook-id` of the call that tells the same. */
  id: string
  /** Position in the owner's feed, from 1, without gaps. */
  sequence: number
  type: EventType
  createdAt: Date
  orderId: string | null
  commitId: string | null
  deliveryId: string | null
  transferId: string | null
}

/** An event of the database as callers see it. */
export const recordOf = ({ id, sequence, type, createdAt, ...about }: Event): EventRecord => ({
  id: toId('event', id),
  sequence,
  type: type as EventType,
  createdAt,
  orderId: about.orderId && toId('order', about.orderId),
  commitId: about.commitId && toId('commit', about.commitId),
  deliveryId: about.deliveryId && toId('delivery', about.deliveryId),
  transferId: about.transferId && toId('transfer', about.transferId),
})
