import type { Context } from '../../context.ts'
import type { WebhookDelivery } from '../../db/prisma/client.ts'
import { allColumns, builder, optionalTime, time } from '../../graphql/builder.ts'
import { type ShownQuery, showing } from '../../graphql/fast-path/compilable-fields.ts'
import { atMost, characters, jsonBytes, pageOf } from '../../graphql/limits/document-cost.ts'
import {
  boundedCountDescription,
  connectionOf,
  idInputType,
  listResolvers,
  offsetArg,
  searchArg,
} from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { MAX_PER_PAGE } from '../../shared/lists.ts'
import { NetworkAppType } from '../store/network-apps.graphql.ts'
import {
  countDeliveries,
  getDelivery,
  listDeliveries,
  readPayload,
  replayDelivery,
  sendTestEvent,
} from './deliveries.ts'
import { MAX_ATTEMPTS } from './webhook-schedule.ts'

const DeliveryStatus = builder.enumType('DeliveryStatus', {
  description: 'Status of a webhook delivery.',
  values: {
    PENDING: { description: 'An attempt is due or under way.' },
    DELIVERED: { description: 'The receiver took it.' },
    GIVEN_UP: { description: 'The last attempt failed, or the receiver said that it is gone.' },
  } as const,
})

const MAX_PAYLOAD_BYTES = 2_000

/** More than the schedule has, because a replay adds attempts. */
const SHOWN_ATTEMPTS = MAX_ATTEMPTS + 5

const WebhookAttemptType = builder.prismaObject('WebhookAttempt', {
  description: 'One call of a receiver and what came of it.',
  select: { number: true, startedAt: true, duration: true, statusCode: true, failure: true, response: true },
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'Number of the attempt, from 1.' }),
    startedAt: t.expose('startedAt', time('When it began.')),
    duration: t.exposeInt('duration', { description: 'How long it took, in milliseconds.' }),
    statusCode: t.exposeInt('statusCode', {
      nullable: true,
      description: 'Status of the answer; null when none came.',
    }),
    failure: t.string({
      ...characters(300),
      nullable: true,
      description: 'Why it failed, in a sentence; null when the receiver took it.',
      resolve: ({ failure }) => failure,
    }),
    response: t.exposeString('response', {
      ...characters(1000),
      description: 'The first 1,000 characters of the answer, without what the call must keep to itself.',
    }),
  }),
})

export const WebhookDeliveryType = builder.prismaObject('WebhookDelivery', {
  description: 'One event on its way to the webhook of a network app. Administrators see it.',
  interfaces: [Node],
  select: allColumns('WebhookDelivery'),
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `delivery_01h2x…`.', resolve: ({ id }) => toId('delivery', id) }),
    eventId: t.id({
      description: 'Identifier of the event it tells: the `webhook-id` of every attempt.',
      resolve: ({ eventId }) => toId('event', eventId),
    }),
    eventType: t.string({
      ...characters(64),
      description: 'What it tells: `order.paid`, `order.refunded`, `webhook.test`.',
      select: { event: { select: { type: true } } },
      resolve: ({ event }) => event.type,
    }),
    payload: t.field({
      ...jsonBytes(MAX_PAYLOAD_BYTES),
      type: 'JSONObject',
      description:
        'The body of every attempt; where an order has arguments, `[withheld]` stands for them, as one of them may be a live token.',
      resolve: ({ eventId }, _args, context) => readPayload(context, eventId),
    }),
    orderId: t.id({
      nullable: true,
      description: 'Identifier of the order; null of a test event.',
      resolve: ({ orderId }) => orderId && toId('order', orderId),
    }),
    networkAppId: t.id({
      description: 'Identifier of the network app.',
      resolve: ({ networkAppId }) => toId('app', networkAppId),
    }),
    networkApp: t.relation('networkApp', { type: NetworkAppType, description: 'The network app it goes to.' }),
    status: t.field({
      type: DeliveryStatus,
      description: 'Status of the delivery.',
      resolve: ({ status }) => status,
    }),
    attemptCount: t.exposeInt('attemptCount', { description: 'How many attempts were made.' }),
    nextAttemptAt: t.expose('nextAttemptAt', optionalTime('When the next attempt is due; null when there is none.')),
    attempts: t.relation('attempts', {
      type: WebhookAttemptType,
      ...atMost(SHOWN_ATTEMPTS),
      description: `The last ${SHOWN_ATTEMPTS} attempts, the oldest of them first.`,
      query: { orderBy: { number: 'asc' }, take: -SHOWN_ATTEMPTS },
    }),
    createdAt: t.expose('createdAt', time('When it was made.')),
    settledAt: t.expose('settledAt', optionalTime('When it was delivered or given up; null until then.')),
  }),
})

