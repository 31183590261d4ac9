/**
 * `t.read`: a field, at the root or below another, that is one read. It is declared as `t.prismaField`, and besides remembered as what it
 * is, so that documents that ask for it can be compiled.
 */
import SchemaBuilder, {
  BasePlugin,
  type FieldKind,
  type PothosOutputFieldConfig,
  RootFieldBuilder,
  type SchemaTypes,
} from '@pothos/core'
import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLField, GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql'
import type { Context } from '../../services-context.ts'

/** A resolver as it is written beside its field. */
export type OwnResolver = GraphQLFieldResolver<unknown, Context, unknown>

/** The read of a field, given what to select. */
export type Read = (query: object, parent: unknown, args: unknown, context: Context) => unknown

interface Remembered {
  ownResolver?: OwnResolver
  read?: Read
}

const remembered = ({ extensions }: GraphQLField<unknown, unknown>) => extensions as Remembered

/** A field's resolver without what the plugins put around it. They load what its parent lacks, and ask where in the answer it is. */
export const ownResolverOf = (field: GraphQLField<unknown, unknown>) => remembered(field).ownResolver

/** What a field reads; undefined when it was not declared by `t.read`. */
export const readOf = (field: GraphQLField<unknown, unknown>) => remembered(field).read

/** Name of the plugin that remembers what fields are made of. */
export const readFieldPlugin = 'readField' as const

class ReadFieldPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    return { ...config, extensions: { ...config.extensions, ownResolver: config.resolve } }
  }
}

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      readField: ReadFieldPlugin<Types>
    }
    interface RootFieldBuilder<Types extends SchemaTypes, ParentShape, Kind extends FieldKind = FieldKind> {
      /** As `prismaField`; its resolver does nothing but read, and goes by its query, arguments and context alone. */
      read: RootFieldBuilder<Types, ParentShape, Kind>['prismaField']
    }
  }
}

const fields = RootFieldBuilder.prototype as PothosSchemaTypes.RootFieldBuilder<SchemaTypes, unknown>
fields.read = function read(options) {
  const { extensions, resolve } = options as { extensions?: object; resolve: unknown }
  return this.prismaField({ ...options, extensions: { ...extensions, read: resolve } } as typeof options)
}

SchemaBuilder.registerPlugin(readFieldPlugin, ReadFieldPlugin)

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
