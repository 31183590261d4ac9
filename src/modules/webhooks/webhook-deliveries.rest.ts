import { z } from 'zod'
import { defineRoute, get, post, type RestRequest } from '../../http/rest/define-route.ts'
import * as values from '../../http/rest/fields.ts'
import type {
  DeliveryStatus,
  WebhookDeliveryDetailFragment,
  WebhookDeliveryRecordFragment,
} from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList, LARGE_RECORDS } from '../../http/rest/lists.ts'

export const WebhookDeliveryRecord = graphql(/* GraphQL */ `
  fragment WebhookDeliveryRecord on WebhookDelivery {
    id eventId eventType orderId networkAppId status attemptCount nextAttemptAt createdAt settledAt
    attempts { number startedAt duration statusCode failure response }
  }
`)

export const WebhookDeliveryDetail = graphql(/* GraphQL */ `
  fragment WebhookDeliveryDetail on WebhookDelivery {
    ...WebhookDeliveryRecord payload
  }
`)

const deliveryStatus = z.enum(['pending', 'delivered', 'given_up'])

const attemptRecord = values.objectOf('WebhookAttempt', 'One attempt to call a webhook, with its result.', {
  ...values.sameFields('WebhookAttempt', { number: z.number().int(), started_at: values.time }),
  duration_ms: values.same('WebhookAttempt.duration', z.number().int()),
  ...values.sameFields('WebhookAttempt', { status_code: z.number().int().nullable(), failure: z.string().nullable() }),
  ...values.sameFields('WebhookAttempt', { response: z.string() }),
})

const deliveryRecord = values.objectOf(
  'WebhookDelivery',
  'The delivery of one event to the webhook of a network app.',
  {
    ...values.sameFields('WebhookDelivery', { id: z.string(), event_id: z.string(), event_type: z.string() }),
    ...values.sameFields('WebhookDelivery', { order_id: z.string().nullable(), network_app_id: z.string() }),
    ...values.sameFields('WebhookDelivery', { status: deliveryStatus, attempt_count: z.number().int() }),
    ...values.sameFields('WebhookDelivery', { next_attempt_at: values.time.nullable(), created_at: values.time }),
    ...values.sameFields('WebhookDelivery', { settled_at: values.time.nullable(), attempts: z.array(attemptRecord) }),
  },
)

const presentDelivery = ({ status, attempts, ...delivery }: WebhookDeliveryRecordFragment) => ({
  ...values.snakeCased(delivery),
  status: values.lowerCase(status),
  attempts: attempts.map(({ duration, ...attempt }) => ({ ...values.snakeCased(attempt), duration_ms: duration })),
})

const deliveryDetail = deliveryRecord
  .extend({ payload: values.same('WebhookDelivery.payload', values.anyObject) })
  .meta({ id: 'WebhookDeliveryDetail', description: 'A webhook delivery with the body of its calls and its attempts.' })

const presentDetail = (delivery: WebhookDeliveryDetailFragment) => ({
  ...presentDelivery(delivery),
  payload: delivery.payload,
})

/** Parses the query parameter `status`, such as `given_up`. */
const statusFrom = ({ query }: RestRequest) => (query.get('status')?.toUpperCase() || undefined) as DeliveryStatus

const list = defineList({
  ...get('store/webhook-deliveries', 'listWebhookDeliveries', 'Store', 'List webhook deliveries, newest first'),
  description:
    'Finished deliveries are deleted after the number of days that the operator configures: 90 by default, at least 30.',
  filters: {
    ...values.sameFields('WebhookDeliveryFilter', { network_app_id: z.string().optional() }),
    ...values.sameFields('WebhookDeliveryFilter', {
      order_id: z.string().optional(),
      status: deliveryStatus.optional(),
    }),
  },
  action: 'store:administer',
  record: deliveryRecord,
  plural: 'WebhookDeliveries',
  searched: 'the type of the event or the name of the network app',
  order: 'newest',
  partSize: LARGE_RECORDS,
  hasBoundedCount: true,
  operation: graphql(/* GraphQL */ `
    query RestWebhookDeliveries($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String, $filter: WebhookDeliveryFilter) {
      webhookDeliveries(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search, filter: $filter) {
        totalCount pageInfo { startCursor endCursor } nodes { ...WebhookDeliveryRecord }
      }
    }
  `),
  variables: (request, part) => ({
    ...part,
    filter: {
      networkAppId: request.query.get('network_app_id') || undefined,
      orderId: request.query.get('order_id') || undefined,
      status: statusFrom(request),
    },
  }),
  present: presentDelivery,
})

const read = defineRoute({
  ...get('store/webhook-deliveries/:id', 'getWebhookDelivery', 'Store', 'Read a webhook delivery'),
  params: values.deliveryParam,
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    query RestWebhookDelivery($id: ID!) { webhookDelivery(id: $id) { ...WebhookDeliveryDetail } }
  `),
  variables: ({ params }) => ({ id: params.id! }),
  answer: deliveryDetail,
  present: ({ webhookDelivery }) => presentDetail(webhookDelivery!),
})

const replay = defineRoute({
  ...post('store/webhook-deliveries/:id/replay', 'replayWebhookDelivery', 'Store', 'Send a webhook delivery again'),
  description: 'The call has the same `webhook-id`, so that the receiver can ignore a delivery that it already has.',
  params: values.deliveryParam,
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestReplayWebhookDelivery($input: ReplayWebhookDeliveryInput!) {
      replayWebhookDelivery(input: $input) { webhookDelivery { ...WebhookDeliveryDetail } }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  answer: deliveryDetail,
  present: ({ replayWebhookDelivery }) => presentDetail(replayWebhookDelivery.webhookDelivery),
})

const test = defineRoute({
  ...post('store/network-apps/:id/test-events', 'sendTestEvent', 'Store'),
  summary: 'Call the webhook of a network app once, as a test',
  description:
    'Sends a signed event of type `webhook.test` once. The event belongs to no order, and nobody is charged.',
  params: values.networkAppParam,
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestSendTestEvent($input: SendTestEventInput!) {
      sendTestEvent(input: $input) { webhookDelivery { ...WebhookDeliveryDetail } }
    }
  `),
  variables: ({ params }) => ({ input: { networkAppId: params.id! } }),
  status: 201,
  answer: deliveryDetail,
  present: ({ sendTestEvent }) => presentDetail(sendTestEvent.webhookDelivery),
})

export const webhookDeliveryRoutes = [list, read, replay, test]
