/**
 * The parts of the schema that the compiler reads. `t.read` declares a field like `t.prismaField` and stores its
 * resolver for the compiler. `showing` does the same for mutations.
 */
import { type FieldKind, RootFieldBuilder, type SchemaTypes } from '@pothos/core'
import { queryFromInfo } from '@pothos/plugin-prisma'
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import type { Context } from '../../context.ts'
import type { Fragments } from '../limits/document-cost.ts'

/** Symbol that is thrown for operations and values without a compiled form. graphql-js executes them instead. */
export const notCompilable = Symbol('notCompilable')

/** Columns and relations to read, as a Prisma `select`. A selection inside another selection is never changed. */
export type Selection = Record<string, unknown>

/** A resolver as written in the schema, without the wrappers of Pothos plugins. */
type OwnResolver = GraphQLFieldResolver<unknown, Context, unknown>

export type Read = (query: object, parent: unknown, args: unknown, context: Context) => unknown

type SelectFunction = (
  args: object,
  context: Context,
  nested: (query: unknown) => object,
  names: () => ReadonlySet<string>,
) => { select: Selection } | null | PromiseLike<unknown>

/** Extensions that the builder and Pothos add to types and fields. */
interface Extensions {
  /** Pothos' wrappers around this resolver load missing columns and depend on the response path. */
  ownResolver?: OwnResolver
  read?: Read
  pothosPrismaModel?: string
  pothosPrismaTypeSelection?: { select?: Selection }
  pothosPrismaRelationField?: { name: string }
  pothosPrismaSelect?: Selection | SelectFunction
}

export const extensionsOf = ({ extensions }: { extensions: unknown }) => extensions as Extensions

export const isModel = (type: GraphQLObjectType) => extensionsOf(type).pothosPrismaModel !== undefined

/** Returns the columns that every row of the type has. Throws `notCompilable` if the type does not declare them. */
export function columnsOf(type: GraphQLObjectType): Selection {
  const { select } = extensionsOf(type).pothosPrismaTypeSelection ?? {}
  if (!select) throw notCompilable
  return select
}

declare global {
  export namespace PothosSchemaTypes {
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

/** Prisma arguments for the object in the payload of a mutation. */
export type ShownQuery = ReturnType<typeof queryFromInfo<undefined, undefined, false>>

/** Resolver of a mutation. `query` returns the Prisma arguments for the object in its payload. */
type PayloadResolver<Args, Payload> = (query: () => ShownQuery, args: Args, context: Context) => Payload

export interface PayloadMutation {
  /** Name of the payload field that contains the object. Undefined if the query reads no columns of an object. */
  shown: string | undefined
  resolve: PayloadResolver<unknown, unknown>
}

const payloadMutations = new WeakMap<object, PayloadMutation>()

/** Returns the Prisma arguments for the object in the payload. The executor uses the same arguments for its fields. */
export const payloadQuery = (context: Context, info: GraphQLResolveInfo, shown: string | undefined): ShownQuery =>
  shown === undefined ? {} : queryFromInfo({ context, info, path: [shown] })

/** Creates the resolver of a mutation whose payload field `shown` contains the object that the query reads. */
export function showing<Args, Payload>(shown: string | undefined, resolve: PayloadResolver<Args, Payload>) {
  const resolver = (_root: unknown, args: Args, context: Context, info: GraphQLResolveInfo) =>
    resolve(() => payloadQuery(context, info, shown), args, context)
  payloadMutations.set(resolver, { shown, resolve: resolve as PayloadMutation['resolve'] })
  return resolver
}

/** Returns the resolver of a mutation. Throws `notCompilable` if it depends on the path in the response. */
export function payloadMutationOf(field: GraphQLField<unknown, unknown>): PayloadMutation {
  const { ownResolver: resolver } = extensionsOf(field)
  const found = resolver && payloadMutations.get(resolver)
  if (found) return found
  if (!resolver || resolver.length > 3) throw notCompilable
  return {
    shown: undefined,
    resolve: (_query, args, context) => resolver(undefined, args as never, context, undefined as never),
  }
}

/** The operation that is compiled. `slots` counts the values that each request computes once. */
export interface CompileContext {
  readonly schema: GraphQLSchema
  readonly fragments: Fragments
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  slots: number
}

/**
 * Collects the fields that `nodes` select for an object of this type, including fragments. Throws `notCompilable` for
 * directives and unknown fragments.
 */
export function collectFields(
  { schema, fragments }: CompileContext,
  type: GraphQLObjectType,
  nodes: readonly Pick<FieldNode, 'selectionSet'>[],
): ReadonlyMap<string, FieldNode[]> {
  const collected = new Map<string, FieldNode[]>()
  const seen = new Set<string>()
  const isOf = (name: string | undefined) => {
    const condition = name === undefined ? type : schema.getType(name)
    return condition === type || (isAbstractType(condition) && schema.isSubType(condition, type))
  }
  const collect = ({ selections }: SelectionSetNode) => {
    for (const node of selections) {
      if (node.directives?.length) throw notCompilable
      if (node.kind === Kind.FIELD) {
        const key = (node.alias ?? node.name).value
        collected.set(key, [...(collected.get(key) ?? []), node])
        continue
      }
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        if (seen.has(node.name.value)) continue
        seen.add(node.name.value)
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
      if (!fragment) throw notCompilable
      if (isOf(fragment.typeCondition?.name.value)) collect(fragment.selectionSet)
    }
  }
  for (const { selectionSet } of nodes) if (selectionSet) collect(selectionSet)
  // An object literal cannot have a property `__proto__`.
  if (collected.has('__proto__')) throw notCompilable
  return collected
}
