import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import { defineRoute, type RestRequest } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { amount, givenAmount, moment, neededText, orderParam, same, snakeCased } from '../../http/rest/values.ts'
import { quoteRoute } from '../wallet/quotes.rest.ts'

/** The GraphQL fields that the REST record of a refund needs. */
export const RefundRecord = graphql(/* GraphQL */ `
  fragment RefundRecord on Refund {
    id orderId num points total reason transferId createdAt
  }
`)

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
  .meta({ id: 'Refund', description: 'A refund of an order.' })

const list = defineList({
  path: 'store/network-app-orders/:id/refunds',
  operationId: 'listRefunds',
  tag: 'Orders',
  summary: 'List the refunds of an order, oldest first',
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
        totalCount
        pageInfo { startCursor endCursor }
        nodes { ...RefundRecord }
      }
    }
  `),
  variables: ({ params }, part) => ({ id: params.id!, ...part }),
  present: snakeCased,
})

const refundBody = z
  .object({
    amount: same('RefundOrderInput.amount', givenAmount).optional(),
    reason: same('RefundOrderInput.reason', neededText(500)),
  })
  .meta({ id: 'RefundOrder', description: 'The amount and the reason.' })

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
  method: 'POST',
  path: 'store/network-app-orders/:id/refunds',
  operationId: 'refundOrder',
  tag: 'Store',
  summary: 'Refund an order, completely or in part',
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

/** Routes of refunds. Only administrators can create refunds. */
export const refundRoutes = [list, refund, quoteRefund]
