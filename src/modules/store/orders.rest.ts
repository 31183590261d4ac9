import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineRoute, type RestRequest } from '../../http/rest/define-route.ts'
import type { RefundRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { amount, givenAmount, givenObject, moment, neededText, orderParam, same } from '../../http/rest/values.ts'
import { maxCostOf, quoteRoute } from '../wallet/quotes.rest.ts'
import { orderRecord, presentOrder } from './present-order.ts'

/** The GraphQL fields that the record of a refund needs. */
export const RefundRecord = graphql(/* GraphQL */ `
  fragment RefundRecord on Refund {
    id
    orderId
    num
    points
    total
    reason
    transferId
    createdAt
  }
`)

/** A refund as it is answered. */
const refundRecord = z
  .object({
    id: same('Refund.id', z.string()),
    order_id: same('Refund.orderId', z.string()),
    num: same('Refund.num', amount),
    points: same('Refund.points', amount),
    total: same('Refund.total', amount),
    reason: same('Refund.reason', z.string()),
    transfer_id: same('Refund.transferId', z.string()),
    created_at: same('Refund.createdAt', moment),
  })
  .meta({ id: 'Refund', description: 'What was given back of an order.' })

/** A refund. */
const presentRefund = (refund: RefundRecordFragment): z.output<typeof refundRecord> => ({
  id: refund.id,
  order_id: refund.orderId,
  num: refund.num,
  points: refund.points,
  total: refund.total,
  reason: refund.reason,
  transfer_id: refund.transferId,
  created_at: refund.createdAt,
})

const orderBody = z
  .object({
    network_app: same('CreateOrderInput.networkApp', neededText(100)),
    action_args: same('CreateOrderInput.actionArgs', givenObject).optional(),
    max_cost: same('CreateOrderInput.maxCost', givenAmount).optional(),
  })
  .meta({ id: 'CreateOrder', description: 'What to buy.' })

// `price` is sent by old callers and means nothing: the app has its own.
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
  method: 'POST',
  path: 'store/network-app-orders',
  operationId: 'createOrder',
  tag: 'Orders',
  summary: 'Order an action of a network app',
  description:
    'Nothing is charged before it is confirmed, which has to be done within 15 minutes unless the operator says otherwise (`expired_at`).',
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
      createOrder(input: $input) {
        order {
          ...OrderRecord
        }
      }
    }
  `),
  variables: (request) => ({ input: orderFrom(request) }),
  status: 201,
  answer: orderRecord,
  present: ({ createOrder }) => presentOrder(createOrder.order),
  quote: quoteCreation,
})

const confirmationBody = z
  .object({ max_cost: same('ConfirmOrderInput.maxCost', givenAmount).optional() })
  .meta({ id: 'ConfirmOrder', description: 'The maximum cost.' })

const confirmationFrom = (request: RestRequest) => ({ id: request.params.id!, maxCost: maxCostOf(request) })

const quoteConfirmation = quoteRoute({
  path: 'quotes/network-app-orders/:id/confirm',
  operationId: 'quoteConfirmOrder',
  summary: 'Quote the payment of an order',
  description: 'A paid order costs nothing more.',
  apiKey: 'needed',
  params: orderParam,
  body: confirmationBody,
  action: 'order:pay',
  inputOf: (request) => ({ confirmOrder: confirmationFrom(request) }),
})

const confirm = defineRoute({
  method: 'POST',
  path: 'store/network-app-orders/:id/confirm',
  operationId: 'confirmOrder',
  tag: 'Orders',
  summary: 'Pay for an order',
  description: 'Charges the wallet once, however often it is asked for: a paid order is answered as it is.',
  apiKey: 'needed',
  params: orderParam,
  errors: ['CONFLICT', 'INSUFFICIENT_FUND', 'ORDER_EXPIRED', 'PRICE_EXCEEDS_MAX_COST', 'UNABLE_TO_CONFIRM_ORDER'],
  body: confirmationBody,
  action: 'order:pay',
  operation: graphql(/* GraphQL */ `
    mutation RestConfirmOrder($input: ConfirmOrderInput!) {
      confirmOrder(input: $input) {
        order {
          ...OrderRecord
        }
      }
    }
  `),
  variables: (request) => ({ input: confirmationFrom(request) }),
  answer: orderRecord,
  present: ({ confirmOrder }) => presentOrder(confirmOrder.order),
  quote: quoteConfirmation,
})

const cancel = defineRoute({
  method: 'POST',
  path: 'store/network-app-orders/:id/cancel',
  operationId: 'cancelOrder',
  tag: 'Orders',
  summary: 'Withdraw an order that is not paid',
  params: orderParam,
  errors: ['CONFLICT', 'ORDER_EXPIRED', 'UNABLE_TO_CANCEL_ORDER'],
  action: 'order:cancel',
  operation: graphql(/* GraphQL */ `
    mutation RestCancelOrder($input: CancelOrderInput!) {
      cancelOrder(input: $input) {
        order {
          ...OrderRecord
        }
      }
    }
  `),
  variables: ({ params }) => ({ input: { id: params.id! } }),
  answer: orderRecord,
  present: ({ cancelOrder }) => presentOrder(cancelOrder.order),
})

const read = defineRoute({
  method: 'GET',
  path: 'store/network-app-orders/:id',
  operationId: 'getOrder',
  tag: 'Orders',
  summary: 'Read an order',
  params: orderParam,
  action: 'order:read',
  operation: graphql(/* GraphQL */ `
    query RestOrder($id: ID!) {
      order(id: $id) {
        ...OrderRecord
      }
    }
  `),
  variables: ({ params }) => ({ id: params.id! }),
  answer: orderRecord,
  present: ({ order }) => presentOrder(order!),
})

const list = defineList({
  path: 'store/network-app-orders',
  operationId: 'listOrders',
  tag: 'Orders',
  summary: 'List your orders, newest first',
  action: 'order:read',
  record: orderRecord,
  plural: 'Orders',
  searched: 'the name of the network app',
  order: 'newest',
  operation: graphql(/* GraphQL */ `
    query RestOrders($first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      orders(first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount
        pageInfo {
          startCursor
          endCursor
        }
        nodes {
          ...OrderRecord
        }
      }
    }
  `),
  variables: (_request, part) => part,
  connectionOf: ({ orders }) => orders,
  present: presentOrder,
})

const refunds = defineList({
  path: 'store/network-app-orders/:id/refunds',
  operationId: 'listRefunds',
  tag: 'Orders',
  summary: 'List the refunds of an order, oldest first',
  description: 'For its buyer and administrators.',
  params: orderParam,
  action: 'order:read',
  record: refundRecord,
  plural: 'Refunds',
  searched: 'the reason',
  order: 'oldest',
  operation: graphql(/* GraphQL */ `
    query RestRefunds($id: ID!, $first: Int, $last: Int, $after: String, $before: String, $offset: Int, $search: String) {
      refunds(orderId: $id, first: $first, last: $last, after: $after, before: $before, offset: $offset, search: $search) {
        totalCount
        pageInfo {
          startCursor
          endCursor
        }
        nodes {
          ...RefundRecord
        }
      }
    }
  `),
  variables: ({ params }, part) => ({ id: params.id!, ...part }),
  connectionOf: ({ refunds }) => refunds,
  present: presentRefund,
})

const refundBody = z
  .object({
    amount: same('RefundOrderInput.amount', givenAmount).optional(),
    reason: same('RefundOrderInput.reason', neededText(500)),
  })
  .meta({ id: 'RefundOrder', description: 'How much of it, and why.' })

const refundFrom = ({ params, body }: RestRequest) => ({
  orderId: params.id!,
  amount: body.amount('amount'),
  // The service reports a missing reason together with all other problems.
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
  method: 'POST',
  path: 'store/network-app-orders/:id/refunds',
  operationId: 'refundOrder',
  tag: 'Store',
  summary: 'Give an order back, whole or in part',
  description:
    'Never more than was paid. The buyer gets a mail, and the webhook of the network app the event `order.refunded`.',
  params: orderParam,
  errors: ['CONFLICT', 'UNABLE_TO_REFUND_ORDER'],
  body: refundBody,
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestRefundOrder($input: RefundOrderInput!) {
      refundOrder(input: $input) {
        refund {
          ...RefundRecord
        }
      }
    }
  `),
  variables: (request) => ({ input: refundFrom(request) }),
  status: 201,
  answer: refundRecord,
  present: ({ refundOrder }) => presentRefund(refundOrder.refund),
  quote: quoteRefund,
})

/** Orders of network apps. */
export const orderRoutes = [
  create,
  quoteCreation,
  confirm,
  quoteConfirmation,
  cancel,
  read,
  list,
  refunds,
  refund,
  quoteRefund,
]
