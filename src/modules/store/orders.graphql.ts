import type { Order, Prisma } from '../../db/prisma/client.ts'
import type PrismaTypes from '../../db/prisma/pothos-types.ts'
import {
  allColumns,
  builder,
  decimal,
  maxCostField,
  omitNullish,
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
import { add } from '../../shared/money.ts'
import { readUser } from '../accounts/find-users.ts'
import { UserType } from '../accounts/users.graphql.ts'
import * as orders from './orders.ts'
import { refundOrder, refundReader } from './refunds.ts'

const OrderStatus = builder.enumType('OrderStatus', {
  description: 'Status of an order.',
  values: {
    CREATED: { description: 'The order is not confirmed yet. Nothing was charged.' },
    PENDING: { description: 'The order is paid. The webhook of the network app was not delivered yet.' },
    SUCCESS: { description: 'The order is paid. The webhook was delivered, if the network app has one.' },
    FAILURE: {
      description:
        'The order is paid, but the delivery of the webhook failed permanently. The owner of the network app settles the order with the buyer.',
    },
    EXPIRED: { description: 'The order was not confirmed in time. Nothing was charged.' },
    CANCELLED: { description: 'The buyer cancelled the order before the payment.' },
    REFUNDED: { description: 'The order was paid and completely refunded.' },
  } as const,
})

const RefundType = builder.prismaObject('Refund', {
  description:
    'A refund of an order: by an administrator, or automatic after the delivery of its webhook failed permanently. The buyer and administrators see it.',
  interfaces: [Node],
  select: allColumns('Refund'),
  fields: (t) => ({
    id: t.field(publicId('refund', 'id', 'Identifier, as in `refund_01h2x…`.')),
    orderId: t.field(publicId('order', 'orderId', 'Identifier of the order.')),
    num: t.expose('num', decimal('Amount refunded in currency units.')),
    points: t.expose('points', decimal('Amount refunded in points.')),
    total: t.field({
      ...decimal('Amount refunded in points and currency units.'),
      resolve: ({ num, points }) => add(num, points),
    }),
    reason: t.exposeString(
      'reason',
      shortText(500, 'Reason that the administrator gave. Empty for an automatic refund.'),
    ),
    transferId: t.field(publicId('transfer', 'transferId', "Identifier of the transfer in the buyer's `transfers`.")),
    createdAt: t.expose('createdAt', time('Time of the refund.')),
  }),
})

/** Maximum number of refunds that an order shows. Most refunded orders have only one. */
const MAX_IN_ORDER = 20
const oldestFirst: Prisma.RefundOrderByWithRelationInput[] = [{ numBefore: 'asc' }, { pointsBefore: 'asc' }]
const recentRefunds = {
  ...{ type: RefundType, ...atMost(MAX_IN_ORDER), query: { orderBy: oldestFirst, take: -MAX_IN_ORDER } },
  description: `The last ${MAX_IN_ORDER} refunds of the order, oldest first. The query \`refunds\` lists all refunds.`,
}

const quoteDescription = (unit: string) => `${unit} that the wallet would have paid when the order was created.`
const refundDescription = 'Amount refunded in points and currency units.'
const deadlineDescription = 'Deadline of the confirmation.'

type OrderFields = PothosSchemaTypes.PrismaObjectFieldBuilder<
  typeof builder.$inferSchemaTypes,
  PrismaTypes['Order'],
  Omit<Order, 'actionArgs'>
>

const total = (points: 'pointsPaid' | 'pointsRefunded', num: 'numPaid' | 'numRefunded', description: string) => ({
  ...decimal(description),
  resolve: (order: Omit<Order, 'actionArgs'>) => add(order[points], order[num]),
})

/** Returns the fields that orders have for their buyers and for administrators. */
const commonFields = (t: OrderFields) => ({
  status: t.expose('status', { type: OrderStatus, description: 'Status of the order.' }),
  networkAppId: t.field(publicId('app', 'networkAppId', 'Identifier of the network app.')),
  networkAppName: t.exposeString(
    'networkAppName',
    shortText(100, 'Name of the network app when the order was created.'),
  ),
  price: t.expose('price', decimal('Price of the network app when the order was created.')),
  pointsPaid: t.expose('pointsPaid', decimal('Amount paid in points.')),
  numPaid: t.expose('numPaid', decimal('Amount paid in currency units.')),
  totalPaid: t.field(total('pointsPaid', 'numPaid', 'Amount paid in points and currency units.')),
  refunds: t.relation('refunds', recentRefunds),
  createdAt: t.expose('createdAt', time('Time of creation.')),
  paidAt: t.expose('paidAt', optionalTime('Time of the payment. Null until the order is paid.')),
  settledAt: t.expose('settledAt', optionalTime('Time of the final status. Null while the status can change.')),
})

export const OrderType = builder.prismaObject('Order', {
  description: 'One purchase of a network app. Only the buyer can read the order.',
  interfaces: [Node],
  select: allColumns('Order'),
  fields: (t) => ({
    ...commonFields(t as never),
    id: t.field(publicId('order', 'id', 'Identifier, as in `order_01h2x…`.')),
    buyer: t.read({
      type: UserType,
      description: 'The user who created the order.',
      resolve: (query, { buyerId }, _args, context) => readUser(context, buyerId, query),
    }),
    actionArgs: t.field({
      ...jsonBytes(orders.MAX_ACTION_ARGS_BYTES),
      type: 'JSONObject',
      description:
        'Arguments for the webhook of the network app. Empty if the order has no arguments, or after they are erased.',
      resolve: ({ id, actionArgs }, _args, context) => orders.showActionArgs(context, id, actionArgs),
    }),
    actionArgsErasedAt: t.expose(
      'actionArgsErasedAt',
      optionalTime(
        'Time at which the arguments were erased: when the order expired, was cancelled or was refunded, or some time ' +
          'after its delivery. Null if the arguments are stored, or if the order has none.',
      ),
    ),
    pointsQuoted: t.expose('quotedPoints', decimal(quoteDescription('Points'))),
    numQuoted: t.expose('quotedNum', decimal(quoteDescription('Currency units'))),
    pointsRefunded: t.expose('pointsRefunded', decimal('Amount refunded in points.')),
    numRefunded: t.expose('numRefunded', decimal('Amount refunded in currency units.')),
    totalRefunded: t.field(total('pointsRefunded', 'numRefunded', `${refundDescription} At most the paid amount.`)),
    transferId: t.id({
      ...{ nullable: true, description: 'Identifier of the charge in your `transfers`. Null until the order is paid.' },
      resolve: ({ transferId }) => transferId && toId('transfer', transferId),
    }),
    expiresAt: t.expose('expiresAt', time(`${deadlineDescription} The order can be confirmed only before this time.`)),
  }),
})

const SaleType = builder.prismaObject('Order', {
  variant: 'Sale',
  description:
    'An order without its arguments, because they may contain a valid access token. Only administrators can read sales.',
  select: allColumns('Order', 'actionArgs'),
  fields: (t) => ({
    ...commonFields(t as never),
    orderId: t.field(publicId('order', 'id', 'Identifier of the order.')),
    buyer: t.relation('buyer', { type: UserType, description: 'The user who created the order.' }),
    totalRefunded: t.field(total('pointsRefunded', 'numRefunded', refundDescription)),
    expiresAt: t.expose('expiresAt', time(deadlineDescription)),
  }),
})

const OrderConnection = lists.connectionOf(OrderType, 'Order', ['an order', 'orders'])
const saleWords = ['an order', 'orders without their arguments'] as const
const SaleConnection = lists.connectionOf(SaleType, 'Sale', saleWords, lists.boundedCountDescription)

const SaleFilter = builder.inputType('SaleFilter', {
  description: 'Filter of orders. All given conditions must match.',
  fields: (t) => ({
    networkAppId: t.id({ description: 'Returns only orders of this network app.' }),
    buyerId: t.id({ description: 'Returns only orders of this user.' }),
    status: t.field({ type: OrderStatus, description: 'Returns only orders with this status.' }),
  }),
})

export const CreateOrderInput = builder.inputType('CreateOrderInput', {
  description: 'The order to create.',
  fields: (t) => ({
    networkApp: t.string({ required: true, description: 'Identifier or name of the network app.' }),
    actionArgs: t.field({
      type: 'JSONObject',
      description: 'Arguments for the webhook of the network app, at most 64 KB.',
    }),
    maxCost: maxCostField(t),
  }),
})

export const ConfirmOrderInput = builder.inputType('ConfirmOrderInput', {
  description: 'The order to pay.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Identifier of the order.' }), maxCost: maxCostField(t) }),
})

