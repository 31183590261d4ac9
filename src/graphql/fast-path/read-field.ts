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
import type { GraphQLField, GraphQLFieldResolver } from 'graphql'
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
