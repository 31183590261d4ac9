import { z } from 'zod'
import { presentPassword } from '../account/account-input.ts'
import { text } from '../input.ts'
import { maxCost } from './quote.ts'

/** How much is withdrawn, where to, and who says so. */
export const withdrawInput = z.strictObject({
  amount: z
    .string({ error: 'Expected an amount such as 0.5.' })
    .regex(/^\d{1,12}(\.\d{1,18})?$/, 'Expected an amount such as 0.5, with at most 12 digits before the point.')
    .refine((value) => /[1-9]/.test(value), 'Ensure this value is greater than 0.'),
  to: text(100),
  currentPassword: presentPassword.optional(),
  maxFee: maxCost,
})

/** A withdrawal as a caller asks for it. */
export type WithdrawInput = z.input<typeof withdrawInput>
