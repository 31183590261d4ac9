import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FieldNode,
  type GraphQLField,
  GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLSchema,
  getNamedType,
  getVariableValues,
  isLeafType,
  isNonNullType,
  isObjectType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql'
import type { Context } from '../../context.ts'
import { assertFresh } from '../expired-token.ts'
import { fragmentsOf, isTypename } from '../limits/document-limits.ts'
import {
  ownResolverOf,
  type PayloadMutation,
  payloadMutationOf,
  payloadQuery,
  readOf,
  type ShownQuery,
} from './compilable-fields.ts'
import {
  type CompileContext,
  type CompiledField,
  collectFields,
  columnsOf,
  compileArguments,
  compileObject,
  compileValue,
  type ExecutionState,
  isModel,
  notCompilable,
  type Selection,
  undefinedIfThrown,
} from './compile-object.ts'

/**
 * Executes a compiled operation. Returns undefined to leave it to graphql-js, which reports the error. In this case,
 * a mutation was not executed.
 */
export type CompiledOperation = (
  context: Context,
  variables: Readonly<Record<string, unknown>>,
) => Promise<ExecutionResult | undefined>

/** The root field of a compiled operation, and its position in the document. */
export interface RootField {
  compiling: CompileContext
  /** Response name of the field. */
  key: string
  nodes: FieldNode[]
  field: GraphQLField<unknown, unknown>
  /** Returns the response data with this value of the field, and `__typename` where the operation selects it. */
  dataOf(value: unknown): Record<string, unknown>
}

/**
 * Creates the state of a request and adds the result of `make`. Returns undefined if the variables or arguments are
 * invalid.
 */
export const ask = <Made extends object>(
  { schema, operation }: CompileContext,
  context: Context,
  given: Readonly<Record<string, unknown>>,
  make: (state: ExecutionState) => Made,
): (Made & { state: ExecutionState }) | undefined =>
  undefinedIfThrown(() => {
    const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], given)
    if (!variableValues) return undefined
    const state: ExecutionState = { context, variables: variableValues, slots: [], pending: [] }
    return { ...make(state), state }
  })

/** Returns the response for an error of the root field. */
export function errorResult({ key, nodes, field, dataOf }: RootField, error: unknown): ExecutionResult {
  const errors = [locatedError(error, nodes, [key])]
  return { errors, data: isNonNullType(field.type) ? null : dataOf(null) }
}

/** Waits for all asynchronous values, including nested ones. Returns true if all succeeded. */
async function settle(pending: readonly Promise<boolean>[]): Promise<boolean> {
  for (let waited = 0; waited < pending.length; ) {
    const part = pending.slice(waited)
    waited = pending.length
    const came = await Promise.all(part)
    if (came.includes(false)) return false
  }
  return true
}

/** Returns the response when every value is resolved, or undefined if one failed. */
export async function finished(
  { dataOf }: RootField,
  state: ExecutionState,
  finish: () => unknown,
): Promise<ExecutionResult | undefined> {
  const data = undefinedIfThrown(() => dataOf(finish()))
  const isComplete = await settle(state.pending)
  return data && isComplete ? { data } : undefined
}

/** Returns the resolver of a mutation. Throws `notCompilable` if it depends on the path in the response. */
function changeOf(field: GraphQLField<unknown, unknown>): PayloadMutation {
  const resolver = ownResolverOf(field)
  const made = resolver && payloadMutationOf(resolver)
  if (made) return made
  if (!resolver || resolver.length > 3) throw notCompilable
  const resolve: PayloadMutation['resolve'] = (_query, args, context) =>
    resolver(undefined, args, context, undefined as never)
  return { shown: undefined, resolve }
}

/** Throws `notCompilable` if the selection needs more than the columns that every row of the type has. */
function assertCovered({ type }: CompiledField, asked: Selection): void {
  const names = Object.keys(asked)
  if (names.length === 0) return
  const columns = isObjectType(type) && isModel(type) ? columnsOf(type) : {}
  if (!names.every((name) => columns[name])) throw notCompilable
}

/**
 * Returns the Prisma arguments for the object in the payload. Throws `notCompilable` if other rows need more than
 * their columns.
 */
function queryOf(fields: readonly CompiledField[], shown: string | undefined, state: ExecutionState): ShownQuery {
  const select: Selection = {}
  for (const field of fields) {
    if (field.name === shown) {
      field.select(select, state)
      continue
    }
    const asked: Selection = {}
    field.select(asked, state)
    assertCovered(field, asked)
  }
  return Object.keys(select).length > 0 ? ({ select } as ShownQuery) : {}
}

/**
 * Compiles a mutation and its payload. The mutation runs exactly once, even if completing the payload fails. Throws
 * `notCompilable`.
 */
export function compileMutation(root: RootField): CompiledOperation {
  const { compiling, nodes, field } = root
  const named = getNamedType(field.type)
  const isPayload = isObjectType(named) && !isModel(named)
  if (!isPayload && !isLeafType(named)) throw notCompilable
  const { shown, resolve } = changeOf(field)
  const argsOf = compileArguments(compiling, field, nodes[0]!)
  const object = isPayload ? compileObject(compiling, named, nodes) : undefined
  const finish = compileValue(field.type, object)

  return async (context, variables) => {
    const asked = ask(compiling, context, variables, (state) => ({
      query: queryOf(object?.fields ?? [], shown, state),
      args: argsOf(state),
    }))
    if (!asked) return undefined
    const { state, query, args } = asked
    let payload: unknown
    try {
      assertFresh(field, context)
      payload = await resolve(() => query, args, context)
    } catch (error) {
      return errorResult(root, error)
    }
    const answer = await finished(root, state, () => finish(payload, state))
    return answer ?? finishByField(compiling, { payload, shown }, context, variables)
  }
}

