/** What callers can wait for, over server-sent events, in whichever process it happens. */
import { builder } from './builder.ts'
import { CommitType } from './commit.ts'
import { OrderType } from './order.ts'

builder.subscriptionType({
  description: 'Waiting for changes, as server-sent events: send `Accept: text/event-stream`.',
})

builder.subscriptionField('commitUpdated', (t) =>
  t.field({
    type: CommitType,
    description:
      'A commit of this asset, each time one is accepted or its chain transaction is settled. Raises NOT_FOUND when there is no ' +
      'such asset that you may see.',
    args: { nid: t.arg.id({ required: true, description: 'The nid.' }) },
    subscribe: async (_root, { nid }, { actor, services }) =>
      services.events.followCommits(actor, await services.assets.get(actor, nid)),
    resolve: (commit) => commit as never,
  }),
)

builder.subscriptionField('orderUpdated', (t) =>
  t.field({
    type: OrderType,
    description:
      'Your order, each time something happens to it: it is paid, delivered, expired, cancelled or refunded. ' +
      'Raises NOT_AUTHENTICATED, and NOT_FOUND when there is no such order that you may see.',
    args: { id: t.arg.id({ required: true, description: 'The order.' }) },
    subscribe: async (_root, { id }, { actor, services }) => {
      const order = await services.orders.get(actor, id)
      return services.events.followOrder(actor, { id: order.id, ownerId: order.buyerId }, () =>
        services.orders.find(actor, order.id),
      )
    },
    resolve: (order) => order as never,
  }),
)
