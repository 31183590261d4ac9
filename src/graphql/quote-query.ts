import type { Context } from '../context.ts'
import type { Quote } from '../domain/wallet/quote.ts'
import {
  RevertAssetInput,
  registration,
  registrationFields,
  revert,
  UpdateAssetMetadataInput,
  update,
} from './asset-mutations.ts'
import { builder } from './builder.ts'
import { ConfirmOrderInput, CreateOrderInput, orderCreation, orderPayment } from './order.ts'
import { wantedOf } from './paid-mutation.ts'
import { QuoteType } from './quote.ts'

const QuoteRegisterAssetInput = builder.inputType('QuoteRegisterAssetInput', {
  description: 'A registration, with or without its file.',
  fields: (t) => ({
    assetFile: t.field({
      type: 'Upload',
      description:
        'The file. Nothing of it is kept. Without it, only the other fields are checked. DUPLICATE_ASSET is reported only of an asset ' +
        'that you may see; the mutation also raises it if someone else registered the file privately.',
    }),
    ...registrationFields(t),
  }),
})

const QuoteInput = builder.inputType('QuoteInput', {
  description: 'Which paid mutation, with its input.',
  isOneOf: true,
  fields: (t) => ({
    registerAsset: t.field({ type: QuoteRegisterAssetInput, description: 'A registration.' }),
    updateAssetMetadata: t.field({ type: UpdateAssetMetadataInput, description: 'A change of metadata.' }),
    revertAsset: t.field({ type: RevertAssetInput, description: 'A change back to what was.' }),
    createOrder: t.field({ type: CreateOrderInput, description: 'An order: what confirming it would cost.' }),
    confirmOrder: t.field({ type: ConfirmOrderInput, description: 'A confirmation.' }),
  }),
})

/** Tries the one mutation that is given. */
function tryOut(context: Context, input: typeof QuoteInput.$inferInput): Promise<{ quote: Quote }> {
  if (input.registerAsset) return registration.tryOut(context, wantedOf(input.registerAsset))
  if (input.revertAsset) return revert.tryOut(context, wantedOf(input.revertAsset))
  if (input.createOrder) return orderCreation.tryOut(context, wantedOf(input.createOrder))
  if (input.confirmOrder) return orderPayment.tryOut(context, wantedOf(input.confirmOrder))
  return update.tryOut(context, wantedOf(input.updateAssetMetadata!))
}

builder.queryField('quote', (t) =>
  t.field({
    type: QuoteType,
    description:
      'The cost of a paid mutation now, and every reason for which it would be refused. Nothing is written or charged. ' +
      'Raises NOT_AUTHENTICATED, UNTRUSTED_CLIENT, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, INSUFFICIENT_STORAGE.',
    args: { input: t.arg({ type: QuoteInput, required: true, description: 'The mutation.' }) },
    resolve: async (_root, { input }, context) => (await tryOut(context, input)).quote,
  }),
)
