import { z } from 'zod'
import { amount, same } from '../values.ts'

const problems = z
  .array(
    z.object({
      type: z.string().describe('As `error.type` of a refusal.'),
      message: same('QuoteProblem.message', z.string()),
      field: z.string().nullable().describe('The field it is about, if it is about one.'),
    }),
  )
  .describe('All that the real call would be refused for now; empty when it would be carried out.')

/** What a dry run of a withdrawal answers. */
export const withdrawalQuoteRecord = z
  .object({
    dry_run: z.literal(true).describe('Nothing was written or charged.'),
    amount: same('WithdrawalQuote.amount', amount),
    fee: same('WithdrawalQuote.fee', amount),
    total: same('WithdrawalQuote.total', amount),
    available: same('WithdrawalQuote.available', amount),
    left_today: same('WithdrawalQuote.leftToday', amount),
    errors: problems,
  })
  .meta({ id: 'WithdrawalQuote', description: 'What a withdrawal would take, and what it would be refused for.' })

/** What a dry run answers. */
export const quoteRecord = z
  .object({
    dry_run: z.literal(true).describe('Nothing was written or charged.'),
    price: same('Quote.price', amount),
    gas: same('Quote.gas', amount),
    total_cost: same('Quote.total', amount),
    balance: z
      .object({ num: same('Quote.num', amount), points: same('Quote.points', amount) })
      .describe('Of the wallet.'),
    available: same('Quote.available', amount),
    points_charged: same('Quote.pointsCharged', amount),
    num_charged: same('Quote.numCharged', amount),
    missing: same('Quote.missing', amount),
    errors: problems,
  })
  .meta({ id: 'Quote', description: 'What a request would cost, and what it would be refused for.' })

/** What a dry run answers. */
export type Quote = z.output<typeof quoteRecord>

/** What a dry run of a refund answers. */
export const refundQuoteRecord = z
  .object({
    dry_run: z.literal(true).describe('Nothing was written or given back.'),
    num: same('RefundQuote.num', amount),
    points: same('RefundQuote.points', amount),
    total: same('RefundQuote.total', amount),
    refundable: same('RefundQuote.refundable', amount),
    errors: problems,
  })
  .meta({ id: 'RefundQuote', description: 'What a refund would give back, and what it would be refused for.' })