const CancelOrderInput = lists.idInputType('CancelOrderInput', 'The order to cancel.', 'Identifier of the order.')

const orderField = ['order', OrderType, 'The updated order.'] as const
const CreateOrderPayload = payloadType('CreateOrderPayload', 'The new order.', orderField)
const ConfirmOrderPayload = payloadType('ConfirmOrderPayload', 'The paid order.', orderField)
const CancelOrderPayload = payloadType('CancelOrderPayload', 'The cancelled order.', orderField)

builder.queryFields((t) => ({
  order: t.read({
    type: OrderType,
    nullable: true,
    description: 'One of your orders. Raises NOT_AUTHENTICATED, NOT_FOUND.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the order.' }) },
    resolve: (query, _root, { id }, context) => orders.orderReader.get(context, id, query),
  }),
  orders: t.prismaConnection(
    {
      type: OrderType,
      cursor: 'id',
      ...pageOf(1000),
      description: 'Your orders, newest first. Raises NOT_AUTHENTICATED.',
      args: {
        status: t.arg({ type: OrderStatus, description: 'Returns only orders with this status.' }),
        search: lists.searchArg(t, 'the name of the network app'),
        offset: lists.offsetArg(t),
      },
      ...lists.listResolvers(orders.orderReader.list, orders.orderReader.count),
    },
    OrderConnection,
  ),
  sale: t.read({
    type: SaleType,
    nullable: true,
    description:
      'An order of any user, without its arguments. Only for administrators. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, NOT_FOUND.',
    args: { orderId: t.arg.id({ required: true, description: 'Identifier of the order.' }) },
    resolve: (query, _root, { orderId }, context) => orders.saleReader.get(context, orderId, query),
  }),
  sales: t.prismaConnection(
    {
      type: SaleType,
      cursor: 'id',
      ...pageOf(MAX_PER_PAGE),
      description:
        'The orders of all users, newest first, without their arguments. Only for administrators. ' +
        'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED.',
      args: { filter: t.arg({ type: SaleFilter, description: 'Filter of the orders.' }), offset: lists.offsetArg(t) },
      ...lists.listResolvers(orders.saleReader.list, orders.saleReader.count),
    },
    SaleConnection,
  ),
}))

