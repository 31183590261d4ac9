/** Mutations that cost something. Each says once how it is tried and how it is carried out: `dryRun` and the query `quote` do the former. */
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../context.ts'
import type { Quote } from '../domain/wallet/quote.ts'
import { type OmitNullish, omitNullish } from './omit-nullish.ts'
import type { Quoted } from './quote.ts'

interface Tryable {
  dryRun?: boolean | null | undefined
}

/** What a paid mutation wants, but for whether it is only tried. */
export type Wanted<Input extends Tryable> = OmitNullish<Omit<Input, 'dryRun'>>

/** `Shown` is what its payload has beside the quote. Both raise what their service raises. */
export interface PaidMutation<Input extends Tryable, Shown extends object> {
  /** Writes and charges nothing. Without `info` nobody asks for what is shown. */
  tryOut(context: Context, input: Wanted<Input>, info?: GraphQLResolveInfo): Promise<Shown & { quote: Quote }>
  /** Its quote is what was charged. */
  carryOut(context: Context, input: Wanted<Input>, info: GraphQLResolveInfo): Promise<Shown & Quoted>
}

/** The input of a paid mutation as its methods take it. */
export const wantedOf = <Input extends Tryable>({ dryRun, ...input }: Input): Wanted<Input> => omitNullish(input)

/** The resolver of a paid mutation. */
export const resolvePaid =
  <Input extends Tryable, Shown extends object>({ tryOut, carryOut }: PaidMutation<Input, Shown>) =>
  async (
    _root: unknown,
    { input }: { input: Input },
    context: Context,
    info: GraphQLResolveInfo,
  ): Promise<Shown & Quoted> => {
    if (!input.dryRun) return carryOut(context, wantedOf(input), info)
    const { quote, ...shown } = await tryOut(context, wantedOf(input), info)
    return { ...(shown as unknown as Shown), quote: () => quote }
  }
