/** Compiles an operation once per document. Each request then only runs one read or mutation, and field resolvers. */
import { isDeepStrictEqual } from 'node:util'
import {
  type DocumentNode,
  defaultFieldResolver,
  type ExecutionResult,
  execute,
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
  getVariableValues,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValueNode,
  type VariableValues,
} from 'graphql'
import type { Context } from '../../context.ts'
import { fragmentsOf, isTypename } from '../limits/document-cost.ts'
import {
  type CompileContext,
  collectFields,
  columnsOf,
  extensionsOf,
  isModel,
  notCompilable,
  payloadMutationOf,
  payloadQuery,
  type Read,
  type Selection,
  type ShownQuery,
} from './compilable-fields.ts'

interface ExecutionState {
  readonly context: Context
  readonly variables: VariableValues
  readonly slots: unknown[]
  /** One promise per asynchronous value: true if it succeeded. No promise rejects, because it may have no handler. */
  readonly pending: Promise<boolean>[]
}

type Resolve = (row: unknown, state: ExecutionState) => unknown
type Select = (selection: Selection, state: ExecutionState) => void

interface CompiledObject {
  /** True if the object is a database row, or contains rows that only its own field can read. */
  readonly isOfRows: boolean
  readonly fields: readonly CompiledField[]
  readonly select: Select
  /** Converts a row to the response object. Throws errors of resolvers, and `notCompilable` for a forbidden null. */
  complete(row: unknown, state: ExecutionState): Record<string, unknown>
}

interface CompiledField extends Pick<CompiledObject, 'select' | 'isOfRows'> {
  /** Name of the field in the response. `name` is the field's name in the schema. */
  key: string
  name: string
  /** Named type of the field, without list and non-null wrappers. */
  type: GraphQLNamedType
  resolve: Resolve
  finish: Resolve
}

const undefinedIfThrown = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

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
function addSelection(selection: Selection, added: Selection): void {
  for (const [name, wanted] of Object.entries(added)) {
    if (!wanted) continue
    selection[name] = selection[name] === undefined ? wanted : combine(selection[name], wanted)
  }
}

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

const hasVariable = (node: ValueNode): boolean =>
  node.kind === Kind.VARIABLE ||
  (node.kind === Kind.LIST && node.values.some(hasVariable)) ||
  (node.kind === Kind.OBJECT && node.fields.some(({ value }) => hasVariable(value)))

function oncePerRequest<T>(compiling: CompileContext, compute: (state: ExecutionState) => T) {
  const slot = compiling.slots++
  return (state: ExecutionState) => {
    state.slots[slot] ??= compute(state)
    return state.slots[slot] as T
  }
}

/** Returns a function that computes a field's arguments: once per request, or once per document without variables. */
function compileArguments(compiling: CompileContext, field: GraphQLField<unknown, unknown>, node: FieldNode) {
  if (node.arguments?.some(({ value }) => hasVariable(value)))
    return oncePerRequest(compiling, ({ variables }): object => getArgumentValues(field, node, variables))
  const args: object = getArgumentValues(field, node)
  return () => args
}

/** Compiles the conversion of a resolved value to a response value. It throws `notCompilable` for an invalid value. */
function compileValue(type: GraphQLOutputType, object: CompiledObject | undefined): Resolve {
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

function compileObject(
  compiling: CompileContext,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): CompiledObject {
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
        if (!isPromise(value)) {
          object[key] = finish(value, state)
          continue
        }
        // Reserves the field's position in the object.
        object[key] = undefined
        const settle = (settled: unknown) => {
          object[key] = finish(settled, state)
          return true
        }
        const settled = Promise.resolve(value).then(settle)
        state.pending.push(settled.catch(() => false))
      }
      return object
    },
  }
}

const selectNothing: Select = () => undefined

function compileField(
  compiling: CompileContext,
  parent: GraphQLObjectType,
  key: string,
  nodes: FieldNode[],
): CompiledField {
  const [node] = nodes as [FieldNode]
  const name = node.name.value
  if (isTypename(node)) {
    const resolve = () => parent.name
    return { key, name, type: GraphQLString, isOfRows: false, select: selectNothing, resolve, finish: resolve }
  }
  const field = parent.getFields()[name]
  if (!field) throw notCompilable
  const type = getNamedType(field.type)
  const object = isObjectType(type) ? compileObject(compiling, type, nodes) : undefined
  const common = { key, name, type, finish: compileValue(field.type, object), isOfRows: object?.isOfRows ?? false }
  const argsOf = compileArguments(compiling, field, node)
  const facts: FieldFacts = { compiling, parent, field, nodes, object, argsOf }
  const { read, pothosPrismaRelationField: relation } = extensionsOf(field)
  if (read && object) return { ...common, isOfRows: false, ...compileOwnRead(facts, object, read) }
  if (relation && isObjectType(type) && !isModel(type)) return { ...common, ...compileConnection(facts, relation.name) }
  const resolve: Resolve = relation ? (row) => (row as Selection)[relation.name] : compileResolver(facts)
  return { ...common, select: compileSelect(facts), resolve }
}

