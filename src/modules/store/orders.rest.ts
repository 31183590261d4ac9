import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineRoute, get, post, type RestRequest } from '../../http/rest/define-route.ts'
import type { OrderRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import {
  always,
  amount,
  anyObject,
  givenAmount,
  givenObject,
  moment,
  neededText,
  objectOf,
  orderParam,
  same,
  sameFields,
  snakeCased,
} from '../../http/rest/values.ts'
import { maxCostOf, quoteRoute } from '../wallet/quotes.rest.ts'

export const OrderRecord = graphql(/* GraphQL */ `
  fragment OrderRecord on Order {
    id status networkAppId networkAppName actionArgs price pointsQuoted numQuoted pointsPaid numPaid
    transferId createdAt expiresAt
    buyer { email }
  }
`)

const orderRecord = objectOf('Order', 'One purchase of a network app. Only its buyer sees it.', {
  id: same('Order.id', z.string()),
  status: z
    .enum(['created', 'pending', 'success', 'failure'])
    .describe(
      '`created`: not confirmed yet. `pending`: paid, and the webhook was not delivered yet. `success`: paid, and the webhook was delivered if there is one. `failure`: expired, cancelled, refunded, or the delivery of the webhook failed permanently.',
    ),
  ...sameFields('Order', { network_app_id: z.string(), network_app_name: z.string() }),
  action: z.string().describe('The same as `network_app_name`.'),
  action_args: anyObject.describe('Arguments for the webhook, as they were sent. An empty object if there were none.'),
  price: same('Order.price', amount),
  fee: z.literal('0').describe('Always 0. The price includes all fees.'),
  num_charged: same('Order.numQuoted', amount),
  points_charged: same('Order.pointsQuoted', amount),
  ...sameFields('Order', { num_paid: amount, points_paid: amount }),
  total_cost: amount.describe('The same as `price`.'),
  quantity: z.literal(1).describe('Always 1.'),
  fund_crypto_transaction_id: always(null),
  fund_tx_hash: always(''),
  payment_crypto_transaction_id: same('Order.transferId', z.string().nullable()),
  payment_tx_hash: z.string().describe('The same as `payment_crypto_transaction_id`. Empty until the order is paid.'),
  workflow_id: always(null),
  owner: z.string().describe('E-mail address of the buyer.'),
  created_at: same('Order.createdAt', moment),
  expired_at: same('Order.expiresAt', moment),
})

type OrderResponse = z.output<typeof orderRecord>

/** REST names of the order statuses. Old clients know only four. An order that ended without the paid action has the status of a failure. */
const statuses: Record<OrderRecordFragment['status'], OrderResponse['status']> = {
  CREATED: 'created',
  PENDING: 'pending',
  SUCCESS: 'success',
  FAILURE: 'failure',
  EXPIRED: 'failure',
  CANCELLED: 'failure',
  REFUNDED: 'failure',
}

const presentOrder = (order: OrderRecordFragment): OrderResponse => ({
  id: order.id,
  status: statuses[order.status],
  network_app_id: order.networkAppId,
  network_app_name: order.networkAppName,
  action: order.networkAppName,
  action_args: order.actionArgs,
  price: order.price,
  // The fee is always zero, because the price includes the platform's share.
  fee: '0',
  num_charged: order.numQuoted,
  points_charged: order.pointsQuoted,
  num_paid: order.numPaid,
  points_paid: order.pointsPaid,
  total_cost: order.price,
  quantity: 1,
  // These fields are empty, because no transaction funds a single order. Wallets are funded in advance.
  fund_crypto_transaction_id: null,
  fund_tx_hash: '',
  payment_crypto_transaction_id: order.transferId,
  payment_tx_hash: order.transferId ?? '',
  workflow_id: null,
  // Always present, because only the buyer can read the order.
  owner: order.buyer.email!,
  created_at: order.createdAt,
  expired_at: order.expiresAt,
})

const orderBody = objectOf('CreateOrder', 'The order to create.', {
  ...sameFields('CreateOrderInput', { network_app: neededText(100), action_args: givenObject.optional() }),
  ...sameFields('CreateOrderInput', { max_cost: givenAmount.optional() }),
})

// Old clients also send `price`, which is ignored.
const orderFrom = (request: RestRequest) => ({
  networkApp: request.body.text('network_app') ?? '',
  actionArgs: request.body.object('action_args'),
  maxCost: maxCostOf(request),
})

const quoteCreation = quoteRoute({
  path: 'quotes/network-app-orders',
  operationId: 'quoteCreateOrder',
  summary: 'Quote an order',
  description: 'The cost is charged when the order is confirmed.',
  apiKey: 'needed',
  body: orderBody,
  action: 'order:create',
  inputOf: (request) => ({ createOrder: orderFrom(request) }),
})

const create = defineRoute({
  ...post('store/network-app-orders', 'createOrder', 'Orders', 'Create an order of a network app'),
  description: 'Nothing is charged yet. Confirm the order before `expired_at`, by default within 15 minutes.',
  apiKey: 'needed',
  errors: [
    'CONFLICT',
    'INSUFFICIENT_FUND',
    'INVALID_NETWORK_APP_NAME',
    'PRICE_EXCEEDS_MAX_COST',
    'TOO_MANY_OPEN_ORDERS',
  ],
  body: orderBody,
  action: 'order:create',
  operation: graphql(/* GraphQL */ `
    mutation RestCreateOrder($input: CreateOrderInput!) {
      createOrder(input: $input) { order { ...OrderRecord } }
    }
  `),
  variables: (request) => ({ input: orderFrom(request) }),
  status: 201,
  answer: orderRecord,
  present: ({ createOrder }) => presentOrder(createOrder.order),
  quote: quoteCreation,
})

const confirmationBody = objectOf('ConfirmOrder', 'The maximum cost.', {
  max_cost: same('ConfirmOrderInput.maxCost', givenAmount).optional(),
})

const confirmationFrom = (request: RestRequest) => ({ id: request.params.id!, maxCost: maxCostOf(request) })

const quoteConfirmation = quoteRoute({
  path: 'quotes/network-app-orders/:id/confirm',
  operationId: 'quoteConfirmOrder',
  summary: 'Quote the payment of an order',
  description: 'The cost of a paid order is 0.',
  apiKey: 'needed',
  params: orderParam,
  body: confirmationBody,
  action: 'order:pay',
  inputOf: (request) => ({ confirmOrder: confirmationFrom(request) }),
})

const confirm = defineRoute({
  ...post('store/network-app-orders/:id/confirm', 'confirmOrder', 'Orders', 'Pay an order'),
  description: 'Charges the wallet exactly once. Returns a paid order unchanged.',
  apiKey: 'needed',
  params: orderParam,
  errors: ['CONFLICT', 'INSUFFICIENT_FUND', 'ORDER_EXPIRED', 'PRICE_EXCEEDS_MAX_COST', 'UNABLE_TO_CONFIRM_ORDER'],
  body: confirmationBody,
  action: 'order:pay',
  operation: graphql(/* GraphQL */ `
    mutation RestConfirmOrder($input: ConfirmOrderInput!) {
      confirmOrder(input: $input) { order { ...OrderRecord } }
    }
  `),
  variables: (request) => ({ input: confirmationFrom(request) }),
  answer: orderRecord,
  present: ({ confirmOrder }) => presentOrder(confirmOrder.order),
  quote: quoteConfirmation,
})

const cancel = defineRoute({
  ...post('store/network-app-orders/:id/cancel', 'cancelOrder', 'Orders', 'Cancel an unpaid order'),
  params: orderParam,
  errors: ['CONFLICT', 'ORDER_EXPIRED', 'UNABLE_TO_CANCEL_ORDER'],
  action: 'order:cancel',
  operation: graphql(/* GraphQL */ `
    mutation RestCancelOrder($input: CancelOrderInput!) {
      cancelOrder(input: $input) { order { ...OrderRecord } }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  answer: orderRecord,
  present: ({ cancelOrder }) => presentOrder(cancelOrder.order),
})

const read = defineRoute({
  ...get('store/network-app-orders/:id', 'getOrder', 'Orders', 'Read an order'),
  params: orderParam,
  action: 'order:read',
  operation: graphql(/* GraphQL */ `
    query RestOrder($id: ID!) { order(id: $id) { ...OrderRecord } }
  `),
  variables: ({ params }) => ({ id: params.id! }),
  answer: orderRecord,
  present: ({ order }) => presentOrder(order!),
})

const list = defineList({
  ...get('store/network-app-orders', 'listOrders', 'Orders', 'List your orders, newest first'),
  action: 'order:read',
  record: orderRecord,
  plural: 'Orders',
  searched: 'the name of the network app',
  order: 'newest',
  operation: graphql(/* GraphQL */ `
    query RestOrders($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      orders(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount pageInfo { startCursor endCursor } nodes { ...OrderRecord }
      }
    }
  `),
  present: presentOrder,
})

export const RefundRecord = graphql(/* GraphQL */ `
  fragment RefundRecord on Refund {
    id orderId num points total reason transferId createdAt
  }
`)

const refundRecord = objectOf('Refund', 'A refund of an order.', {
  ...sameFields('Refund', { id: z.string(), order_id: z.string(), num: amount, points: amount, total: amount }),
  ...sameFields('Refund', { reason: z.string(), transfer_id: z.string(), created_at: moment }),
})

const listRefunds = defineList({
  ...get('store/network-app-orders/:id/refunds', 'listRefunds', 'Orders', 'List the refunds of an order, oldest first'),
  description: 'Only for its buyer and administrators.',
  params: orderParam,
  action: 'order:read',
  record: refundRecord,
  plural: 'Refunds',
  searched: 'the reason',
  order: 'oldest',
  operation: graphql(/* GraphQL */ `
    query RestRefunds($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      refunds(orderId: $id, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount pageInfo { startCursor endCursor } nodes { ...RefundRecord }
      }
    }
  `),
  variables: ({ params }, part) => ({ id: params.id!, ...part }),
  present: snakeCased,
})

const refundBody = objectOf('RefundOrder', 'The amount and the reason.', {
  ...sameFields('RefundOrderInput', { amount: givenAmount.optional(), reason: neededText(500) }),
})

const refundFrom = ({ params, body }: RestRequest) => ({
  orderId: params.id!,
  amount: body.amount('amount'),
  // A missing reason is passed on as empty text. `refundOrder` then reports it together with all other problems.
  reason: body.text('reason') ?? '',
})

const quoteRefund = quoteRoute({
  path: 'quotes/network-app-orders/:id/refunds',
  operationId: 'quoteRefundOrder',
  summary: 'Quote the refund of an order',
  params: orderParam,
  body: refundBody,
  action: 'store:administer',
  type: 'RefundQuote',
  inputOf: (request) => ({ refundOrder: refundFrom(request) }),
})

const refund = defineRoute({
  ...post('store/network-app-orders/:id/refunds', 'refundOrder', 'Store', 'Refund an order, completely or in part'),
  description:
    'Never more than was paid. The buyer gets an e-mail, and the webhook of the network app gets the event `order.refunded`.',
  params: orderParam,
  errors: ['CONFLICT', 'UNABLE_TO_REFUND_ORDER'],
  body: refundBody,
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestRefundOrder($input: RefundOrderInput!) {
      refundOrder(input: $input) { refund { ...RefundRecord } }
    }
  `),
  variables: (request) => ({ input: refundFrom(request) }),
  status: 201,
  answer: refundRecord,
  present: ({ refundOrder }) => snakeCased(refundOrder.refund),
  quote: quoteRefund,
})

export const orderRoutes = [
  ...[create, quoteCreation, confirm, quoteConfirmation, cancel, read, list],
  ...[listRefunds, refund, quoteRefund],
]
