/**
 * Objects of an answer, compiled. What is asked of an object is looked at once, for a document; what is left for each row is
 * to call the fields' own resolvers on it. A row has everything that they need, for the selection was made from the same fields.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  type DirectiveNode,
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
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
import type { Context } from '../../services-context.ts'
import { type OwnResolver, ownResolverOf, type Read, readOf } from './compilable-fields.ts'

/** Thrown for what is not compiled, or not answered, in this way: it is left to the executor. */
export const unfit = Symbol('unfit')

/** What the work comes to; undefined when it raises anything. */
export const refusable = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Names of columns and relations, with what is wanted of each. Never changed once it is part of another. */
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
  // One relation cannot be read in two ways at once.
  if (!isDeepStrictEqual(first, second)) throw unfit
  return first
}

/** Adds what `added` wants to `selection`. Raises `unfit` where the two want different things of one relation. */
export function addSelection(selection: Selection, added: Selection): void {
  for (const [name, wanted] of Object.entries(added)) {
    if (!wanted) continue
    selection[name] = selection[name] === undefined ? wanted : combine(selection[name], wanted)
  }
}

/** The fields that a selection asks of an object, by the names that they have in the answer, in the order of the answer. */
export type Collected = ReadonlyMap<string, FieldNode[]>

/** What selections are understood by. */
export interface Terms {
  readonly schema: GraphQLSchema
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Values of the variables that decide what is asked for, by name. */
  readonly conditions: ReadonlyMap<string, boolean | undefined>
}

/** Whether `@skip` or `@include` lets a part in. Raises `unfit` for other directives. */
function letsIn({ name, arguments: args }: DirectiveNode, conditions: Terms['conditions']): boolean {
  const given = args?.find((argument) => argument.name.value === 'if')?.value
  const value =
    given?.kind === Kind.BOOLEAN
      ? given.value
      : given?.kind === Kind.VARIABLE
        ? conditions.get(given.name.value)
        : undefined
  if (value === undefined) throw unfit
  if (name.value === 'include') return value
  if (name.value === 'skip') return !value
  throw unfit
}

/** What `sets` ask of an object of this type, through fragments. Raises `unfit` for what is not known to come out the same. */
export function collectFields(
  { schema, fragments, conditions }: Terms,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): Collected {
  const collected = new Map<string, FieldNode[]>()
  const seen = new Set<string>()
  const isOf = (name: string | undefined) => {
    const condition = name === undefined ? type : schema.getType(name)
    return condition === type || (isAbstractType(condition) && schema.isSubType(condition, type))
  }
  const collect = ({ selections }: SelectionSetNode) => {
    for (const node of selections) {
      if (!(node.directives ?? []).every((directive) => letsIn(directive, conditions))) continue
      if (node.kind === Kind.FIELD) {
        const key = (node.alias ?? node.name).value
        const nodes = collected.get(key)
        if (nodes) nodes.push(node)
        else collected.set(key, [node])
        continue
      }
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        if (seen.has(node.name.value)) continue
        seen.add(node.name.value)
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
      if (!fragment) throw unfit
      if (isOf(fragment.typeCondition?.name.value)) collect(fragment.selectionSet)
    }
  }
  for (const set of sets) collect(set)
  // As a name of an object's member it would be lost.
  if (collected.has('__proto__')) throw unfit
  return collected
}

/** A document whose operation is compiled, with places for what each request works out once. */
export interface Draft extends Terms {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  places: number
}

/** One request for a compiled document. */
export interface Asking {
  readonly context: Context
  readonly variables: VariableValues
  readonly places: unknown[]
  /** Values that are waited for: whether each came. None rejects, for nobody may be waiting for it yet. */
  readonly later: Promise<boolean>[]
}

/** An object of an answer. */
export interface CompiledObject {
  /** Whether it is a row, or holds some that nobody but the field it stands in can read. */
  readonly isOfRows: boolean
  readonly fields: readonly CompiledField[]
  /** Adds what its fields need of their row. */
  select(selection: Selection, asking: Asking): void
  /** The object from its row. Raises whatever its resolvers do, and `unfit` for a null where none may be. */
  complete(row: unknown, asking: Asking): Record<string, unknown>
}

type Resolve = (row: unknown, asking: Asking) => unknown

/** A field of an object of an answer. */
export interface CompiledField extends Pick<CompiledObject, 'select' | 'isOfRows'> {
  /** In the answer, and in the schema. */
  key: string
  name: string
  /** Of what the field holds, be it one or a list of them. */
  type: GraphQLNamedType
  resolve: Resolve
  finish: Resolve
}

