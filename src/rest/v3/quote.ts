import { z } from 'zod'
import { amount, same } from '../values.ts'

const problems = z
  .array(
    z.object({
      type: z.string().describe('The `error.type` of the refusal.'),
      message: same('QuoteProblem.message', z.string()),
      field: z.string().nullable().describe('The field with the problem. Null if the problem concerns no field.'),
    }),
  )
  .describe('Every reason for which the real request would be refused now. Empty if it would succeed.')

/** The quote of a withdrawal. */
export const withdrawalQuoteRecord = z
  .object({
    dry_run: z.literal(true).describe('Always true. Nothing was written or charged.'),
    amount: same('WithdrawalQuote.amount', amount),
    fee: same('WithdrawalQuote.fee', amount),
    total: same('WithdrawalQuote.total', amount),
    available: same('WithdrawalQuote.available', amount),
    left_today: same('WithdrawalQuote.leftToday', amount),
    errors: problems,
  })
  .meta({
    id: 'WithdrawalQuote',
    description: 'The cost of a withdrawal, and every reason for which it would be refused.',
  })

/** The quote of a paid request. */
export const quoteRecord = z
  .object({
    dry_run: z.literal(true).describe('Always true. Nothing was written or charged.'),
    price: same('Quote.price', amount),
    gas: same('Quote.gas', amount),
    total_cost: same('Quote.total', amount),
    balance: z
      .object({ num: same('Quote.num', amount), points: same('Quote.points', amount) })
      .describe('The balance of the wallet.'),
    available: same('Quote.available', amount),
    points_charged: same('Quote.pointsCharged', amount),
    num_charged: same('Quote.numCharged', amount),
    missing: same('Quote.missing', amount),
    errors: problems,
  })
  .meta({ id: 'Quote', description: 'The cost of a request, and every reason for which it would be refused.' })

/** The quote of a paid request, as its presenter returns it. */
export type Quote = z.output<typeof quoteRecord>

/** The quote of a refund. */
export const refundQuoteRecord = z
  .object({
    dry_run: z.literal(true).describe('Always true. Nothing was written or refunded.'),
    num: same('RefundQuote.num', amount),
    points: same('RefundQuote.points', amount),
    total: same('RefundQuote.total', amount),
    refundable: same('RefundQuote.refundable', amount),
    errors: problems,
  })
  .meta({
    id: 'RefundQuote',
    description: 'The amount a refund would return, and every reason for which it would be refused.',
  })