builder.mutationFields((t) => ({
  createOrder: t.field({
    type: CreateOrderPayload,
    description:
      'Creates an order of a network app. Confirm it before `expiresAt`, by default within 15 minutes. Needs an API key (`x-api-key`). ' +
      'Raises UNTRUSTED_CLIENT, VALIDATION_FAILED, INVALID_NETWORK_APP_NAME, TOO_MANY_OPEN_ORDERS, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST.',
    args: { input: t.arg({ type: CreateOrderInput, required: true, description: 'The order to create.' }) },
    resolve: async (_root, { input }, context) => ({ order: await orders.createOrder(context, omitNullish(input)) }),
  }),
  confirmOrder: t.field({
    type: ConfirmOrderPayload,
    description:
      'Pays an order, exactly once. Returns a paid order unchanged. Needs an API key (`x-api-key`). Raises UNTRUSTED_CLIENT, ' +
      'NOT_FOUND, ORDER_EXPIRED, UNABLE_TO_CONFIRM_ORDER, INSUFFICIENT_FUND, PRICE_EXCEEDS_MAX_COST.',
    args: { input: t.arg({ type: ConfirmOrderInput, required: true, description: 'The order to pay.' }) },
    resolve: async (_root, { input }, context) => ({ order: await orders.confirmOrder(context, omitNullish(input)) }),
  }),
  cancelOrder: t.field({
    type: CancelOrderPayload,
    description:
      'Cancels an unpaid order. A cancelled order cannot be charged. Raises NOT_FOUND, ORDER_EXPIRED, UNABLE_TO_CANCEL_ORDER.',
    args: { input: t.arg({ type: CancelOrderInput, required: true, description: 'The order to cancel.' }) },
    resolve: async (_root, { input }, context) => ({ order: await orders.cancelOrder(context, input) }),
  }),
}))

const RefundConnection = lists.connectionOf(RefundType, 'Refund', ['a refund', 'refunds'])

builder.queryField('refunds', (t) =>
  t.prismaConnection(
    {
      type: RefundType,
      cursor: 'id',
      ...pageOf(1000),
      description:
        'The refunds of an order, oldest first. Only for its buyer and administrators. Raises NOT_AUTHENTICATED, NOT_FOUND.',
      args: {
        orderId: t.arg.id({ required: true, description: 'Identifier of the order.' }),
        search: lists.searchArg(t, 'the reason'),
        offset: lists.offsetArg(t),
      },
      ...lists.listResolvers(refundReader.list, refundReader.count),
    },
    RefundConnection,
  ),
)

export const RefundOrderInput = builder.inputType('RefundOrderInput', {
  description: 'The refund to create.',
  fields: (t) => ({
    orderId: t.id({ required: true, description: 'Identifier of the order.' }),
    amount: t.field({
      type: 'Decimal',
      description: 'Amount to refund, more than 0. Defaults to the amount that is not refunded yet.',
    }),
    reason: t.string({ required: true, description: 'Reason, at most 500 characters. The buyer can read the reason.' }),
  }),
})

const RefundOrderPayload = payloadType('RefundOrderPayload', 'The new refund.', ['refund', RefundType, 'The refund.'])

builder.mutationField('refundOrder', (t) =>
  t.field({
    type: RefundOrderPayload,
    description:
      'Refunds the paid amount of an order, or a part of it. Only for administrators. The buyer gets an e-mail, and the ' +
      'webhook of the network app gets the event `order.refunded`. Raises NOT_AUTHENTICATED, PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND, UNABLE_TO_REFUND_ORDER.',
    args: { input: t.arg({ type: RefundOrderInput, required: true, description: 'The refund to create.' }) },
    resolve: showingChange('refund', refundReader, refundOrder),
  }),
)
