import { z } from 'zod'
import { graphql } from '../../http/rest/generated/index.ts'
import { anyObject, moment, same } from '../../http/rest/values.ts'

/** What is read of an event. */
export const EventRecord = graphql(/* GraphQL */ `
  fragment EventRecord on Event {
    id
    sequence
    type
    createdAt
    orderId
    commitId
    deliveryId
    transferId
    data
  }
`)

/** An event as it is answered. */
export const eventRecord = z
  .object({
    id: same('Event.id', z.string()),
    sequence: same('Event.sequence', z.number().int()),
    type: same('Event.type', z.string()),
    created_at: same('Event.createdAt', moment),
    order_id: same('Event.orderId', z.string().nullable()),
    commit_id: same('Event.commitId', z.string().nullable()),
    delivery_id: same('Event.deliveryId', z.string().nullable()),
    transfer_id: same('Event.transferId', z.string().nullable()),
    data: same('Event.data', anyObject.nullable()),
  })
  .meta({ id: 'Event', description: 'Something that happened to what is one’s own.' })

interface EventFacts {
  id: string
  sequence: number
  type: string
  createdAt: Date | string
  orderId: string | null
  commitId: string | null
  deliveryId: string | null
  transferId: string | null
  /** The webhook's body, where a webhook tells the same. */
  data: Record<string, unknown> | null
}

/** An event as the list and the stream tell it. */
export const presentEvent = (event: EventFacts): z.output<typeof eventRecord> => ({
  id: event.id,
  sequence: event.sequence,
  type: event.type,
  created_at: event.createdAt,
  order_id: event.orderId,
  commit_id: event.commitId,
  delivery_id: event.deliveryId,
  transfer_id: event.transferId,
  data: event.data,
})
