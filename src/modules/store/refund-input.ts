import { z } from 'zod'
import { requiredText } from '../../shared/input.ts'
import { AMOUNT } from '../../shared/money.ts'

/** A refund: an order, an amount above 0 or all that is left, and why, in words that the buyer reads. */
export const refundInput = z.strictObject({
  orderId: z.string(),
  amount: z
    .string({ error: 'Expected an amount such as 0.5.' })
    .regex(AMOUNT, 'Expected an amount such as 0.5.')
    .refine((value) => /[1-9]/.test(value), 'Ensure this value is greater than 0.')
    .optional(),
  reason: requiredText(500),
})

/** A refund as a caller gives it. */
export type RefundInput = z.input<typeof refundInput>
