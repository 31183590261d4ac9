/**
 * Marks the fields that can be compiled. `t.read` declares a field like `t.prismaField` and stores its resolver for
 * the compiler. `showing` does the same for mutations.
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
import type { Context } from '../../context.ts'

/** A resolver as written in the schema, without the wrappers of Pothos plugins. */
export type OwnResolver = GraphQLFieldResolver<unknown, Context, unknown>

export type Read = (query: object, parent: unknown, args: unknown, context: Context) => unknown

interface FieldExtensions {
  ownResolver?: OwnResolver
  read?: Read
}

const extensionsOf = ({ extensions }: GraphQLField<unknown, unknown>) => extensions as FieldExtensions

/** Returns a field's resolver without plugin wrappers. They load missing columns and depend on the response path. */
export const ownResolverOf = (field: GraphQLField<unknown, unknown>) => extensionsOf(field).ownResolver

/** Returns the read of a field, or undefined if it was not declared with `t.read`. */
export const readOf = (field: GraphQLField<unknown, unknown>) => extensionsOf(field).read

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
      /** Declares a field like `prismaField`. The resolver may only read, without its parent and `info`. */
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

/** Prisma arguments for the object in the payload of a mutation. */
export type ShownQuery = ReturnType<typeof queryFromInfo<undefined, undefined, false>>

/** Resolver of a mutation. `query` returns the Prisma arguments for the object in its payload. */
export type PayloadResolver<Args, Payload> = (query: () => ShownQuery, args: Args, context: Context) => Payload

/** The parts of a resolver that `showing` created. */
export interface PayloadMutation {
  /** Name of the payload field that contains the object. Undefined if the query reads no columns of an object. */
  shown: string | undefined
  resolve: PayloadResolver<unknown, unknown>
}

const known = new WeakMap<OwnResolver, PayloadMutation>()

/** Returns the Prisma arguments for the object in the payload. The executor uses the same arguments for its fields. */
export const payloadQuery = (context: Context, info: GraphQLResolveInfo, shown: string | undefined): ShownQuery =>
  shown === undefined ? {} : queryFromInfo({ context, info, path: [shown] })

/** Creates the resolver of a mutation whose payload field `shown` contains the object that the query reads. */
export function showing<Args, Payload>(shown: string | undefined, resolve: PayloadResolver<Args, Payload>) {
  const resolver = (_root: unknown, args: Args, context: Context, info: GraphQLResolveInfo) =>
    resolve(() => payloadQuery(context, info, shown), args, context)
  known.set(resolver as OwnResolver, { shown, resolve: resolve as PayloadResolver<unknown, unknown> })
  return resolver
}

/** Returns the parts of a resolver that `showing` created, or undefined for other resolvers. */
export const payloadMutationOf = (resolver: OwnResolver): PayloadMutation | undefined => known.get(resolver)
