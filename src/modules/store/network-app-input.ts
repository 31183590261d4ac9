import { z } from 'zod'
import { fromId } from '../../shared/ids.ts'
import { checked, requiredDisplayName, trimmedText } from '../../shared/input.ts'
import { fromUnits, toUnits } from '../../shared/money.ts'
import { webhookUrlProblem } from '../webhooks/webhook-url.ts'

const name = requiredDisplayName(100)
  .transform((value) => value.normalize())
  // Orders name an app by its identifier or its name.
  .refine((value) => !fromId(value), 'A name may not look like an identifier.')

/** Why a text is not a price; undefined when it is one. */
function priceProblem(value: string): string | undefined {
  const digits = /^(-?)(\d+)(?:\.(\d+))?$/.exec(value)
  if (!digits) return 'Expected a decimal number such as 0.5, without an exponent.'
  const [, sign, whole = '', decimals = ''] = digits
  if (sign && /[1-9]/.test(whole + decimals)) return 'Ensure this value is greater than or equal to 0.'
  if (whole.replace(/^0+/, '').length > 12)
    return 'Ensure that there are no more than 12 digits before the decimal point.'
  if (decimals.length > 18) return 'Ensure that there are no more than 18 decimal places.'
  return undefined
}

const price = checked(trimmedText(100), priceProblem).transform((value) => fromUnits(toUnits(value)))

const deliveryFailurePolicy = z.enum(['KEEP', 'REFUND'], { error: 'Expected KEEP or REFUND.' })

/** What registering and changing an app take; what `createNetworkAppInputs` makes. */
export type NetworkAppInputs = ReturnType<typeof createNetworkAppInputs>

/**
 * Input rules of apps. Prices are decimal strings with at most 12 digits before the point; `allowInsecure` lets webhooks
 * be http and internal.
 */
export function createNetworkAppInputs({ allowInsecure }: { allowInsecure: boolean }) {
  const webhookUrl = checked(trimmedText(2048), (url) => webhookUrlProblem(url, { allowInsecure }))
  return {
    create: z.strictObject({
      name,
      priceMode: z.literal('FIXED', { error: 'Expected FIXED.' }).default('FIXED'),
      price,
      webhookUrl: webhookUrl.optional(),
      deliveryFailurePolicy: deliveryFailurePolicy.default('KEEP'),
    }),
    /** Only what is given changes; a null URL removes the webhook. */
    update: z.strictObject({ name, price, webhookUrl: webhookUrl.nullable(), deliveryFailurePolicy }).partial(),
  }
}

/** Which apps are listed. `name` is a part of the name, in any case. */
export const networkAppFilter = z
  .strictObject({ name: trimmedText(100), isActive: z.boolean(), search: z.string() })
  .partial()

/** An app that is registered, as a caller gives it. */
export type CreateNetworkAppInput = z.input<NetworkAppInputs['create']>
/** A change of an app as a caller gives it. */
export type UpdateNetworkAppInput = z.input<NetworkAppInputs['update']>
/** A filter of the list of apps as a caller gives it. */
export type NetworkAppFilter = z.input<typeof networkAppFilter>
