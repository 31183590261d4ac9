import { z } from 'zod'
import type { RestRequest } from '../define-route.ts'
import type { RefundQuoteRecordFragment, RefundRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import { amount, moment, same } from '../values.ts'
import { presentProblems } from './present-quote.ts'
import type { refundQuoteRecord } from './quote.ts'

/** What is read of a refund. */
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

/** The fields of a refund's quote. */
export const RefundQuoteRecord = graphql(/* GraphQL */ `
  fragment RefundQuoteRecord on RefundQuote {
    num
    points
    total
    refundable
    problems {
      code
      message
      field
    }
  }
`)

/** A refund as it is answered. */
export const refundRecord = z
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
export const presentRefund = (refund: RefundRecordFragment): z.output<typeof refundRecord> => ({
  id: refund.id,
  order_id: refund.orderId,
  num: refund.num,
  points: refund.points,
  total: refund.total,
  reason: refund.reason,
  transfer_id: refund.transferId,
  created_at: refund.createdAt,
})

/** Presents the quote of a refund. Its errors are all reasons for which the real call would be refused. */
export const presentRefundQuote = (
  quote: RefundQuoteRecordFragment,
  { unread }: RestRequest,
): z.output<typeof refundQuoteRecord> => ({
  dry_run: true,
  num: quote.num,
  points: quote.points,
  total: quote.total,
  refundable: quote.refundable,
  errors: presentProblems(quote.problems, unread),
})
