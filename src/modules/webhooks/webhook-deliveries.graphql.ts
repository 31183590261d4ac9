import {
  allColumns,
  builder,
  optionalText,
  optionalTime,
  payloadType,
  publicId,
  shortText,
  showingChange,
  time,
} from '../../graphql/builder.ts'
import { atMost, jsonBytes, pageOf } from '../../graphql/limits/document-cost.ts'
import * as lists from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { MAX_PER_PAGE } from '../../shared/lists.ts'
import { NetworkAppType } from '../store/network-apps.graphql.ts'
import { deliveryReader, readPayload, replayDelivery, sendTestEvent } from './deliveries.ts'
import { MAX_ATTEMPTS } from './webhook-schedule.ts'

const DeliveryStatus = builder.enumType('DeliveryStatus', {
  description: 'Status of a webhook delivery.',
  values: {
    PENDING: { description: 'An attempt is due or running.' },
    DELIVERED: { description: 'The receiver accepted the delivery.' },
    GIVEN_UP: { description: 'The last attempt failed, or the receiver responded with 410 Gone.' },
  } as const,
})

const MAX_PAYLOAD_BYTES = 2_000

/** Maximum number of attempts in a response. A replay adds attempts to those of the retry schedule. */
const SHOWN_ATTEMPTS = MAX_ATTEMPTS + 5

const WebhookAttemptType = builder.prismaObject('WebhookAttempt', {
  description: 'One attempt to call a webhook, with its result.',
  select: { number: true, startedAt: true, duration: true, statusCode: true, failure: true, response: true },
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'Number of the attempt, from 1.' }),
    startedAt: t.expose('startedAt', time('Start of the attempt.')),
    duration: t.exposeInt('duration', { description: 'Duration of the attempt, in milliseconds.' }),
    statusCode: t.exposeInt('statusCode', {
      nullable: true,
      description: 'HTTP status of the response. Null if there was no response.',
    }),
    failure: t.exposeString(
      'failure',
      optionalText(300, 'Reason of the failure, in a sentence. Null if the receiver accepted the call.'),
    ),
    response: t.exposeString(
      'response',
      shortText(1000, 'The first 1,000 characters of the response, without the secrets of the call.'),
    ),
  }),
})

export const WebhookDeliveryType = builder.prismaObject('WebhookDelivery', {
  description: 'The delivery of one event to the webhook of a network app. Only administrators can read it.',
  interfaces: [Node],
  select: allColumns('WebhookDelivery'),
  fields: (t) => ({
    id: t.field(publicId('delivery', 'id', 'Identifier, as in `delivery_01h2x…`.')),
    eventId: t.field(publicId('event', 'eventId', 'ID of the event. Each attempt sends it as `webhook-id`.')),
    eventType: t.string({
      ...shortText(64, 'Type of the event: `order.paid`, `order.refunded` or `webhook.test`.'),
      select: { event: { select: { type: true } } },
      resolve: ({ event }) => event.type,
    }),
    payload: t.field({
      ...jsonBytes(MAX_PAYLOAD_BYTES),
      type: 'JSONObject',
      description:
        'Body of the webhook call. Arguments of the order are replaced by `[withheld]`, because they may contain a valid token.',
      resolve: ({ eventId }, _args, context) => readPayload(context, eventId),
    }),
    orderId: t.id({
      nullable: true,
      description: 'ID of the order. Null for a test event.',
      resolve: ({ orderId }) => orderId && toId('order', orderId),
    }),
    networkAppId: t.field(publicId('app', 'networkAppId', 'Identifier of the network app.')),
    networkApp: t.relation('networkApp', {
      type: NetworkAppType,
      description: 'The network app that receives the call.',
    }),
    status: t.expose('status', { type: DeliveryStatus, description: 'Status of the delivery.' }),
    attemptCount: t.exposeInt('attemptCount', { description: 'Number of attempts.' }),
    nextAttemptAt: t.expose('nextAttemptAt', optionalTime('Time of the next attempt. Null if none is planned.')),
    attempts: t.relation('attempts', {
      type: WebhookAttemptType,
      ...atMost(SHOWN_ATTEMPTS),
      description: `The last ${SHOWN_ATTEMPTS} attempts, in chronological order.`,
      query: { orderBy: { number: 'asc' }, take: -SHOWN_ATTEMPTS },
    }),
    createdAt: t.expose('createdAt', time('Time at which the delivery was created.')),
    settledAt: t.expose(
      'settledAt',
      optionalTime('Time at which the delivery succeeded or was abandoned. Null until then.'),
    ),
  }),
})

