import { defineRoute, type RestRequest } from '../define-route.ts'
import type { DeliveryStatus, WebhookDeliveryRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import { MAX_LARGE_LIMIT, pageOf, presentPage } from '../pagination.ts'

/** What is read of a delivery. */
export const WebhookDeliveryRecord = graphql(/* GraphQL */ `
  fragment WebhookDeliveryRecord on WebhookDelivery {
    id
    eventId
    orderId
    networkAppId
    status
    attemptCount
    nextAttemptAt
    createdAt
    settledAt
    attempts {
      number
      startedAt
      duration
      statusCode
      failure
      response
    }
  }
`)

const presentDelivery = (delivery: WebhookDeliveryRecordFragment) => ({
  id: delivery.id,
  event_id: delivery.eventId,
  order_id: delivery.orderId,
  network_app_id: delivery.networkAppId,
  status: delivery.status.toLowerCase(),
  attempt_count: delivery.attemptCount,
  next_attempt_at: delivery.nextAttemptAt,
  created_at: delivery.createdAt,
  settled_at: delivery.settledAt,
  attempts: delivery.attempts.map(({ number, startedAt, duration, statusCode, failure, response }) => ({
    number,
    started_at: startedAt,
    duration_ms: duration,
    status_code: statusCode,
    failure,
    response,
  })),
})

/** `?status=given_up`: the same words as in an answer. */
const statusFrom = ({ query }: RestRequest) => (query.get('status')?.toUpperCase() || undefined) as DeliveryStatus

const list = defineRoute({
  method: 'GET',
  path: 'store/webhook-deliveries',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    query RestWebhookDeliveries($limit: Int!, $offset: Int!, $filter: WebhookDeliveryFilter) {
      webhookDeliveries(first: $limit, offset: $offset, filter: $filter) {
        totalCount
        nodes {
          ...WebhookDeliveryRecord
        }
      }
    }
  `),
  variables: (request) => ({
    ...pageOf(request, MAX_LARGE_LIMIT),
    filter: {
      networkAppId: request.query.get('network_app_id') || undefined,
      orderId: request.query.get('order_id') || undefined,
      status: statusFrom(request),
    },
  }),
  present: ({ webhookDeliveries }, request) =>
    presentPage(request, webhookDeliveries.totalCount, webhookDeliveries.nodes.map(presentDelivery), MAX_LARGE_LIMIT),
})

const read = defineRoute({
  method: 'GET',
  path: 'store/webhook-deliveries/:id',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    query RestWebhookDelivery($id: ID!) {
      webhookDelivery(id: $id) {
        ...WebhookDeliveryRecord
      }
    }
  `),
  variables: ({ params }) => ({ id: params.id! }),
  present: ({ webhookDelivery }) => presentDelivery(webhookDelivery!),
})

const replay = defineRoute({
  method: 'POST',
  path: 'store/webhook-deliveries/:id/replay',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestReplayWebhookDelivery($input: ReplayWebhookDeliveryInput!) {
      replayWebhookDelivery(input: $input) {
        webhookDelivery {
          ...WebhookDeliveryRecord
        }
      }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  present: ({ replayWebhookDelivery }) => presentDelivery(replayWebhookDelivery.webhookDelivery),
})

/** Webhook deliveries, for administrators. */
export const webhookDeliveryRoutes = [list, read, replay]
