import type { Problem, Quote } from '../domain/wallet/quote.ts'
import { builder } from './builder.ts'
import { ErrorCodeType } from './error-code.ts'
import { atMost, characters } from './sizes.ts'

/** One thing that stands in the way of a real call. */
export const QuoteProblem = builder.objectRef<Problem>('QuoteProblem').implement({
  description: 'One thing for which the real call would be refused.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeType, description: 'What `extensions.code` of the refusal would be.' }),
    message: t.exposeString('message', { ...characters(1000), description: 'What is wrong, for a person.' }),
    field: t.exposeString('field', {
      ...characters(64),
      nullable: true,
      description: 'Name of the input field; null when it is about none.',
    }),
  }),
})

/** `Quote`: what something costs, for dry runs and receipts. */
export const QuoteType = builder.objectRef<Quote>('Quote').implement({
  description: 'What something costs, and how a wallet pays for it: points first.',
  fields: (t) => ({
    price: t.expose('price', { type: 'Decimal', description: 'Price of the thing itself.' }),
    gas: t.expose('gas', { type: 'Decimal', description: 'For the chain transaction.' }),
    total: t.expose('total', { type: 'Decimal', description: 'Price and gas; 0 when there is nothing to do.' }),
    num: t.expose('num', { type: 'Decimal', description: 'What the wallet holds now, in currency units.' }),
    points: t.expose('points', { type: 'Decimal', description: 'What the wallet holds now, in points.' }),
    available: t.expose('available', { type: 'Decimal', description: 'What the wallet holds now: num and points.' }),
    pointsCharged: t.expose('pointsCharged', { type: 'Decimal', description: 'Part of the total paid in points.' }),
    numCharged: t.expose('numCharged', { type: 'Decimal', description: 'Part of the total paid in currency units.' }),
    missing: t.expose('missing', { type: 'Decimal', description: 'Part of the total that the wallet cannot pay.' }),
    problems: t.field({
      ...atMost(50),
      type: [QuoteProblem],
      description: 'Everything the real call would be refused for; empty when it would be carried out.',
      resolve: ({ problems }) => problems,
    }),
  }),
})

/** What adds fields to an input. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>

/** What every paid mutation's input has. */
export const costFields = (t: InputFields) => ({
  maxCost: t.field({ type: 'Decimal', description: 'Refuses a higher total with PRICE_EXCEEDS_MAX_COST.' }),
  dryRun: t.boolean({
    description: 'Checks everything and answers the quote; nothing is written or charged, and no key is used up.',
  }),
})

/** Made when it is asked for: what was charged is read then. */
export type Quoted = { quote: () => Promise<Quote | null> | Quote | null }

/** The field `quote` of a paid mutation's payload. */
export const quoteField = (t: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Quoted>) =>
  t.field({
    type: QuoteType,
    nullable: true,
    description:
      'What it would cost on a dry run, else what was charged; null when a repeated request cannot tell any more.',
    resolve: ({ quote }) => quote(),
  })
