import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FieldNode,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  isLeafType,
  isNonNullType,
  isObjectType,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import type { Context } from '../../context.ts'
import { fragmentsOf, isTypename } from '../limits/document-cost.ts'
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
  type CompiledObject,
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

type Variables = Readonly<Record<string, unknown>>

/** Executes a compiled operation. Returns undefined if graphql-js must execute it instead, to report an error. */
export type CompiledOperation = (context: Context, variables: Variables) => Promise<ExecutionResult | undefined>

/** The root field of a compiled operation, and its position in the document. */
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
  const read = readOf(field)
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
  const { shown, resolve } = changeOf(field)
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
