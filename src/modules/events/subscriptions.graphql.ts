import { queryFromInfo } from '@pothos/plugin-prisma'
import { builder } from '../../graphql/builder.ts'
import { getAsset } from '../assets/find-asset.ts'
import { CommitType } from '../commits/commits.graphql.ts'
import { OrderType } from '../store/orders.graphql.ts'
import { findOrder, getOrder } from '../store/orders.ts'
import { followCommits, followOrder } from './follow-events.ts'

builder.subscriptionType({
  description: 'Waiting for changes, as server-sent events: send `Accept: text/event-stream`.',
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
      return followOrder(context, () => getOrder(context, id), {
        key: JSON.stringify(query),
        load: (uuid) => findOrder(context, uuid, query),
      })
    },
    resolve: (order) => order,
  }),
)
