import { z } from 'zod'
import { defineRoute, get, post, type RestRequest } from '../../http/rest/define-route.ts'
import * as values from '../../http/rest/fields.ts'
import type { OrderRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList } from '../../http/rest/lists.ts'
import { quoteRoute } from '../wallet/quotes.rest.ts'

export const OrderRecord = graphql(/* GraphQL */ `
  fragment OrderRecord on Order {
    id status networkAppId networkAppName actionArgs price pointsQuoted numQuoted pointsPaid numPaid
    transferId createdAt expiresAt
    buyer { email }
  }
`)

/** Old clients know only four statuses, so all orders without success become `failure`. */
const statusOf = (status: OrderRecordFragment['status']) =>
  status === 'CREATED' || status === 'PENDING' || status === 'SUCCESS' ? values.lowerCase(status) : 'failure'

const statusSchema = z
  .enum(['created', 'pending', 'success', 'failure'])
  .describe(
    '`created`: not confirmed yet. `pending`: paid, and the webhook was not delivered yet. `success`: paid, and the webhook was delivered if there is one. `failure`: expired, cancelled, refunded, or the delivery of the webhook failed permanently.',
  )
const argumentsSchema = values.anyObject.describe(
  'Arguments for the webhook, as the client sent them. An empty object if the client sent none.',
)
const chargeSchema = z.string().describe('The same as `payment_crypto_transaction_id`. Empty until the order is paid.')

/** Three fields are always empty, because wallets are funded in advance. */
const { schema: orderSchema, present: presentOrder } = values.defineRecord<OrderRecordFragment>()(
  { id: 'Order', description: 'One purchase of a network app. Only the buyer can read the order.' },
  {
    id: [values.same('Order.id', z.string()), ({ id }) => id],
    status: [statusSchema, ({ status }) => statusOf(status)],
    network_app_id: [values.same('Order.networkAppId', z.string()), ({ networkAppId }) => networkAppId],
    network_app_name: [values.same('Order.networkAppName', z.string()), ({ networkAppName }) => networkAppName],
    action: [z.string().describe('The same as `network_app_name`.'), ({ networkAppName }) => networkAppName],
    action_args: [argumentsSchema, ({ actionArgs }) => actionArgs],
    price: [values.same('Order.price', values.amount), ({ price }) => price],
    fee: [z.literal('0').describe('Always 0. The price includes all fees.'), () => '0' as const],
    num_charged: [values.same('Order.numQuoted', values.amount), ({ numQuoted }) => numQuoted],
    points_charged: [values.same('Order.pointsQuoted', values.amount), ({ pointsQuoted }) => pointsQuoted],
    num_paid: [values.same('Order.numPaid', values.amount), ({ numPaid }) => numPaid],
    points_paid: [values.same('Order.pointsPaid', values.amount), ({ pointsPaid }) => pointsPaid],
    total_cost: [values.amount.describe('The same as `price`.'), ({ price }) => price],
    quantity: [z.literal(1).describe('Always 1.'), () => 1 as const],
    fund_crypto_transaction_id: values.constantField(null),
    fund_tx_hash: values.constantField(''),
    payment_crypto_transaction_id: [
      values.same('Order.transferId', z.string().nullable()),
      ({ transferId }) => transferId,
    ],
    payment_tx_hash: [chargeSchema, ({ transferId }) => transferId ?? ''],
    workflow_id: values.constantField(null),
    // Always present, because only the buyer can read the order.
    owner: [z.string().describe('E-mail address of the buyer.'), ({ buyer }) => buyer.email!],
    created_at: [values.same('Order.createdAt', values.time), ({ createdAt }) => createdAt],
    expired_at: [values.same('Order.expiresAt', values.time), ({ expiresAt }) => expiresAt],
  },
)

const chargeErrors = ['CONFLICT', 'INSUFFICIENT_FUND', 'PRICE_EXCEEDS_MAX_COST'] as const

// Old clients also send `price`, which is ignored.
const orderFrom = (request: RestRequest) => ({
  networkApp: request.body.text('network_app') ?? '',
  actionArgs: request.body.object('action_args'),
  maxCost: values.maxCostOf(request),
})

const creation = {
  apiKey: 'needed',
  action: 'order:create',
  body: values.objectOf('CreateOrder', 'The order to create.', {
    ...values.sameFields('CreateOrderInput', {
      network_app: values.neededText(100),
      action_args: values.givenObject.optional(),
    }),
    ...values.sameFields('CreateOrderInput', { max_cost: values.givenAmount.optional() }),
  }),
} as const

const quoteCreation = quoteRoute({
  ...creation,
  path: 'quotes/network-app-orders',
  operationId: 'quoteCreateOrder',
  summary: 'Quote an order',
  description: 'The cost is charged when the order is confirmed.',
  inputOf: (request) => ({ createOrder: orderFrom(request) }),
})

const create = defineRoute({
  ...creation,
  ...post('store/network-app-orders', 'createOrder', 'Orders', 'Create an order of a network app'),
  description: 'Nothing is charged yet. Confirm the order before `expired_at`, by default within 15 minutes.',
  errors: [...chargeErrors, 'INVALID_NETWORK_APP_NAME', 'TOO_MANY_OPEN_ORDERS'],
  operation: graphql(/* GraphQL */ `
    mutation RestCreateOrder($input: CreateOrderInput!) {
      createOrder(input: $input) { order { ...OrderRecord } }
    }
  `),
  variables: (request) => ({ input: orderFrom(request) }),
  status: 201,
  answer: orderSchema,
  present: ({ createOrder }) => presentOrder(createOrder.order),
  quote: quoteCreation,
})