/** What Pothos knows of types and fields. */
interface PothosFacts {
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

const factsOf = ({ extensions }: { extensions: unknown }) => extensions as PothosFacts
/** Whether objects of a type are rows. */
export const isModel = (type: GraphQLObjectType) => factsOf(type).pothosPrismaModel !== undefined

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

const hasVariable = (node: ValueNode): boolean =>
  node.kind === Kind.VARIABLE ||
  (node.kind === Kind.LIST && node.values.some(hasVariable)) ||
  (node.kind === Kind.OBJECT && node.fields.some(({ value }) => hasVariable(value)))

/** What a field is asked with; worked out once, for the document if no variable is in it, else for each request. */
export function compileArguments(draft: Draft, field: GraphQLField<unknown, unknown>, node: FieldNode) {
  if (!node.arguments?.some(({ value }) => hasVariable(value))) {
    const args = getArgumentValues(field, node)
    return () => args
  }
  const place = draft.places++
  return ({ places, variables }: Asking) => {
    places[place] ??= getArgumentValues(field, node, variables)
    return places[place] as object
  }
}

/** From what a resolver gave to what stands in the answer. Raises `unfit` where GraphQL would tell an error. */
export function compileValue(type: GraphQLOutputType, object: CompiledObject | undefined): Resolve {
  if (isNonNullType(type)) {
    const finish = compileValue(type.ofType, object)
    return (value, asking) => {
      const finished = finish(value, asking)
      if (finished === null) throw unfit
      return finished
    }
  }
  if (isListType(type)) {
    const finish = compileValue(type.ofType, object)
    return (value, asking) => {
      if (value === null || value === undefined) return null
      if (!Array.isArray(value)) throw unfit
      return value.map((item) => finish(item, asking))
    }
  }
  if (isLeafType(type)) {
    return (value) => {
      if (value === null || value === undefined) return null
      const text = type.serialize(value)
      if (text === null || text === undefined) throw unfit
      return text
    }
  }
  if (!object) throw unfit
  return (value, asking) => (value === null || value === undefined ? null : object.complete(value, asking))
}

/** The columns that every row of a type has, whoever gives it. Raises `unfit` where they are not told. */
export function columnsOf(type: GraphQLObjectType): Selection {
  const { select } = factsOf(type).pothosPrismaTypeSelection ?? {}
  if (!select) throw unfit
  return select
}

/** What is asked of objects of a type, compiled. Raises `unfit`. */
export function compileObject(draft: Draft, type: GraphQLObjectType, nodes: readonly FieldNode[]): CompiledObject {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  const fields = [...collectFields(draft, type, sets)].map(([key, asked]) => compileField(draft, type, key, asked))
  const columns = isModel(type) ? columnsOf(type) : {}
  return {
    isOfRows: isModel(type) || fields.some(({ isOfRows }) => isOfRows),
    fields,
    select(selection, asking) {
      addSelection(selection, columns)
      for (const { select } of fields) select(selection, asking)
    },
    complete(row, asking) {
      const object: Record<string, unknown> = {}
      for (const { key, resolve, finish } of fields) {
        const value = resolve(row, asking)
        if (!isPromise(value)) object[key] = finish(value, asking)
        else {
          // It has its place already.
          object[key] = undefined
          asking.later.push(
            Promise.resolve(value)
              .then((settled) => {
                object[key] = finish(settled, asking)
                return true
              })
              .catch(() => false),
          )
        }
      }
      return object
    },
  }
}

const selectNothing = () => undefined

function compileField(draft: Draft, parent: GraphQLObjectType, key: string, nodes: FieldNode[]): CompiledField {
  const [node] = nodes as [FieldNode]
  const name = node.name.value
  if (name === '__typename') {
    const resolve = () => parent.name
    return { key, name, type: GraphQLString, isOfRows: false, select: selectNothing, resolve, finish: resolve }
  }
  const field = parent.getFields()[name]
  if (!field) throw unfit
  const named = getNamedType(field.type)
  const object = isObjectType(named) ? compileObject(draft, named, nodes) : undefined
  const finish = compileValue(field.type, object)
  const argsOf = compileArguments(draft, field, node)
  const relation = factsOf(field).pothosPrismaRelationField?.name
  const facts = { parent, field, named, nodes, object, argsOf }
  const isOfRows = object?.isOfRows ?? false
  const told = { key, name, type: named, finish }
  const read = readOf(field)
  if (read && object) return { ...told, isOfRows: false, ...compileOwnRead(draft, { ...facts, object, read }) }
  if (relation !== undefined && isObjectType(named) && !isModel(named)) {
    return { ...told, isOfRows, ...compileConnection(draft, { ...facts, relation }) }
  }
  return {
    ...told,
    isOfRows,
    select: compileSelect(draft, facts),
    resolve: relation === undefined ? compileResolver(field, argsOf) : (row) => (row as Selection)[relation],
  }
}

type ArgumentsOf = ReturnType<typeof compileArguments>

function compileResolver(field: GraphQLField<unknown, unknown>, argsOf: ArgumentsOf): Resolve {
  const resolver = ownResolverOf(field) ?? (defaultFieldResolver as OwnResolver)
  if (resolver === defaultFieldResolver) return (row) => (row as Selection)[field.name]
  // It goes by where in the answer it is.
  if (resolver.length > 3) throw unfit
  return (row, asking) => resolver(row, argsOf(asking), asking.context, undefined as never)
}

/** What is known of a field. */
interface FieldFacts {
  parent: GraphQLObjectType
  field: GraphQLField<unknown, unknown>
  named: ReturnType<typeof getNamedType>
  nodes: readonly FieldNode[]
  object: CompiledObject | undefined
  argsOf: ArgumentsOf
}

/** The names of what is asked of a field's objects. */
const namesBelow = (draft: Draft, { named, nodes }: FieldFacts): ReadonlySet<string> => {
  if (!isObjectType(named)) return new Set()
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  const collected = collectFields(draft, named, sets)
  return new Set([...collected.values()].map(([first]) => first!.name.value))
}

function compileSelect(draft: Draft, facts: FieldFacts): CompiledObject['select'] {
  const { parent, field, object, argsOf } = facts
  const wanted = factsOf(field).pothosPrismaSelect
  if (typeof wanted !== 'function') {
    // The rows of a connection are read with the field that it stands in. Other rows come from a resolver, which knows nothing of what is asked of them.
    if (object?.isOfRows && (wanted || isModel(parent))) throw unfit
    if (wanted) return (selection) => addSelection(selection, wanted)
    return object ? (selection, asking) => object.select(selection, asking) : selectNothing
  }
  const names = namesBelow(draft, facts)
  const namesOf = () => names
  return (selection, asking) => {
    let isNested = false
    const nested = (query: unknown) => {
      isNested = true
      const select: Selection = {}
      object?.select(select, asking)
      return { ...(query as object), select }
    }
    const made = wanted(argsOf(asking), asking.context, nested, namesOf)
    if (isPromise(made) || (object?.isOfRows && !isNested)) throw unfit
    if (made) addSelection(selection, made.select)
  }
}

/** A field below another that is a read of its own. What it selects is the same for each row. */
function compileOwnRead(
  draft: Draft,
  { field, object, read, argsOf }: FieldFacts & { object: CompiledObject; read: Read },
): Pick<CompiledField, 'select' | 'resolve'> {
  if (factsOf(field).pothosPrismaSelect) throw unfit
  const place = draft.places++
  const makeQuery = (asking: Asking) => {
    const select: Selection = {}
    object.select(select, asking)
    return { select }
  }
  const queryOf = (asking: Asking) => {
    asking.places[place] ??= makeQuery(asking)
    return asking.places[place] as object
  }
  return {
    select: (_selection, asking) => void queryOf(asking),
    resolve: (row, asking) => read(queryOf(asking), row, argsOf(asking), asking.context),
  }
}

/** Whether of a connection nothing but its rows is asked. */
const isRowsAlone = (names: ReadonlySet<string>) =>
  names.has('nodes') && [...names].every((name) => name === 'nodes' || name === '__typename')

/** A page of rows that hang on another. Pothos makes the connection, but where the document asks for no cursor and no position. */
function compileConnection(
  draft: Draft,
  facts: FieldFacts & { relation: string },
): Pick<CompiledField, 'select' | 'resolve'> {
  const { field, relation, argsOf } = facts
  const select = compileSelect(draft, facts)
  const make = ownResolverOf(field)
  if (!make) throw unfit
  const place = draft.places++
  if (isRowsAlone(namesBelow(draft, facts))) {
    return {
      select(selection, asking) {
        select(selection, asking)
        asking.places[place] = (selection[relation] as { take: number }).take
      },
      resolve: (row, { places }) => ({
        edges: pageOf((row as Record<string, unknown[]>)[relation]!, places[place] as number),
      }),
    }
  }
  return {
    select,
    resolve(row, asking) {
      asking.places[place] ??= infoOf(draft, facts, asking)
      return make(row, argsOf(asking), asking.context, asking.places[place] as GraphQLResolveInfo)
    },
  }
}

/** The rows of a page without the one that was read to learn whether more follow; backwards, it comes first. */
function pageOf(rows: unknown[], take: number): { node: unknown }[] {
  const edges = rows.map((node) => ({ node }))
  if (rows.length === Math.abs(take)) edges.splice(take < 0 ? 0 : -1, 1)
  return edges
}

/** Where in a document a connection is asked for: Pothos looks through it for what is asked of the connection. */
const infoOf = (
  { schema, operation, fragments }: Draft,
  { parent, field, nodes }: FieldFacts,
  { variables }: Asking,
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