interface FieldFacts {
  compiling: CompileContext
  parent: GraphQLObjectType
  field: GraphQLField<unknown, unknown>
  nodes: readonly FieldNode[]
  object: CompiledObject | undefined
  argsOf: ReturnType<typeof compileArguments>
}

function compileResolver({ field, argsOf }: FieldFacts): Resolve {
  const { ownResolver: resolver = defaultFieldResolver } = extensionsOf(field)
  if (resolver === defaultFieldResolver) return (row) => (row as Selection)[field.name]
  // A resolver with the parameter `info` may depend on the path in the response.
  if (resolver.length > 3) throw notCompilable
  return (row, state) => resolver(row, argsOf(state) as never, state.context, undefined as never)
}

const namesBelow = ({ object }: FieldFacts) => new Set(object?.fields.map(({ name }) => name))

function compileSelect(facts: FieldFacts): Select {
  const { parent, field, object, argsOf } = facts
  const wanted = extensionsOf(field).pothosPrismaSelect
  if (typeof wanted !== 'function') {
    // A field of a connection type reads its own rows. Other rows come from a resolver without access to the selection.
    if (object?.isOfRows && (wanted || isModel(parent))) throw notCompilable
    if (wanted) return (selection) => addSelection(selection, wanted)
    return object?.select ?? selectNothing
  }
  const names = namesBelow(facts)
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
  { compiling, field, argsOf }: FieldFacts,
  object: CompiledObject,
  read: Read,
): Pick<CompiledField, 'select' | 'resolve'> {
  if (extensionsOf(field).pothosPrismaSelect) throw notCompilable
  const queryOf = oncePerRequest(compiling, (state) => {
    const select: Selection = {}
    object.select(select, state)
    return { select }
  })
  return {
    select: (_selection, state) => void queryOf(state),
    resolve: (row, state) => read(queryOf(state), row, argsOf(state), state.context),
  }
}

