import { queryFromInfo } from '@pothos/plugin-prisma'
import { type ResolveCursorConnectionArgs, resolveCursorConnection } from '@pothos/plugin-relay'
import { builder, omitNullish } from '../../graphql/builder.ts'
import { characters, jsonBytes, pageOf } from '../../graphql/limits/document-cost.ts'
import { boundedCountDescription, connectionOf, offsetArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { getAsset } from '../assets/find-asset.ts'
import { CommitType } from '../commits/commits.graphql.ts'
import { OrderType } from '../store/orders.graphql.ts'
import { MAX_ACTION_ARGS_BYTES, orderReader } from '../store/orders.ts'
import { eventTypes } from './events.sql.ts'
import { countEvents, type EventRecord, followCommits, followOrder, listEvents, readEventData } from './events.ts'

const pages = pageOf(1_000)

/** The arguments of an order and the other fields of the body. */
const DATA_BYTES = MAX_ACTION_ARGS_BYTES + 2_000

const EventType = builder.objectRef<EventRecord>('Event').implement({
  description: 'Something that happened to what is yours: an order, a payment, a commit, a delivery, a deposit.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        'ID of the event, such as `event_01h2x…`. The webhook call for this event has the same `webhook-id`.',
    }),
    sequence: t.exposeInt('sequence', {
      description: 'Position in your feed, from 1, without gaps. The first position grows when old events are deleted.',
    }),
    type: t.exposeString('type', { ...characters(64), description: `What happened: ${eventTypes.join(', ')}.` }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the event.' }),
    orderId: t.exposeID('orderId', { nullable: true, description: 'The order it is about.' }),
    commitId: t.exposeID('commitId', { nullable: true, description: 'The commit it is about.' }),
    deliveryId: t.exposeID('deliveryId', {
      nullable: true,
      description: 'The webhook delivery of the event. It may have been deleted since.',
    }),
    data: t.field({
      ...jsonBytes(DATA_BYTES),
      type: 'JSONObject',
      nullable: true,
      description:
        'For `order.paid`, `order.refunded` and `webhook.test` in the feed of the owner of the network app: the very body that the webhook is called with.',
      resolve: (event, _args, context) => readEventData(context, event),
    }),
    transferId: t.exposeID('transferId', { nullable: true, description: 'The transfer that moved money for it.' }),
  }),
})

const EventConnection = connectionOf(EventType, 'Event', ['an event', 'a feed'], boundedCountDescription)

builder.queryField('events', (t) =>
  t.connection(
    {
      type: EventType,
      ...pages,
      description:
        'Your events, oldest first. Events are deleted after 90 days. A cursor is the sequence of an event. ' +
        '`after` and `before` also accept the ID of an existing event. Raises NOT_AUTHENTICATED, VALIDATION_FAILED.',
      args: { search: searchArg(t, 'the type'), offset: offsetArg(t) },
      resolve: async (_root, { offset: given, search, ...args }, context) => {
        const offset = given ?? 0
        const page = await resolveCursorConnection(
          { args, ...pages, toCursor: ({ sequence }: EventRecord) => String(sequence) },
          (part: ResolveCursorConnectionArgs) => listEvents(context, { ...part, offset, search }),
        )
        const range = omitNullish({ after: args.after, before: args.before, search })
        return { ...page, totalCount: () => countEvents(context, range, offset) }
      },
    },
    EventConnection,
  ),
)

builder.subscriptionType({
  description: 'Subscriptions deliver changes as server-sent events. Send `Accept: text/event-stream`.',
})

builder.subscriptionField('commitUpdated', (t) =>
  t.field({
    type: CommitType,
    description:
      'A commit of this asset, each time one is accepted or its chain transaction is settled. Raises NOT_FOUND when there is no ' +
      'such asset that you may see, THROTTLED when too many are open.',
    args: { nid: t.arg.id({ required: true, description: 'The nid.' }) },
    subscribe: (_root, { nid }, context, info) =>
      followCommits(context, () => getAsset(context, nid), queryFromInfo({ context, info })),
    resolve: (commit) => commit,
  }),
)

builder.subscriptionField('orderUpdated', (t) =>
  t.field({
    type: OrderType,
    description:
      'Your order, each time something happens to it: it is paid, delivered, expired, cancelled or refunded. ' +
      'Raises NOT_AUTHENTICATED, NOT_FOUND when there is no such order that you may see, and THROTTLED when too many are open.',
    args: { id: t.arg.id({ required: true, description: 'The order.' }) },
    subscribe: (_root, { id }, context, info) => {
      const query = queryFromInfo({ context, info })
      return followOrder(context, () => orderReader.get(context, id), {
        key: JSON.stringify(query),
        load: (uuid) => orderReader.find(context, uuid, query),
      })
    },
    resolve: (order) => order,
  }),
)
