/** Compiles the selection of an object once per document. Each row then only runs the resolvers of its fields. */
import { isDeepStrictEqual } from 'node:util'
import {
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLString,
  getArgumentValues,
  getNamedType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  type VariableValues,
} from 'graphql'
import type { Context } from '../../context.ts'
import type { Fragments } from '../limits/document-cost.ts'
import { type OwnResolver, ownResolverOf, type Read, readOf } from './compilable-fields.ts'

/** Symbol that is thrown for operations and values without a compiled form. graphql-js executes them instead. */
export const notCompilable = Symbol('notCompilable')

export const undefinedIfThrown = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Columns and relations to read, as a Prisma `select`. A selection inside another selection is never changed. */
export type Selection = Record<string, unknown>

const nestedOf = (wanted: unknown): Selection | undefined => {
  if (typeof wanted !== 'object' || wanted === null || !('select' in wanted)) return undefined
  return Object.keys(wanted).length === 1 ? (wanted.select as Selection) : undefined
}

function combine(first: unknown, second: unknown): unknown {
  const both = [nestedOf(first), nestedOf(second)] as const
  if (both[0] && both[1]) {
    const select = { ...both[0] }
    addSelection(select, both[1])
    return { select }
  }
  // One Prisma query cannot read the same relation with two different selections.
  if (!isDeepStrictEqual(first, second)) throw notCompilable
  return first
}