const confirmation = {
  apiKey: 'needed',
  params: values.orderParam,
  action: 'order:pay',
  body: values.objectOf('ConfirmOrder', 'Limit of the cost of the order.', {
    max_cost: values.same('ConfirmOrderInput.maxCost', values.givenAmount).optional(),
  }),
} as const

const confirmationFrom = (request: RestRequest) => ({ id: request.params.id!, maxCost: values.maxCostOf(request) })

const quoteConfirmation = quoteRoute({
  ...confirmation,
  path: 'quotes/network-app-orders/:id/confirm',
  operationId: 'quoteConfirmOrder',
  summary: 'Quote the payment of an order',
  description: 'The quoted cost of an already paid order is 0.',
  inputOf: (request) => ({ confirmOrder: confirmationFrom(request) }),
})

const confirm = defineRoute({
  ...confirmation,
  ...post('store/network-app-orders/:id/confirm', 'confirmOrder', 'Orders', 'Pay an order'),
  description: 'Charges the wallet exactly once. Returns a paid order unchanged.',
  errors: [...chargeErrors, 'ORDER_EXPIRED', 'UNABLE_TO_CONFIRM_ORDER'],
  operation: graphql(/* GraphQL */ `
    mutation RestConfirmOrder($input: ConfirmOrderInput!) {
      confirmOrder(input: $input) { order { ...OrderRecord } }
    }
  `),
  variables: (request) => ({ input: confirmationFrom(request) }),
  answer: orderSchema,
  present: ({ confirmOrder }) => presentOrder(confirmOrder.order),
  quote: quoteConfirmation,
})

const cancel = defineRoute({
  ...post('store/network-app-orders/:id/cancel', 'cancelOrder', 'Orders', 'Cancel an unpaid order'),
  params: values.orderParam,
  errors: ['CONFLICT', 'ORDER_EXPIRED', 'UNABLE_TO_CANCEL_ORDER'],
  action: 'order:cancel',
  operation: graphql(/* GraphQL */ `
    mutation RestCancelOrder($input: CancelOrderInput!) {
      cancelOrder(input: $input) { order { ...OrderRecord } }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  answer: orderSchema,
  present: ({ cancelOrder }) => presentOrder(cancelOrder.order),
})

const read = defineRoute({
  ...get('store/network-app-orders/:id', 'getOrder', 'Orders', 'Read an order'),
  params: values.orderParam,
  action: 'order:read',
  operation: graphql(/* GraphQL */ `
    query RestOrder($id: ID!) { order(id: $id) { ...OrderRecord } }
  `),
  variables: ({ params }) => ({ id: params.id! }),
  answer: orderSchema,
  present: ({ order }) => presentOrder(order!),
})

const list = defineList({
  ...get('store/network-app-orders', 'listOrders', 'Orders', 'List your orders, newest first'),
  action: 'order:read',
  record: orderSchema,
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

const refundRecord = values.objectOf('Refund', 'A refund of an order.', {
  ...values.sameFields('Refund', {
    id: z.string(),
    order_id: z.string(),
    num: values.amount,
    points: values.amount,
    total: values.amount,
  }),
  ...values.sameFields('Refund', { reason: z.string(), transfer_id: z.string(), created_at: values.time }),
})

const listRefunds = defineList({
  ...get('store/network-app-orders/:id/refunds', 'listRefunds', 'Orders', 'List the refunds of an order, oldest first'),
  description: 'Only the buyer of the order and administrators can read the refunds.',
  params: values.orderParam,
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
  present: values.snakeCased,
})

const refunding = {
  params: values.orderParam,
  action: 'store:administer',
  body: values.objectOf('RefundOrder', 'The amount and the reason of the refund.', {
    ...values.sameFields('RefundOrderInput', { amount: values.givenAmount.optional(), reason: values.neededText(500) }),
  }),
} as const

const refundFrom = ({ params, body }: RestRequest) => ({
  orderId: params.id!,
  amount: body.amount('amount'),
  // A missing reason is passed on as empty text. `refundOrder` then reports it together with all other problems.
  reason: body.text('reason') ?? '',
})

const quoteRefund = quoteRoute({
  ...refunding,
  path: 'quotes/network-app-orders/:id/refunds',
  operationId: 'quoteRefundOrder',
  summary: 'Quote the refund of an order',
  type: 'RefundQuote',
  inputOf: (request) => ({ refundOrder: refundFrom(request) }),
})

const refund = defineRoute({
  ...refunding,
  ...post('store/network-app-orders/:id/refunds', 'refundOrder', 'Store', 'Refund an order, completely or in part'),
  description:
    'Refunds at most the paid amount. The buyer gets an e-mail, and the webhook of the network app gets the event `order.refunded`.',
  errors: ['CONFLICT', 'UNABLE_TO_REFUND_ORDER'],
  operation: graphql(/* GraphQL */ `
    mutation RestRefundOrder($input: RefundOrderInput!) {
      refundOrder(input: $input) { refund { ...RefundRecord } }
    }
  `),
  variables: (request) => ({ input: refundFrom(request) }),
  status: 201,
  answer: refundRecord,
  present: ({ refundOrder }) => values.snakeCased(refundOrder.refund),
  quote: quoteRefund,
})

export const orderRoutes = [
  ...[create, quoteCreation, confirm, quoteConfirmation, cancel, read, list],
  ...[listRefunds, refund, quoteRefund],
]
