import { queryFromInfo } from '@pothos/plugin-prisma'
import { type ResolveCursorConnectionArgs, resolveCursorConnection } from '@pothos/plugin-relay'
import { builder, omitNullish, shortText, time } from '../../graphql/builder.ts'
import { jsonBytes, pageOf } from '../../graphql/limits/document-cost.ts'
import { boundedCountDescription, connectionOf, offsetArg, searchArg } from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { CommitType } from '../assets/assets.graphql.ts'
import { getAsset } from '../assets/find-asset.ts'
import { OrderType } from '../store/orders.graphql.ts'
import { MAX_ACTION_ARGS_BYTES, orderReader } from '../store/orders.ts'
import { eventTypes } from './events.sql.ts'
import { countEvents, type EventRecord, followCommits, followOrder, listEvents, readEventData } from './events.ts'

const pages = pageOf(1_000)

/** Maximum size of an event's `data` in bytes: the order arguments and the other fields of the webhook body. */
const DATA_BYTES = MAX_ACTION_ARGS_BYTES + 2_000

const optionalId = (description: string) => ({ nullable: true, description }) as const

const EventType = builder.objectRef<EventRecord>('Event').implement({
  description: 'A change of one of your resources, such as an order, a payment, a commit, a delivery or a deposit.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', {
      description:
        'ID of the event, such as `event_01h2x…`. The webhook call for this event has the same `webhook-id`.',
    }),
    sequence: t.exposeInt('sequence', {
      description: 'Position of the event in your feed, from 1, without gaps. Positions of events never change.',
    }),
    type: t.exposeString('type', shortText(64, `Type of the event: ${eventTypes.join(', ')}.`)),
    createdAt: t.expose('createdAt', time('Time of the event.')),
    orderId: t.exposeID('orderId', optionalId('ID of the order of the event. Null if the event has no order.')),
    commitId: t.exposeID('commitId', optionalId('ID of the commit of the event. Null if the event has no commit.')),
    deliveryId: t.exposeID(
      'deliveryId',
      optionalId('ID of the webhook delivery of the event. The delivery may have been deleted since.'),
    ),
    data: t.field({
      ...jsonBytes(DATA_BYTES),
      type: 'JSONObject',
      nullable: true,
      description:
        'Body of the webhook call. Set only for `order.paid`, `order.refunded` and `webhook.test`, in the feed of the owner of the network app.',
      resolve: (event, _args, context) => readEventData(context, event),
    }),
    transferId: t.exposeID('transferId', optionalId('ID of the ledger transfer of the event. Null if no money moved.')),
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

builder.subscriptionFields((t) => ({
  commitUpdated: t.field({
    type: CommitType,
    description:
      'Sends a commit of this asset when the commit is accepted, and when its chain transaction is settled. Raises NOT_FOUND when there is no ' +
      'such asset that you may see, THROTTLED when too many are open.',
    args: { nid: t.arg.id({ required: true, description: 'The nid.' }) },
    subscribe: (_root, { nid }, context, info) =>
      followCommits(context, () => getAsset(context, nid), queryFromInfo({ context, info })),
    resolve: (commit) => commit,
  }),
  orderUpdated: t.field({
    type: OrderType,
    description:
      'Sends your order each time it is paid, delivered, expired, cancelled or refunded. ' +
      'Raises NOT_AUTHENTICATED, NOT_FOUND if the order does not exist or is not yours, THROTTLED if you have too many open subscriptions.',
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
}))