/** Compiles a page of related rows. Pothos creates the connection if the document selects cursors or `pageInfo`. */
function compileConnection(facts: FieldFacts, relation: string): Pick<CompiledField, 'select' | 'resolve'> {
  const { compiling, parent, field, nodes, argsOf } = facts
  const { schema, operation, fragments } = compiling
  const select = compileSelect(facts)
  const { ownResolver } = extensionsOf(field)
  if (!ownResolver) throw notCompilable
  const names = namesBelow(facts)
  if (names.has('nodes') && [...names].every((name) => name === 'nodes' || name === '__typename')) {
    const slot = compiling.slots++
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
  // Pothos searches these nodes for the selected fields.
  const infoOf = oncePerRequest(compiling, ({ variables }) => ({
    fieldName: field.name,
    fieldNodes: nodes,
    returnType: field.type as GraphQLResolveInfo['returnType'],
    parentType: parent,
    schema,
    operation,
    fragments: Object.fromEntries(fragments),
    variableValues: variables,
  }))
  const resolve: Resolve = (row, state) =>
    ownResolver(row, argsOf(state) as never, state.context, infoOf(state) as unknown as GraphQLResolveInfo)
  return { select, resolve }
}

/** Removes the extra row that shows whether more rows follow. In a backward page, it is the first row. */
function pageOf(rows: unknown[], take: number): { node: unknown }[] {
  const edges = rows.map((node) => ({ node }))
  if (rows.length === Math.abs(take)) edges.splice(take < 0 ? 0 : -1, 1)
  return edges
}

type Variables = Readonly<Record<string, unknown>>

/** Executes a compiled operation. Returns undefined if graphql-js must execute it instead, to report an error. */
export type CompiledOperation = (context: Context, variables: Variables) => Promise<ExecutionResult | undefined>

interface RootField {
  compiling: CompileContext
  key: string
  nodes: FieldNode[]
  field: GraphQLField<unknown, unknown>
  /** Returns the response data with this value of the field, and `__typename` where the operation selects it. */
  dataOf(value: unknown): Record<string, unknown>
}

/** Waits for all asynchronous values, including nested ones. Returns true if all succeeded. */
async function settle(pending: readonly Promise<boolean>[]): Promise<boolean> {
  for (let waited = 0; waited < pending.length; ) {
    const part = pending.slice(waited)
    waited = pending.length
    if ((await Promise.all(part)).includes(false)) return false
  }
  return true
}

interface Execution {
  object: CompiledObject | undefined
  /** Returns the function that executes the root field. Throws for invalid arguments. */
  prepare(state: ExecutionState): () => unknown
  /** Completes the value of the root field with graphql-js if the compiled form cannot complete it. */
  recover?(value: unknown, context: Context, variables: Variables): Promise<ExecutionResult>
}

function executionOf(root: RootField, { object, prepare, recover }: Execution): CompiledOperation {
  const { compiling, key, nodes, field, dataOf } = root
  const { schema, operation } = compiling
  const finish = compileValue(field.type, object)

  function begin(context: Context, given: Variables) {
    const definitions = operation.variableDefinitions ?? []
    const { variableValues } = getVariableValues(schema, definitions, given, { maxErrors: 1 })
    if (!variableValues) return undefined
    const state: ExecutionState = { context, variables: variableValues, slots: [], pending: [] }
    return { state, run: prepare(state) }
  }

  return async (context, variables) => {
    // graphql-js decides whether the field accepts an invalid token.
    const begun = context.hasStaleToken ? undefined : undefinedIfThrown(() => begin(context, variables))
    if (!begun) return undefined
    const { state, run } = begun
    let value: unknown
    try {
      value = await run()
    } catch (error) {
      return { errors: [locatedError(error, nodes, [key])], data: isNonNullType(field.type) ? null : dataOf(null) }
    }
    const data = undefinedIfThrown(() => dataOf(finish(value, state)))
    const isComplete = await settle(state.pending)
    return data && isComplete ? { data } : recover?.(value, context, variables)
  }
}

/** Compiles a query with one read. Throws `notCompilable`. */
function compileRead(root: RootField): CompiledOperation {
  const { compiling, nodes, field } = root
  const { read } = extensionsOf(field)
  const named = getNamedType(field.type)
  if (!read || !isObjectType(named)) throw notCompilable
  const argsOf = compileArguments(compiling, field, nodes[0]!)
  const object = compileObject(compiling, named, nodes)
  return executionOf(root, {
    object,
    prepare(state) {
      const select: Selection = {}
      object.select(select, state)
      const args = argsOf(state)
      return () => read({ select }, undefined, args, state.context)
    },
  })
}

/** Throws `notCompilable` if the selection needs more than the columns that every row of the type has. */
function assertCovered({ type }: CompiledField, selection: Selection): void {
  const names = Object.keys(selection)
  if (names.length === 0) return
  const columns = isObjectType(type) && isModel(type) ? columnsOf(type) : {}
  if (!names.every((name) => columns[name])) throw notCompilable
}

/** Returns the Prisma arguments for the payload's object. Throws `notCompilable` if other rows need further columns. */
function queryOf(fields: readonly CompiledField[], shown: string | undefined, state: ExecutionState): ShownQuery {
  const select: Selection = {}
  for (const field of fields) {
    if (field.name === shown) {
      field.select(select, state)
      continue
    }
    const selection: Selection = {}
    field.select(selection, state)
    assertCovered(field, selection)
  }
  return Object.keys(select).length > 0 ? ({ select } as ShownQuery) : {}
}

/** Compiles a mutation, which runs exactly once even if its payload cannot be completed. Throws `notCompilable`. */
function compileMutation(root: RootField): CompiledOperation {
  const { compiling, nodes, field } = root
  const named = getNamedType(field.type)
  const isPayload = isObjectType(named) && !isModel(named)
  if (!isPayload && !isLeafType(named)) throw notCompilable
  const { shown, resolve } = payloadMutationOf(field)
  const argsOf = compileArguments(compiling, field, nodes[0]!)
  const object = isPayload ? compileObject(compiling, named, nodes) : undefined
  return executionOf(root, {
    object,
    prepare(state) {
      const query = queryOf(object?.fields ?? [], shown, state)
      const args = argsOf(state)
      return () => resolve(() => query, args, state.context)
    },
    /** Lets graphql-js complete the payload and report its errors. `guardRootFields` calls the root value. */
    async recover(payload, contextValue, variableValues) {
      const { schema, document, operation } = compiling
      const rootValue = (info: GraphQLResolveInfo) => {
        payloadQuery(contextValue, info, shown)
        return payload
      }
      const operationName = operation.name?.value
      return execute({ schema, document, operationName, variableValues, contextValue, rootValue })
    },
  })
}

/** Compiles an operation with one read or one mutation. Returns undefined for other operations. */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledOperation | undefined {
  const root = schema.getRootType(operation.operation)
  if (!root || operation.directives?.length) return undefined
  return undefinedIfThrown(() => {
    const compiling: CompileContext = { schema, document, operation, fragments: fragmentsOf(document), slots: 0 }
    const collected = collectFields(compiling, root, [operation])
    const [selected, ...others] = [...collected].filter(([, [first]]) => !isTypename(first!))
    const field = selected && root.getFields()[selected[1][0]!.name.value]
    if (others.length > 0 || !selected || !field) return undefined
    const [key, nodes] = selected
    const dataOf = (value: unknown) =>
      Object.fromEntries([...collected.keys()].map((each) => [each, each === key ? value : root.name]))
    const compiled: RootField = { compiling, key, nodes, field, dataOf }
    if (operation.operation === OperationTypeNode.QUERY) return compileRead(compiled)
    return operation.operation === OperationTypeNode.MUTATION ? compileMutation(compiled) : undefined
  })
}
