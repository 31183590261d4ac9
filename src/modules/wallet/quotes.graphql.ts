import type { InputRef } from '@pothos/core'
import type { Context } from '../../context.ts'
import { builder, decimal, omitNullish, optionalText, shortText } from '../../graphql/builder.ts'
import { atMost } from '../../graphql/limits/document-cost.ts'
import { type ErrorCode, errorMeanings } from '../../shared/errors.ts'
import { RevertAssetInput, registrationInputFields, UpdateAssetMetadataInput } from '../assets/asset-inputs.graphql.ts'
import { quoteRegistration } from '../assets/register-asset.ts'
import { quoteRevert, quoteUpdate } from '../assets/update-asset.ts'
import { ConfirmOrderInput, CreateOrderInput, RefundOrderInput } from '../store/orders.graphql.ts'
import { quoteConfirmOrder, quoteCreateOrder } from '../store/orders.ts'
import { quoteRefundOrder, type RefundQuote } from '../store/refunds.ts'
import type { Problem, Quote } from './quote.ts'

const QuoteProblem = builder.objectRef<Problem>('QuoteProblem').implement({
  description: 'One problem that would reject the mutation.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeType, description: 'The `extensions.code` of the error.' }),
    message: t.exposeString('message', shortText(1000, 'The problem, in a sentence.')),
    field: t.exposeString('field', optionalText(64, 'Name of the input field. Null if the problem concerns no field.')),
  }),
})

type QuoteBase = { total: string; available: string; problems: Problem[] }
type AnyQuote = Quote | RefundQuote | (QuoteBase & { typeName: string })

export const QuoteInterface = builder.interfaceRef<AnyQuote>('Quote').implement({
  description: 'The current cost of a mutation, and every problem that would reject it.',
  resolveType: (quote) => {
    if ('price' in quote) return 'PaymentQuote'
    return 'refundable' in quote ? 'RefundQuote' : quote.typeName
  },
  fields: (t) => ({
    total: t.expose('total', decimal('Amount that the mutation would charge, or that a refund would return.')),
    available: t.field({
      ...decimal(
        'Amount that the wallet can pay, for a withdrawal without points. For a refund, the refundable amount.',
      ),
      resolve: (quote) => ('refundable' in quote ? quote.refundable : quote.available),
    }),
    problems: t.expose('problems', {
      ...atMost(50),
      type: [QuoteProblem],
      description: 'All problems that would reject the mutation. Empty if the mutation would succeed.',
    }),
  }),
})

builder.objectRef<Quote>('PaymentQuote').implement({
  description: 'The cost of a commit or an order, and how the wallet pays for it: points first.',
  interfaces: [QuoteInterface],
  fields: (t) => ({
    price: t.expose('price', decimal('Price without gas.')),
    gas: t.expose('gas', decimal('Fee for the chain transaction.')),
    num: t.expose('num', decimal('Balance of the wallet in currency units.')),
    points: t.expose('points', decimal('Balance of the wallet in points.')),
    pointsCharged: t.expose('pointsCharged', decimal('Part of the total paid in points.')),
    numCharged: t.expose('numCharged', decimal('Part of the total paid in currency units.')),
    missing: t.expose('missing', decimal('Part of the total that the wallet cannot pay.')),
  }),
})

builder.objectRef<RefundQuote>('RefundQuote').implement({
  description: 'The amount that a refund would return. Currency units are returned before points.',
  interfaces: [QuoteInterface],
  fields: (t) => ({
    num: t.expose('num', decimal('Part of the total in currency units.')),
    points: t.expose('points', decimal('Part of the total in points.')),
  }),
})

const QuoteRegisterAssetInput = builder.inputType('QuoteRegisterAssetInput', {
  description: 'A registration, with or without its file.',
  fields: (t) => ({
    assetFile: t.field({
      type: 'Upload',
      description:
        'The file to check. Annal does not store it. Without a file, only the other fields are checked. DUPLICATE_ASSET is reported only if you may see ' +
        'the existing asset. The mutation also raises it if another user registered the file privately.',
    }),
    ...registrationInputFields(t),
  }),
})

interface AddedQuote<Input> {
  /** Field of `QuoteInput`. It has the name of the quoted mutation. */
  field: string
  input: InputRef<Input>
  description: string
  typeName: string
  quote(context: Context, input: Input): Promise<QuoteBase>
}
const addedQuotes: AddedQuote<unknown>[] = []

/** Registers the quote of a mutation from an optional module. */
export const addQuote = <Input>(quote: AddedQuote<Input>) => addedQuotes.push(quote as AddedQuote<unknown>)

const QuoteInput = builder.inputType('QuoteInput', {
  description: 'The mutation to quote, with its input.',
  isOneOf: true,
  fields: (t) => ({
    registerAsset: t.field({ type: QuoteRegisterAssetInput, description: 'A registration. Returns a PaymentQuote.' }),
    updateAssetMetadata: t.field({ type: UpdateAssetMetadataInput, description: 'An update. Returns a PaymentQuote.' }),
    revertAsset: t.field({ type: RevertAssetInput, description: 'A revert. Returns a PaymentQuote.' }),
    createOrder: t.field({ type: CreateOrderInput, description: 'An order. Returns a PaymentQuote.' }),
    confirmOrder: t.field({ type: ConfirmOrderInput, description: 'An order confirmation. Returns a PaymentQuote.' }),
    refundOrder: t.field({ type: RefundOrderInput, description: 'An administrator’s refund. Returns a RefundQuote.' }),
    ...(Object.fromEntries(
      addedQuotes.map(({ field, input: type, description }) => [field, t.field({ type, description })]),
    ) as object),
  }),
})

async function quote(context: Context, input: typeof QuoteInput.$inferInput): Promise<AnyQuote> {
  const given = input as Record<string, unknown>
  const added = addedQuotes.find(({ field }) => given[field])
  if (added) return { ...(await added.quote(context, given[added.field])), typeName: added.typeName }
  if (input.registerAsset) return quoteRegistration(context, omitNullish(input.registerAsset))
  if (input.updateAssetMetadata) return quoteUpdate(context, omitNullish(input.updateAssetMetadata))
  if (input.revertAsset) return quoteRevert(context, omitNullish(input.revertAsset))
  if (input.createOrder) return quoteCreateOrder(context, omitNullish(input.createOrder))
  if (input.confirmOrder) return quoteConfirmOrder(context, omitNullish(input.confirmOrder))
  return quoteRefundOrder(context, omitNullish(input.refundOrder!))
}

builder.queryField('quote', (t) =>
  t.field({
    type: QuoteInterface,
    description:
      'The current cost of a paid mutation, and every problem that would reject it. The query writes and charges nothing. ' +
      'Raises NOT_AUTHENTICATED, PERMISSION_DENIED, UNTRUSTED_CLIENT, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, THROTTLED, ' +
      'INSUFFICIENT_STORAGE, UNAVAILABLE.',
    args: { input: t.arg({ type: QuoteInput, required: true, description: 'The mutation.' }) },
    resolve: (_root, { input }, context) => quote(context, input),
  }),
)

const ErrorCodeType = builder.enumType('ErrorCode', {
  description:
    'Error codes. `extensions.code` of each error is one of these values. Use the code, not the message. New codes may be added.',
  values: Object.fromEntries(
    Object.entries(errorMeanings).map(([code, description]) => [code, { description }]),
  ) as Record<ErrorCode, { description: string }>,
})
