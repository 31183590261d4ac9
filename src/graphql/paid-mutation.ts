/** Mutations that cost something. Each says once how it is tried and how it is carried out: `dryRun` and the query `quote` do the former. */
import type { Context } from '../context.ts'
import type { Quote } from '../domain/wallet/quote.ts'
import { type ShownQuery, showing } from './compiled/showing.ts'
import { type OmitNullish, omitNullish } from './omit-nullish.ts'
import type { Quoted } from './quote.ts'

interface Tryable {
  dryRun?: boolean | null | undefined
}

/** What a paid mutation wants, but for whether it is only tried. */
export type Wanted<Input extends Tryable> = OmitNullish<Omit<Input, 'dryRun'>>

/** `Shown` is what its payload has beside the quote. Both raise what their service raises. */
export interface PaidMutation<Input extends Tryable, Shown extends object> {
  /** Name of the payload's field that shows what is read by the query; undefined when nothing is. */
  shown?: string
  /** Writes and charges nothing. Without `query` nobody asks for what is shown. */
  tryOut(context: Context, input: Wanted<Input>, query?: () => ShownQuery): Promise<Shown & { quote: Quote }>
  /** Its quote is what was charged. */
  carryOut(context: Context, input: Wanted<Input>, query: () => ShownQuery): Promise<Shown & Quoted>
}

/** The input of a paid mutation as its methods take it. */
export const wantedOf = <Input extends Tryable>({ dryRun, ...input }: Input): Wanted<Input> => omitNullish(input)

/** The resolver of a paid mutation. */
export function resolvePaid<Input extends Tryable, Shown extends object>(mutation: PaidMutation<Input, Shown>) {
  const { shown, tryOut, carryOut } = mutation
  type Args = { input: Input }
  return showing<Args, Promise<Shown & Quoted>>(shown, async (query, { input }, context) => {
    if (!input.dryRun) return carryOut(context, wantedOf(input), query)
    const { quote, ...rest } = await tryOut(context, wantedOf(input), query)
    return { ...(rest as unknown as Shown), quote: () => quote }
  })
}
