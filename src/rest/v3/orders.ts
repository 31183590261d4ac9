import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { pageOf, presentPage } from '../pagination.ts'
import { presentOrder } from './present-order.ts'
import { presentQuote } from './present-quote.ts'
import { presentRefund, presentRefundQuote } from './present-refund.ts'

const create = defineRoute({
  method: 'POST',
  path: 'store/network-app-orders',
  action: 'order:create',
  operation: graphql(/* GraphQL */ `
    mutation RestCreateOrder($input: CreateOrderInput!, $dryRun: Boolean!) {
      createOrder(input: $input) {
        order {
          ...OrderRecord
        }
        quote @include(if: $dryRun) {
          ...QuoteRecord
        }
      }
    }
  `),
  // `price` is sent by old callers and means nothing: the app has its own.
  variables: ({ body, dryRun }) => ({
    input: {
      networkApp: body.text('network_app') ?? '',
      actionArgs: body.object('action_args'),
      maxCost: body.amount('max_cost'),
      dryRun,
    },
    dryRun,
  }),
  status: 201,
  present: ({ createOrder }) => presentOrder(createOrder.order!),
  presentDryRun: ({ createOrder }, request) => presentQuote(createOrder.quote!, request),
})

const confirm = defineRoute({
  method: 'POST',
  path: 'store/network-app-orders/:id/confirm',
  action: 'order:pay',
  operation: graphql(/* GraphQL */ `
    mutation RestConfirmOrder($input: ConfirmOrderInput!, $dryRun: Boolean!) {
      confirmOrder(input: $input) {
        order {
          ...OrderRecord
        }
        quote @include(if: $dryRun) {
          ...QuoteRecord
        }
      }
    }
  `),
  variables: ({ params, body, dryRun }) => ({
    input: { id: params.id!, maxCost: body.amount('max_cost'), dryRun },
    dryRun,
  }),
  present: ({ confirmOrder }) => presentOrder(confirmOrder.order),
  presentDryRun: ({ confirmOrder }, request) => presentQuote(confirmOrder.quote!, request),
})

const cancel = defineRoute({
  method: 'POST',
  path: 'store/network-app-orders/:id/cancel',
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
  present: ({ cancelOrder }) => presentOrder(cancelOrder.order),
})

const read = defineRoute({
  method: 'GET',
  path: 'store/network-app-orders/:id',
  action: 'order:read',
  operation: graphql(/* GraphQL */ `
    query RestOrder($id: ID!) {
      order(id: $id) {
        ...OrderRecord
      }
    }
  `),
  variables: ({ params }) => ({ id: params.id! }),
  present: ({ order }) => presentOrder(order!),
})

const list = defineRoute({
  method: 'GET',
  path: 'store/network-app-orders',
  action: 'order:read',
  operation: graphql(/* GraphQL */ `
    query RestOrders($limit: Int!, $offset: Int!) {
      orders(first: $limit, offset: $offset) {
        totalCount
        nodes {
          ...OrderRecord
        }
      }
    }
  `),
  variables: pageOf,
  present: ({ orders }, request) => presentPage(request, orders.totalCount, orders.nodes.map(presentOrder)),
})

const refund = defineRoute({
  method: 'POST',
  path: 'store/network-app-orders/:id/refunds',
  action: 'store:administer',
  operation: graphql(/* GraphQL */ `
    mutation RestRefundOrder($input: RefundOrderInput!, $dryRun: Boolean!) {
      refundOrder(input: $input) {
        refund @skip(if: $dryRun) {
          ...RefundRecord
        }
        quote @include(if: $dryRun) {
          ...RefundQuoteRecord
        }
      }
    }
  `),
  variables: ({ params, body, dryRun }) => ({
    input: {
      orderId: params.id!,
      amount: body.amount('amount'),
      // None is told by the service, together with all else.
      reason: body.text('reason') ?? '',
      dryRun,
    },
    dryRun,
  }),
  status: 201,
  present: ({ refundOrder }) => presentRefund(refundOrder.refund!),
  presentDryRun: ({ refundOrder }, request) => presentRefundQuote(refundOrder.quote!, request),
})

/** Orders of network apps. */
export const orderRoutes = [create, confirm, cancel, read, list, refund]