/** Adds `added` to `selection`. Throws `notCompilable` if both select one relation in different ways. */
export function addSelection(selection: Selection, added: Selection): void {
  for (const [name, wanted] of Object.entries(added)) {
    if (!wanted) continue
    selection[name] = selection[name] === undefined ? wanted : combine(selection[name], wanted)
  }
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

/** The operation that is compiled. `slots` counts the values that each request computes once. */
export interface CompileContext {
  readonly schema: GraphQLSchema
  readonly fragments: Fragments
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  slots: number
}

/** State of one request for a compiled operation. */
export interface ExecutionState {
  readonly context: Context
  readonly variables: VariableValues
  readonly slots: unknown[]
  /** One promise per asynchronous value: true if it succeeded. No promise rejects, because it may have no handler. */
  readonly pending: Promise<boolean>[]
}

export interface CompiledObject {
  /** True if the object is a database row, or contains rows that only its own field can read. */
  readonly isOfRows: boolean
  readonly fields: readonly CompiledField[]
  select(selection: Selection, state: ExecutionState): void
  /** Converts a row to the response object. Throws errors of resolvers, and `notCompilable` for a forbidden null. */
  complete(row: unknown, state: ExecutionState): Record<string, unknown>
}

type Resolve = (row: unknown, state: ExecutionState) => unknown

export interface CompiledField extends Pick<CompiledObject, 'select' | 'isOfRows'> {
  /** Name of the field in the response. `name` is the field's name in the schema. */
  key: string
  name: string
  /** Named type of the field, without list and non-null wrappers. */
  type: GraphQLNamedType
  resolve: Resolve
  finish: Resolve
}

/** Extensions that Pothos adds to types and fields. */
interface PothosExtensions {
  pothosPrismaModel?: string
  pothosPrismaTypeSelection?: { select?: Selection }
  pothosPrismaRelationField?: { name: string }
  pothosPrismaSelect?: Selection | SelectFunction
}
type SelectFunction = (
  args: object,
  context: Context,
  nested: (query: unknown) => object,
  names: () => ReadonlySet<string>,
) => { select: Selection } | null | PromiseLike<unknown>

const extensionsOf = ({ extensions }: { extensions: unknown }) => extensions as PothosExtensions
export const isModel = (type: GraphQLObjectType) => extensionsOf(type).pothosPrismaModel !== undefined

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

const hasVariable = (node: ValueNode): boolean =>
  node.kind === Kind.VARIABLE ||
  (node.kind === Kind.LIST && node.values.some(hasVariable)) ||
  (node.kind === Kind.OBJECT && node.fields.some(({ value }) => hasVariable(value)))

/** Returns a function that computes a field's arguments: once per request, or once per document without variables. */
export function compileArguments(compiling: CompileContext, field: GraphQLField<unknown, unknown>, node: FieldNode) {
  if (!node.arguments?.some(({ value }) => hasVariable(value))) {
    const args = getArgumentValues(field, node)
    return () => args
  }
  const slot = compiling.slots++
  return ({ slots, variables }: ExecutionState) => {
    slots[slot] ??= getArgumentValues(field, node, variables)
    return slots[slot] as object
  }
}

/** Compiles the conversion of a resolved value to a response value. It throws `notCompilable` for an invalid value. */
export function compileValue(type: GraphQLOutputType, object: CompiledObject | undefined): Resolve {
  if (isNonNullType(type)) {
    const finish = compileValue(type.ofType, object)
    return (value, state) => {
      const finished = finish(value, state)
      if (finished === null) throw notCompilable
      return finished
    }
  }
  if (isListType(type)) {
    const finish = compileValue(type.ofType, object)
    return (value, state) => {
      if (value === null || value === undefined) return null
      if (!Array.isArray(value)) throw notCompilable
      return value.map((item) => finish(item, state))
    }
  }
  if (isLeafType(type)) {
    return (value) => {
      if (value === null || value === undefined) return null
      const text = type.serialize(value)
      if (text === null || text === undefined) throw notCompilable
      return text
    }
  }
  if (!object) throw notCompilable
  return (value, state) => (value === null || value === undefined ? null : object.complete(value, state))
}

/** Returns the columns that every row of the type has. Throws `notCompilable` if the type does not declare them. */
export function columnsOf(type: GraphQLObjectType): Selection {
  const { select } = extensionsOf(type).pothosPrismaTypeSelection ?? {}
  if (!select) throw notCompilable
  return select
}

type Compile = (compiling: CompileContext, type: GraphQLObjectType, nodes: readonly FieldNode[]) => CompiledObject

export const compileObject: Compile = (compiling, type, nodes) => {
  const collected = collectFields(compiling, type, nodes)
  const fields = [...collected].map(([key, selected]) => compileField(compiling, type, key, selected))
  const columns = isModel(type) ? columnsOf(type) : {}
  return {
    isOfRows: isModel(type) || fields.some(({ isOfRows }) => isOfRows),
    fields,
    select(selection, state) {
      addSelection(selection, columns)
      for (const { select } of fields) select(selection, state)
    },
    complete(row, state) {
      const object: Record<string, unknown> = {}
      for (const { key, resolve, finish } of fields) {
        const value = resolve(row, state)
        if (!isPromise(value)) object[key] = finish(value, state)
        else {
          // Reserves the field's position in the object.
          object[key] = undefined
          const settle = (settled: unknown) => {
            object[key] = finish(settled, state)
            return true
          }
          state.pending.push(
            Promise.resolve(value)
              .then(settle)
              .catch(() => false),
          )
        }
      }
      return object
    },
  }
}

const selectNothing = () => undefined

function compileField(
  compiling: CompileContext,
  parent: GraphQLObjectType,
  key: string,
  nodes: FieldNode[],
): CompiledField {
  const [node] = nodes as [FieldNode]
  const name = node.name.value
  if (name === '__typename') {
    const resolve = () => parent.name
    return { key, name, type: GraphQLString, isOfRows: false, select: selectNothing, resolve, finish: resolve }
  }
  const field = parent.getFields()[name]
  if (!field) throw notCompilable
  const named = getNamedType(field.type)
  const object = isObjectType(named) ? compileObject(compiling, named, nodes) : undefined
  const finish = compileValue(field.type, object)
  const argsOf = compileArguments(compiling, field, node)
  const relation = extensionsOf(field).pothosPrismaRelationField?.name
  const facts = { parent, field, named, nodes, object, argsOf }
  const isOfRows = object?.isOfRows ?? false
  const common = { key, name, type: named, finish }
  const read = readOf(field)
  if (read && object) return { ...common, isOfRows: false, ...compileOwnRead(compiling, { ...facts, object, read }) }
  if (relation !== undefined && isObjectType(named) && !isModel(named)) {
    return { ...common, isOfRows, ...compileConnection(compiling, { ...facts, relation }) }
  }
  return {
    ...common,
    isOfRows,
    select: compileSelect(compiling, facts),
    resolve: relation === undefined ? compileResolver(field, argsOf) : (row) => (row as Selection)[relation],
  }
}

type ArgumentsOf = ReturnType<typeof compileArguments>

function compileResolver(field: GraphQLField<unknown, unknown>, argsOf: ArgumentsOf): Resolve {
  const resolver = ownResolverOf(field) ?? (defaultFieldResolver as OwnResolver)
  if (resolver === defaultFieldResolver) return (row) => (row as Selection)[field.name]
  // A resolver with the parameter `info` may depend on the path in the response.
  if (resolver.length > 3) throw notCompilable
  return (row, state) => resolver(row, argsOf(state), state.context, undefined as never)
}

interface FieldFacts {
  parent: GraphQLObjectType
  field: GraphQLField<unknown, unknown>
  named: ReturnType<typeof getNamedType>
  nodes: readonly FieldNode[]
  object: CompiledObject | undefined
  argsOf: ArgumentsOf
}

/** Returns the names of the fields that are selected below a field. */
const namesBelow = (compiling: CompileContext, { named, nodes }: FieldFacts): ReadonlySet<string> => {
  if (!isObjectType(named)) return new Set()
  return new Set([...collectFields(compiling, named, nodes).values()].map(([first]) => first!.name.value))
}

function compileSelect(compiling: CompileContext, facts: FieldFacts): CompiledObject['select'] {
  const { parent, field, object, argsOf } = facts
  const wanted = extensionsOf(field).pothosPrismaSelect
  if (typeof wanted !== 'function') {
    // A field of a connection type reads its own rows. Other rows come from a resolver without access to the selection.
    if (object?.isOfRows && (wanted || isModel(parent))) throw notCompilable
    if (wanted) return (selection) => addSelection(selection, wanted)
    return object ? (selection, state) => object.select(selection, state) : selectNothing
  }
  const names = namesBelow(compiling, facts)
  const namesOf = () => names
  return (selection, state) => {
    let isNested = false
    const nested = (query: unknown) => {
      isNested = true
      const select: Selection = {}
      object?.select(select, state)
      return { ...(query as object), select }
    }
    const made = wanted(argsOf(state), state.context, nested, namesOf)
    if (isPromise(made) || (object?.isOfRows && !isNested)) throw notCompilable
    if (made) addSelection(selection, made.select)
  }
}

/** Compiles a nested field that runs its own query. The query selects the same fields for each row. */
function compileOwnRead(
  compiling: CompileContext,
  { field, object, read, argsOf }: FieldFacts & { object: CompiledObject; read: Read },
): Pick<CompiledField, 'select' | 'resolve'> {
  if (extensionsOf(field).pothosPrismaSelect) throw notCompilable
  const slot = compiling.slots++
  const queryOf = (state: ExecutionState) => {
    if (state.slots[slot] === undefined) {
      const select: Selection = {}
      object.select(select, state)
      state.slots[slot] = { select }
    }
    return state.slots[slot] as object
  }
  return {
    select: (_selection, state) => void queryOf(state),
    resolve: (row, state) => read(queryOf(state), row, argsOf(state), state.context),
  }
}

/** Returns true if only the connection's nodes are selected. */
const isRowsAlone = (names: ReadonlySet<string>) =>
  names.has('nodes') && [...names].every((name) => name === 'nodes' || name === '__typename')

/** Compiles a page of related rows. Pothos creates the connection if the document selects cursors or `pageInfo`. */
function compileConnection(
  compiling: CompileContext,
  facts: FieldFacts & { relation: string },
): Pick<CompiledField, 'select' | 'resolve'> {
  const { field, relation, argsOf } = facts
  const select = compileSelect(compiling, facts)
  const make = ownResolverOf(field)
  if (!make) throw notCompilable
  const slot = compiling.slots++
  if (isRowsAlone(namesBelow(compiling, facts))) {
    return {
      select(selection, state) {
        select(selection, state)
        state.slots[slot] = (selection[relation] as { take: number }).take
      },
      resolve: (row, { slots }) => ({
        edges: pageOf((row as Record<string, unknown[]>)[relation]!, slots[slot] as number),
      }),
    }
  }
  return {
    select,
    resolve(row, state) {
      state.slots[slot] ??= infoOf(compiling, facts, state)
      return make(row, argsOf(state), state.context, state.slots[slot] as GraphQLResolveInfo)
    },
  }
}

/** Removes the extra row that shows whether more rows follow. In a backward page, it is the first row. */
function pageOf(rows: unknown[], take: number): { node: unknown }[] {
  const edges = rows.map((node) => ({ node }))
  if (rows.length === Math.abs(take)) edges.splice(take < 0 ? 0 : -1, 1)
  return edges
}

/** Selection nodes of a connection, which Pothos searches for the selected fields. */
const infoOf = (
  { schema, operation, fragments }: CompileContext,
  { parent, field, nodes }: FieldFacts,
  { variables }: ExecutionState,
): Partial<GraphQLResolveInfo> => ({
  fieldName: field.name,
  fieldNodes: nodes,
  returnType: field.type as GraphQLResolveInfo['returnType'],
  parentType: parent,
  schema,
  operation,
  fragments: Object.fromEntries(fragments),
  variableValues: variables,
})
