import type { Order } from '../../db/prisma/client.ts'
import { builder, maxCostField, omitNullish } from '../../graphql/builder.ts'
import { characters, jsonBytes, pageOf } from '../../graphql/limits/sizes.ts'
import {
  assertCursors,
  offsetArg,
  searchArg,
  totalCountDescription,
  totalCountOf,
  withOffset,
} from '../../graphql/lists.ts'
import { Node } from '../../graphql/node.ts'
import { toId } from '../../shared/ids.ts'
import { add } from '../../shared/money.ts'
import { UserType } from '../accounts/users.graphql.ts'
import { cancelOrder } from './cancel-order.ts'
import { confirmOrder } from './confirm-order.ts'
import { createOrder, MAX_ACTION_ARGS_BYTES } from './create-order.ts'
import { countOrders, getOrder, listOrders } from './orders.ts'
import { shownRefunds } from './refunds.graphql.ts'

/** The status of an order. */
export const OrderStatus = builder.enumType('OrderStatus', {
  description: 'Status of an order.',
  values: {
    CREATED: { description: 'To be confirmed before it expires; nothing was charged.' },
    PENDING: { description: 'Paid; the webhook of the network app was not delivered yet.' },
    SUCCESS: { description: 'Paid, and the webhook delivered if there is one.' },
    FAILURE: { description: 'Paid, and the webhook given up; the owner of the network app settles it with the buyer.' },
    EXPIRED: { description: 'Not confirmed in time; nothing was charged.' },
    CANCELLED: { description: 'Withdrawn before it was paid.' },
    REFUNDED: { description: 'Paid, and all of the money given back.' },
  } as const,
})

/** `Order`, for its buyer alone. */
export const OrderType = builder.prismaObject('Order', {
  description: 'One purchase of a network app. Only its buyer sees it.',
  interfaces: [Node],
  select: {
    id: true,
    buyerId: true,
    networkAppId: true,
    networkAppName: true,
    status: true,
    actionArgs: true,
    actionArgsErasedAt: true,
    price: true,
    quotedPoints: true,
    quotedNum: true,
    pointsPaid: true,
    numPaid: true,
    pointsRefunded: true,
    numRefunded: true,
    transferId: true,
    createdAt: true,
    expiresAt: true,
    paidAt: true,
    settledAt: true,
  },
  fields: (t) => ({
    id: t.id({ description: 'Identifier, as in `order_01h2x…`.', resolve: ({ id }) => toId('order', id) }),
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
    buyer: t.read({
      type: UserType,
      description: 'Who ordered.',
      resolve: (query, { buyerId }, _args, { actor, services }) =>
        services.accounts.asSignedIn(actor, buyerId, query) ?? services.accounts.get(buyerId, query),
    }),
    actionArgs: t.field({
      ...jsonBytes(MAX_ACTION_ARGS_BYTES),
      type: 'JSONObject',
      description:
        'Arguments for the webhook of the network app. Empty when there were none, and once they are erased because the order is over.',
      resolve: ({ id, actionArgs }, _args, context) => context.actionArgs.show(id, actionArgs),
    }),
    actionArgsErasedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When its arguments were erased: at once when it expires, is cancelled or refunded, and a while after it was served. Null while they are kept, and when there were none.',
      resolve: ({ actionArgsErasedAt }) => actionArgsErasedAt,
    }),
    price: t.field({ type: 'Decimal', description: 'Price, frozen when it was made.', resolve: ({ price }) => price }),
    pointsQuoted: t.field({
      type: 'Decimal',
      description: 'What the wallet would have paid in points when the order was made.',
      resolve: ({ quotedPoints }) => quotedPoints,
    }),
    numQuoted: t.field({
      type: 'Decimal',
      description: 'What the wallet would have paid in currency units when the order was made.',
      resolve: ({ quotedNum }) => quotedNum,
    }),
    pointsPaid: t.field({ type: 'Decimal', description: 'Paid in points.', resolve: ({ pointsPaid }) => pointsPaid }),
    numPaid: t.field({ type: 'Decimal', description: 'Paid in currency units.', resolve: ({ numPaid }) => numPaid }),
    totalPaid: t.field({
      type: 'Decimal',
      description: 'Paid in all.',
      resolve: ({ pointsPaid, numPaid }) => add(pointsPaid, numPaid),
    }),
    pointsRefunded: t.field({
      type: 'Decimal',
      description: 'Given back in points.',
      resolve: ({ pointsRefunded }) => pointsRefunded,
    }),
    numRefunded: t.field({
      type: 'Decimal',
      description: 'Given back in currency units.',
      resolve: ({ numRefunded }) => numRefunded,
    }),
    totalRefunded: t.field({
      type: 'Decimal',
      description: 'Given back in all; never more than was paid.',
      resolve: ({ pointsRefunded, numRefunded }) => add(pointsRefunded, numRefunded),
    }),
    refunds: t.relation('refunds', shownRefunds),
    transferId: t.id({
      nullable: true,
      description: 'Identifier of the charge, as it stands in your transfers; null until it is paid.',
      resolve: ({ transferId }) => (transferId ? toId('transfer', transferId) : null),
    }),
    createdAt: t.field({ type: 'DateTime', description: 'When it was made.', resolve: ({ createdAt }) => createdAt }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Until when it can be confirmed: from this moment on it is too late.',
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

const OrderConnection = builder.connectionObject(
  {
    type: OrderType,
    name: 'OrderConnection',
    description: 'A page of orders.',
    fields: (t) => ({ totalCount: t.int({ description: totalCountDescription, resolve: totalCountOf }) }),
  },
  { name: 'OrderEdge', description: 'An order with its cursor.' },
)

/** What an order takes; a quote of one takes the same. */
export const CreateOrderInput = builder.inputType('CreateOrderInput', {
  description: 'What to buy.',
  fields: (t) => ({
    networkApp: t.string({ required: true, description: 'Identifier or name of the network app.' }),
    actionArgs: t.field({ type: 'JSONObject', description: 'Arguments for its webhook, at most 64 KB.' }),
    maxCost: maxCostField(t),
  }),
})

/** What a confirmation takes; a quote of one takes the same. */
export const ConfirmOrderInput = builder.inputType('ConfirmOrderInput', {
  description: 'What to pay.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Identifier of the order.' }),
    maxCost: maxCostField(t),
  }),
})

