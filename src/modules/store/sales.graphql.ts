import { builder, omitNullish } from '../../graphql/builder.ts'
import { characters, pageOf } from '../../graphql/limits/sizes.ts'
import { assertCursors, boundedCountDescription, offsetArg, totalCountOf, withOffset } from '../../graphql/lists.ts'
import { toId } from '../../shared/ids.ts'
import { MAX_PER_PAGE } from '../../shared/lists.ts'
import { add } from '../../shared/money.ts'
import { UserType } from '../accounts/users.graphql.ts'
import { OrderStatus } from './orders.graphql.ts'
import { shownRefunds } from './refunds.graphql.ts'

const SaleType = builder.prismaObject('Order', {
  variant: 'Sale',
  description:
    'An order as administrators see it: never its arguments, which may carry a live token. Only administrators see it.',
  select: {
    id: true,
    networkAppId: true,
    networkAppName: true,
    status: true,
    price: true,
    pointsPaid: true,
    numPaid: true,
    pointsRefunded: true,
    numRefunded: true,
    createdAt: true,
    expiresAt: true,
    paidAt: true,
    settledAt: true,
  },
  fields: (t) => ({
    orderId: t.id({ description: 'Identifier of the order.', resolve: ({ id }) => toId('order', id) }),
    status: t.field({ type: OrderStatus, description: 'Status of the order.', resolve: ({ status }) => status }),
    networkAppId: t.id({
      description: 'Identifier of the network app.',
      resolve: ({ networkAppId }) => toId('app', networkAppId),
    }),
    networkAppName: t.string({
      ...characters(100),
      description: 'Name of the network app when the order was made.',
      resolve: ({ networkAppName }) => networkAppName,
    }),
    buyer: t.relation('buyer', { type: UserType, description: 'Who ordered.' }),
    price: t.field({ type: 'Decimal', description: 'Price, frozen when it was made.', resolve: ({ price }) => price }),
    pointsPaid: t.field({ type: 'Decimal', description: 'Paid in points.', resolve: ({ pointsPaid }) => pointsPaid }),
    numPaid: t.field({ type: 'Decimal', description: 'Paid in currency units.', resolve: ({ numPaid }) => numPaid }),
    totalPaid: t.field({
      type: 'Decimal',
      description: 'Paid in all.',
      resolve: ({ pointsPaid, numPaid }) => add(pointsPaid, numPaid),
    }),
    totalRefunded: t.field({
      type: 'Decimal',
      description: 'Given back in all.',
      resolve: ({ pointsRefunded, numRefunded }) => add(pointsRefunded, numRefunded),
    }),
    refunds: t.relation('refunds', shownRefunds),
    createdAt: t.field({ type: 'DateTime', description: 'When it was made.', resolve: ({ createdAt }) => createdAt }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Until when it could be confirmed.',
      resolve: ({ expiresAt }) => expiresAt,
    }),
    paidAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was paid; null until then.',
      resolve: ({ paidAt }) => paidAt,
    }),
    settledAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it reached the status it stays in; null until then.',
      resolve: ({ settledAt }) => settledAt,
    }),
  }),
})

const SaleConnection = builder.connectionObject(
  {
    type: SaleType,
    name: 'SaleConnection',
    description: 'A page of orders as administrators see them.',
    fields: (t) => ({ totalCount: t.int({ description: boundedCountDescription, resolve: totalCountOf }) }),
  },
  { name: 'SaleEdge', description: 'An order with its cursor.' },
)

const SaleFilter = builder.inputType('SaleFilter', {
  description: 'Which orders to list; what is given must all fit.',
  fields: (t) => ({
    networkAppId: t.id({ description: 'Only those of this network app.' }),
    buyerId: t.id({ description: 'Only those of this user.' }),
    status: t.field({ type: OrderStatus, description: 'Only those with this status.' }),
  }),
})

builder.queryFields((t) => ({
  sale: t.read({
    type: SaleType,
    nullable: true,
    description: "Anybody's order, without its arguments. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND.",
    args: { orderId: t.arg.id({ required: true, description: 'Identifier of the order.' }) },
    resolve: (query, _root, { orderId }, { actor, services }) => services.sales.get(actor, orderId, query),
  }),
  sales: t.prismaConnection(
    {
      type: SaleType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description:
        "Everybody's orders, newest first, without their arguments. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED.",
      args: {
        filter: t.arg({ type: SaleFilter, description: 'Only those that fit.' }),
        offset: offsetArg(t),
      },
      totalCount: (_connection, { filter, offset }, { actor, services }) =>
        services.sales.count(actor, omitNullish(filter ?? {}), offset),
      resolve: (query, _root, { filter, offset, ...page }, { actor, services }) => {
        assertCursors('id', page)
        return services.sales.list(actor, omitNullish(filter ?? {}), withOffset(query, offset))
      },
    },
    SaleConnection,
  ),
}))
