/** Mutations whose payload shows a thing: its resolver is told what to read of it. */
import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../../services-context.ts'
import type { OwnResolver } from './read-field.ts'

/** What the document asks of the thing, in Prisma's language. */
export type ShownQuery = ReturnType<typeof queryFromInfo<undefined, undefined, false>>

/** The resolver of a mutation, given what to read of the thing that its payload shows. */
export type ShowingResolver<Args, Payload> = (query: () => ShownQuery, args: Args, context: Context) => Payload

/** What `showing` made a resolver of. */
export interface Showing {
  /** Name of the payload's field in which the thing stands; undefined when nothing in it is read by the query. */
  shown: string | undefined
  resolve: ShowingResolver<unknown, unknown>
}

const known = new WeakMap<OwnResolver, Showing>()

/** What the document asks of the thing; the executor goes by it when it looks at the thing's fields. */
export const queryShown = (context: Context, info: GraphQLResolveInfo, shown: string | undefined): ShownQuery =>
  shown === undefined ? {} : queryFromInfo({ context, info, path: [shown] })

/** The resolver of a mutation whose payload shows in the field `shown` what is read by the query. */
export function showing<Args, Payload>(shown: string | undefined, resolve: ShowingResolver<Args, Payload>) {
  const resolver = (_root: unknown, args: Args, context: Context, info: GraphQLResolveInfo) =>
    resolve(() => queryShown(context, info, shown), args, context)
  known.set(resolver as OwnResolver, { shown, resolve: resolve as ShowingResolver<unknown, unknown> })
  return resolver
}

/** What a resolver was made of by `showing`; undefined when it was not. */
export const showingOf = (resolver: OwnResolver): Showing | undefined => known.get(resolver)