const CancelOrderInput = builder.inputType('CancelOrderInput', {
  description: 'Which order to cancel.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Identifier of the order.' }) }),
})

const orderPayload = (name: string, description: string) =>
  builder.objectRef<{ order: Order }>(name).implement({
    description,
    fields: (t) => ({
      order: t.expose('order', { type: OrderType, description: 'The order as it is now.' }),
    }),
  })
const CreateOrderPayload = orderPayload('CreateOrderPayload', 'The new order.')
const ConfirmOrderPayload = orderPayload('ConfirmOrderPayload', 'The paid order.')
const CancelOrderPayload = orderPayload('CancelOrderPayload', 'The cancelled order.')

builder.queryFields((t) => ({
  order: t.read({
    type: OrderType,
    nullable: true,
    description: 'One of your orders. Raises NOT_AUTHENTICATED, NOT_FOUND.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the order.' }) },
    resolve: (query, _root, { id }, context) => getOrder(context, id, query),
  }),
  orders: t.prismaConnection(
    {
      type: OrderType,
      cursor: 'id',
      ...pageOf(1000),
      description: 'Your orders, newest first. Raises NOT_AUTHENTICATED.',
      args: {
        status: t.arg({ type: OrderStatus, description: 'Only those with this status.' }),
        search: searchArg(t, 'the name of the network app'),
        offset: offsetArg(t),
      },
      totalCount: (_connection, { status, search }, context) => countOrders(context, omitNullish({ status, search })),
      resolve: (query, _root, { status, search, offset, ...page }, context) => {
        assertCursors('id', page)
        const filter = omitNullish({ status, search })
        return listOrders(context, filter, { ...withOffset(query, offset), cutsPages: context.cutsPages })
      },
    },
    OrderConnection,
  ),
}))

builder.mutationFields((t) => ({
  createOrder: t.field({
    type: CreateOrderPayload,
    description:
      'Orders a network app; to be confirmed within 15 minutes unless the operator says otherwise (`expiresAt`). Needs an API key (`x-api-key`). Raises UNTRUSTED_CLIENT, ' +
      'VALIDATION_FAILED, INVALID_NETWORK_APP_NAME, TOO_MANY_OPEN_ORDERS, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST.',
    args: { input: t.arg({ type: CreateOrderInput, required: true, description: 'What to buy.' }) },
    resolve: async (_root, { input }, context) => ({ order: await createOrder(context, omitNullish(input)) }),
  }),
  confirmOrder: t.field({
    type: ConfirmOrderPayload,
    description:
      'Pays an order, exactly once; a paid one is answered as it is. Needs an API key (`x-api-key`). Raises UNTRUSTED_CLIENT, ' +
      'NOT_FOUND, ORDER_EXPIRED, UNABLE_TO_CONFIRM_ORDER, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST.',
    args: { input: t.arg({ type: ConfirmOrderInput, required: true, description: 'What to pay.' }) },
    resolve: async (_root, { input }, context) => ({ order: await confirmOrder(context, omitNullish(input)) }),
  }),
  cancelOrder: t.field({
    type: CancelOrderPayload,
    description:
      'Cancels an order that is not paid: nothing is charged for it any more. Raises NOT_FOUND, ORDER_EXPIRED, UNABLE_TO_CANCEL_ORDER.',
    args: { input: t.arg({ type: CancelOrderInput, required: true, description: 'The order.' }) },
    resolve: async (_root, { input }, context) => ({ order: await cancelOrder(context, input) }),
  }),
}))
