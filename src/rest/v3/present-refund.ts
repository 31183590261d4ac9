import { z } from 'zod'
import type { RefundRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import { amount, moment, same } from '../values.ts'

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