/** Root value of a mutation that was already executed. It returns the payload. */
type ExecutedMutation = (info: GraphQLResolveInfo) => unknown

const executedSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>()

/** Returns a copy of the schema whose mutations return the payload from the root value. */
function executedSchema(schema: GraphQLSchema): GraphQLSchema {
  const found = executedSchemas.get(schema)
  if (found) return found
  const config = schema.toConfig()
  const mutation = config.mutation!.toConfig()
  const fields = Object.entries(mutation.fields).map(([name, field]) => [
    name,
    {
      ...field,
      resolve: (root: ExecutedMutation, _args: unknown, _context: Context, info: GraphQLResolveInfo) => root(info),
    },
  ])
  const made = new GraphQLSchema({
    ...config,
    types: config.types.filter((type) => type !== config.mutation),
    mutation: new GraphQLObjectType({ ...mutation, fields: Object.fromEntries(fields) }),
    assumeValid: true,
  })
  executedSchemas.set(schema, made)
  return made
}

/** Completes the payload of an executed mutation with graphql-js, which reports the errors in it. */
async function finishByField(
  { schema, document, operation }: CompileContext,
  { payload, shown }: { payload: unknown; shown: string | undefined },
  context: Context,
  variables: Readonly<Record<string, unknown>>,
): Promise<ExecutionResult> {
  const rootValue: ExecutedMutation = (info) => {
    payloadQuery(context, info, shown)
    return payload
  }
  return execute({
    ...{ schema: executedSchema(schema), document, operationName: operation.name?.value, variableValues: variables },
    ...{ contextValue: context, rootValue },
  })
}

/** Maximum number of variables that control the selection. Each one doubles the number of compiled forms. */
const MAX_CONDITIONS = 2

/** Returns the names of the variables that directives use. */
function conditionsOf(document: DocumentNode): string[] {
  const names = new Set<string>()
  visit(document, {
    Directive: ({ arguments: args }) => {
      for (const { value } of args ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value)
    },
  })
  return [...names]
}

/** Returns the value of such a variable, or undefined if it is not a boolean. The executor then reports the error. */
function conditionValue(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
  name: string,
): boolean | undefined {
  const definition = variableDefinitions.find(({ variable }) => variable.name.value === name)
  const { defaultValue } = definition ?? {}
  const value = Object.hasOwn(given, name)
    ? given[name]
    : defaultValue?.kind === Kind.BOOLEAN
      ? defaultValue.value
      : undefined
  return typeof value === 'boolean' ? value : undefined
}

function compileWithConditions(compiling: CompileContext): CompiledOperation | undefined {
  const { schema, operation } = compiling
  const root = schema.getRootType(operation.operation)
  if (!root) throw notCompilable
  const collected = collectFields(compiling, root, [operation.selectionSet])
  const [asked, ...others] = [...collected].filter(([, [first]]) => !isTypename(first!))
  const field = asked && root.getFields()[asked[1][0]!.name.value]
  if (others.length > 0 || !asked || !field) throw notCompilable
  const [key, nodes] = asked
  const keys = [...collected.keys()]
  function dataOf(value: unknown) {
    const data: Record<string, unknown> = {}
    for (const each of keys) data[each] = each === key ? value : root!.name
    return data
  }
  const compiled: RootField = { compiling, key, nodes, field, dataOf }
  if (operation.operation === OperationTypeNode.QUERY) return compileRead(compiled)
  if (operation.operation === OperationTypeNode.MUTATION) return compileMutation(compiled)
  return undefined
}

/**
 * Compiles an operation with one read or one mutation. Returns undefined for all others. Its response equals that of
 * the executor. If variables control `@skip` or `@include`, each combination of values is compiled on first use.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledOperation | undefined {
  if (operation.directives?.length) return undefined
  const names = conditionsOf(document)
  const fragments = fragmentsOf(document)
  const compile = (values: readonly (boolean | undefined)[]) => {
    const conditions = new Map(names.map((name, index) => [name, values[index]]))
    return undefinedIfThrown(() =>
      compileWithConditions({ schema, document, operation, fragments, conditions, slots: 0 }),
    )
  }
  if (names.length > MAX_CONDITIONS) return undefined
  const all = names.map(() => true)
  // If one combination cannot be compiled, most others cannot either.
  const first = compile(all)
  if (!first || names.length === 0) return first
  const known = new Map<string, CompiledOperation | undefined>([[all.join(), first]])
  return async (context, variables) => {
    const values = names.map((name) => conditionValue(operation, variables, name))
    const key = values.join()
    if (!known.has(key)) known.set(key, compile(values))
    return known.get(key)?.(context, variables)
  }
}

/** Compiles a query with one read. Throws `notCompilable`. */
function compileRead(root: RootField): CompiledOperation {
  const { compiling, nodes, field } = root
  const read = readOf(field)
  const named = getNamedType(field.type)
  if (!read || !isObjectType(named)) throw notCompilable
  const argsOf = compileArguments(compiling, field, nodes[0]!)
  const object = compileObject(compiling, named, nodes)
  const finish = compileValue(field.type, object)

  return async (context, variables) => {
    const asked = ask(compiling, context, variables, (state) => {
      const select: Selection = {}
      object.select(select, state)
      return { select, args: argsOf(state) }
    })
    if (!asked) return undefined
    const { state, select, args } = asked
    let row: unknown
    try {
      assertFresh(field, context)
      row = await read({ select }, undefined, args, context)
    } catch (error) {
      return errorResult(root, error)
    }
    return finished(root, state, () => finish(row, state))
  }
}
