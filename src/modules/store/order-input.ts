import { z } from 'zod'
import { jsonObject, trimmedText } from '../../shared/input.ts'
import { maxCost } from '../wallet/quote.ts'

/** Bytes of the serialised object. */
export const MAX_ACTION_ARGS_BYTES = 65_536

const actionArgs = jsonObject
  .default({})
  .transform((value) => JSON.stringify(value))
  .refine((json) => Buffer.byteLength(json) <= MAX_ACTION_ARGS_BYTES, 'Ensure this object has no more than 64 KB.')

/** An order: the network app by id or name, and the arguments of its webhook, which become JSON text. */
export const createOrderInput = z.strictObject({
  networkApp: trimmedText(100)
    // Names are stored in NFC. A client may send an accent as a separate character.
    .transform((value) => value.normalize())
    .refine((value) => value.length > 0, 'This field is required.'),
  actionArgs,
  maxCost,
})

/** What a confirmation gives beside the order. */
export const payInput = z.strictObject({ maxCost })

/** An order as a caller gives it. */
export type CreateOrderInput = z.input<typeof createOrderInput>
