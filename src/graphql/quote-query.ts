import { registrationFields, UpdateAssetMetadataInput } from './asset-mutations.ts'
import { builder } from './builder.ts'
import { given } from './given.ts'
import { ConfirmOrderInput, CreateOrderInput } from './order.ts'
import { QuoteType } from './quote.ts'

const QuoteRegisterAssetInput = builder.inputType('QuoteRegisterAssetInput', {
  description: 'A registration without its file, which a query cannot carry.',
  fields: (t) => registrationFields(t),
})

const QuoteInput = builder.inputType('QuoteInput', {
  description: 'Which paid mutation, with its input.',
  isOneOf: true,
  fields: (t) => ({
    registerAsset: t.field({ type: QuoteRegisterAssetInput, description: 'A registration.' }),
    updateAssetMetadata: t.field({ type: UpdateAssetMetadataInput, description: 'A change of metadata.' }),
    createOrder: t.field({ type: CreateOrderInput, description: 'An order: what confirming it would cost.' }),
    confirmOrder: t.field({ type: ConfirmOrderInput, description: 'A confirmation.' }),
  }),
})

builder.queryField('quote', (t) =>
  t.field({
    type: QuoteType,
    description:
      'What a paid mutation would cost now, and everything it would be refused for: the same as its dry run. ' +
      'Raises NOT_AUTHENTICATED, UNTRUSTED_CLIENT, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED.',
    args: { input: t.arg({ type: QuoteInput, required: true, description: 'The mutation.' }) },
    resolve: async (_root, { input }, { actor, services }) => {
      const { assets, orders } = services
      if (input.registerAsset) return assets.quoteRegistration(actor, undefined, given(input.registerAsset))
      if (input.createOrder) return orders.quoteCreation(actor, given(input.createOrder))
      if (input.confirmOrder) return orders.quotePayment(actor, input.confirmOrder.id, given(input.confirmOrder))
      const { id, ...change } = input.updateAssetMetadata!
      const { quote } = await assets.quoteUpdate(actor, { ...given(change), nid: id })
      return quote
    },
  }),
)
