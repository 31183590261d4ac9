import { z } from 'zod'
import { presentPassword } from '../account/account-input.ts'
import { positiveAmount, text } from '../input.ts'
import { maxCost } from './quote.ts'

/** Input of a quote of a withdrawal. */
export const withdrawalQuoteInput = z.strictObject({
  amount: positiveAmount,
  to: text(100),
  maxFee: maxCost,
})

/** Input of a withdrawal. */
export const withdrawInput = withdrawalQuoteInput.extend({ currentPassword: presentPassword })

/** A quote of a withdrawal as a caller asks for it. */
export type WithdrawalQuoteInput = z.input<typeof withdrawalQuoteInput>
/** A withdrawal as a caller asks for it. */
export type WithdrawInput = z.input<typeof withdrawInput>
