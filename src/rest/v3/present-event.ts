import { graphql } from '../generated/index.ts'

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
export const presentEvent = (event: EventFacts) => ({
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