const WebhookDeliveryConnection = connectionOf(
  WebhookDeliveryType,
  'WebhookDelivery',
  ['a webhook delivery', 'webhook deliveries'],
  boundedCountDescription,
)

const WebhookDeliveryFilter = builder.inputType('WebhookDeliveryFilter', {
  description: 'Which webhook deliveries to list; what is given must all fit.',
  fields: (t) => ({
    networkAppId: t.id({ description: 'Only those of this network app.' }),
    orderId: t.id({ description: 'Only those of this order.' }),
    status: t.field({ type: DeliveryStatus, description: 'Only those with this status.' }),
  }),
})

const SendTestEventInput = idInputType(
  'SendTestEventInput',
  'Whose receiver to try.',
  'Identifier of the network app.',
  'networkAppId',
)

const deliveryPayload = (name: string, description: string) =>
  builder.objectRef<{ webhookDelivery: WebhookDelivery }>(name).implement({
    description,
    fields: (t) => ({
      webhookDelivery: t.expose('webhookDelivery', {
        type: WebhookDeliveryType,
        description: 'The delivery as it is now.',
      }),
    }),
  })

const SendTestEventPayload = deliveryPayload('SendTestEventPayload', 'The test event, on its way.')

const ReplayWebhookDeliveryInput = idInputType(
  'ReplayWebhookDeliveryInput',
  'What to send once more.',
  'Identifier of the webhook delivery.',
)

const ReplayWebhookDeliveryPayload = deliveryPayload(
  'ReplayWebhookDeliveryPayload',
  'The webhook delivery, on its way again.',
)

builder.queryFields((t) => ({
  webhookDelivery: t.read({
    type: WebhookDeliveryType,
    nullable: true,
    description: 'A webhook delivery. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the webhook delivery.' }) },
    resolve: (query, _root, { id }, context) => getDelivery(context, id, query),
  }),
  webhookDeliveries: t.prismaConnection(
    {
      type: WebhookDeliveryType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description:
        'The log of webhook deliveries, newest first. One that is settled is forgotten after so many days as the operator says, 90 if ' +
        'nothing is said and never less than 30. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED.',
      args: {
        filter: t.arg({ type: WebhookDeliveryFilter, description: 'Only those that fit.' }),
        search: searchArg(t, 'the type of the event or the name of the network app'),
        offset: offsetArg(t),
      },
      ...listResolvers(listDeliveries, countDeliveries),
    },
    WebhookDeliveryConnection,
  ),
}))

const readChanged = async (id: string, context: Context, query: () => ShownQuery) => ({
  webhookDelivery: await getDelivery(context, id, query()),
})

builder.mutationFields((t) => ({
  sendTestEvent: t.field({
    type: SendTestEventPayload,
    description:
      'Calls the receiver of a network app once with a signed event of the type `webhook.test`, which is about no order and charges nobody. ' +
      'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED when the app has no webhook.',
    args: { input: t.arg({ type: SendTestEventInput, required: true, description: 'Whose receiver to try.' }) },
    resolve: showing('webhookDelivery', async (query, { input }, context) =>
      readChanged(await sendTestEvent(context, input), context, query),
    ),
  }),
  replayWebhookDelivery: t.field({
    type: ReplayWebhookDeliveryPayload,
    description:
      'Calls the receiver once more, now, with the same identifier and body; an order that had failed succeeds when it takes it. ' +
      'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND, VALIDATION_FAILED when the order was refunded or the app has no webhook.',
    args: { input: t.arg({ type: ReplayWebhookDeliveryInput, required: true, description: 'What to send.' }) },
    resolve: showing('webhookDelivery', async (query, { input }, context) =>
      readChanged(await replayDelivery(context, input), context, query),
    ),
  }),
}))
