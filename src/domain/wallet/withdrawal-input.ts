import { z } from 'zod'
import { presentPassword } from '../account/account-input.ts'
import { positiveAmount, text } from '../input.ts'
import { maxCost } from './quote.ts'

/** How much is withdrawn, where to, and who says so. */
export const withdrawInput = z.strictObject({
  amount: positiveAmount,
  to: text(100),
  currentPassword: presentPassword.optional(),
  maxFee: maxCost,
})

/** A withdrawal as a caller asks for it. */
export type WithdrawInput = z.input<typeof withdrawInput>
