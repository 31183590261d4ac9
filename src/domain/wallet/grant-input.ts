import { z } from 'zod'
import { normalizeEmail } from '../account/email-address.ts'
import { requiredText } from '../input.ts'

/** Points for a user: identifier, e-mail address or username; an amount above 0; why; and until when they can be spent. */
export const grantInput = z.strictObject({
  userId: requiredText(254).transform(normalizeEmail),
  amount: z
    .string({ error: 'Expected an amount such as 0.5.' })
    .regex(/^\d{1,12}(\.\d{1,18})?$/, 'Expected an amount such as 0.5, with at most 12 digits before the point.')
    .refine((value) => /[1-9]/.test(value), 'Ensure this value is greater than 0.'),
  reason: requiredText(500),
  expiresAt: z
    .date({ error: 'Expected a moment such as 2026-11-21T09:30:00Z.' })
    .refine((value) => value.getUTCFullYear() <= 9999, 'Expected a year of four digits.')
    .optional(),
})

/** A grant as a caller gives it. */
export type GrantInput = z.input<typeof grantInput>