const WebhookDeliveryConnection = lists.connectionOf(
  WebhookDeliveryType,
  'WebhookDelivery',
  ['a webhook delivery', 'webhook deliveries'],
  lists.boundedCountDescription,
)

const WebhookDeliveryFilter = builder.inputType('WebhookDeliveryFilter', {
  description: 'Filter of webhook deliveries. All given conditions must match.',
  fields: (t) => ({
    networkAppId: t.id({ description: 'Returns only deliveries of this network app.' }),
    orderId: t.id({ description: 'Returns only deliveries of this order.' }),
    status: t.field({ type: DeliveryStatus, description: 'Returns only deliveries with this status.' }),
  }),
})

const SendTestEventInput = lists.idInputType(
  'SendTestEventInput',
  'The network app whose webhook is tested.',
  'Identifier of the network app.',
  'networkAppId',
)

const deliveryField = ['webhookDelivery', WebhookDeliveryType, 'The updated webhook delivery.'] as const
const SendTestEventPayload = payloadType('SendTestEventPayload', 'The delivery of the test event.', deliveryField)

const ReplayWebhookDeliveryInput = lists.idInputType(
  'ReplayWebhookDeliveryInput',
  'The delivery to send again.',
  'Identifier of the webhook delivery.',
)

const ReplayWebhookDeliveryPayload = payloadType(
  'ReplayWebhookDeliveryPayload',
  'The webhook delivery that is sent again.',
  deliveryField,
)

builder.queryFields((t) => ({
  webhookDelivery: t.read({
    type: WebhookDeliveryType,
    nullable: true,
    description: 'A webhook delivery. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the webhook delivery.' }) },
    resolve: (query, _root, { id }, context) => deliveryReader.get(context, id, query),
  }),
  webhookDeliveries: t.prismaConnection(
    {
      type: WebhookDeliveryType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description:
        'Webhook deliveries, newest first. Finished deliveries are deleted after the number of days that the operator ' +
        'configures: 90 by default, at least 30. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED.',
      args: {
        filter: t.arg({ type: WebhookDeliveryFilter, description: 'Filter of the deliveries.' }),
        search: lists.searchArg(t, 'the type of the event or the name of the network app'),
        offset: lists.offsetArg(t),
      },
      ...lists.listResolvers(deliveryReader.list, deliveryReader.count),
    },
    WebhookDeliveryConnection,
  ),
}))

builder.mutationFields((t) => ({
  sendTestEvent: t.field({
    type: SendTestEventPayload,
    description:
      'Sends a signed test event of type `webhook.test` to the webhook of a network app, once. The event belongs to no order, and nobody is charged. ' +
      'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED if the app has no webhook.',
    args: {
      input: t.arg({
        type: SendTestEventInput,
        required: true,
        description: 'The network app whose webhook is tested.',
      }),
    },
    resolve: showingChange('webhookDelivery', deliveryReader, sendTestEvent),
  }),
  replayWebhookDelivery: t.field({
    type: ReplayWebhookDeliveryPayload,
    description:
      'Sends a webhook delivery again immediately, with the same ID and body. A failed order succeeds if the receiver accepts the call. ' +
      'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED if the order was refunded or the app has no webhook.',
    args: {
      input: t.arg({
        type: ReplayWebhookDeliveryInput,
        required: true,
        description: 'The webhook delivery to send again.',
      }),
    },
    resolve: showingChange('webhookDelivery', deliveryReader, replayDelivery),
  }),
}))
