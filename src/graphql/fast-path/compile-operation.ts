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
import type { Context } from '../../services-context.ts'
import { assertFresh } from '../expired-token.ts'
import { fragmentsOf, isTypename } from '../limits/document-limits.ts'
import { ownResolverOf, queryShown, readOf, type Showing, type ShownQuery, showingOf } from './compilable-fields.ts'
import {
  type Asking,
  type CompiledField,
  collectFields,
  columnsOf,
  compileArguments,
  compileObject,
  compileValue,
  type Draft,
  isModel,
  refusable,
  type Selection,
  unfit,
} from './compile-object.ts'

/**
 * Answers an operation; undefined when it is left to the executor, which tells what is wrong. Of a mutation nothing was carried out then.
 */
export type CompiledOperation = (
  context: Context,
  variables: Readonly<Record<string, unknown>>,
) => Promise<ExecutionResult | undefined>

/** The field at the root of an operation that is compiled, and where it is asked for. */
export interface RootField {
  draft: Draft
  /** Its name in the answer. */
  key: string
  nodes: FieldNode[]
  field: GraphQLField<unknown, unknown>
  /** Returns the data of a response with this value of the field, and `__typename` where the operation selects it. */
  dataOf(value: unknown): Record<string, unknown>
}

/** One request, with what `make` works out of it; undefined when something is wrong with it. */
export const ask = <Made extends object>(
  { schema, operation }: Draft,
  context: Context,
  given: Readonly<Record<string, unknown>>,
  make: (asking: Asking) => Made,
): (Made & { asking: Asking }) | undefined =>
  refusable(() => {
    const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], given)
    if (!variableValues) return undefined
    const asking: Asking = { context, variables: variableValues, places: [], later: [] }
    return { ...make(asking), asking }
  })

/** The answer when the field itself is refused. */
export function refused({ key, nodes, field, dataOf }: RootField, error: unknown): ExecutionResult {
  const errors = [locatedError(error, nodes, [key])]
  return { errors, data: isNonNullType(field.type) ? null : dataOf(null) }
}

/** Waits for all, also for what those ask for that came, and tells whether all came. */
async function settle(later: readonly Promise<boolean>[]): Promise<boolean> {
  for (let waited = 0; waited < later.length; ) {
    const part = later.slice(waited)
    waited = later.length
    const came = await Promise.all(part)
    if (came.includes(false)) return false
  }
  return true
}

/** Returns the response once every value is there, or undefined if one is not. */
export async function finished(
  { dataOf }: RootField,
  asking: Asking,
  finish: () => unknown,
): Promise<ExecutionResult | undefined> {
  const data = refusable(() => dataOf(finish()))
  const isComplete = await settle(asking.later)
  return data && isComplete ? { data } : undefined
}

/** What a mutation does. Raises `unfit` where it goes by where in the answer it is. */
function changeOf(field: GraphQLField<unknown, unknown>): Showing {
  const resolver = ownResolverOf(field)
  const made = resolver && showingOf(resolver)
  if (made) return made
  if (!resolver || resolver.length > 3) throw unfit
  const resolve: Showing['resolve'] = (_query, args, context) => resolver(undefined, args, context, undefined as never)
  return { shown: undefined, resolve }
}

/** Raises `unfit` where more is asked of a row than what every row of its type has. */
function assertCovered({ type }: CompiledField, asked: Selection): void {
  const names = Object.keys(asked)
  if (names.length === 0) return
  const columns = isObjectType(type) && isModel(type) ? columnsOf(type) : {}
  if (!names.every((name) => columns[name])) throw unfit
}

/** What to read of the thing that the payload shows, if anything is asked of it; other rows come as they are. Raises `unfit`. */
function queryOf(fields: readonly CompiledField[], shown: string | undefined, asking: Asking): ShownQuery {
  const select: Selection = {}
  for (const field of fields) {
    if (field.name === shown) {
      field.select(select, asking)
      continue
    }
    const asked: Selection = {}
    field.select(asked, asking)
    assertCovered(field, asked)
  }
  return Object.keys(select).length > 0 ? ({ select } as ShownQuery) : {}
}

/** A mutation by itself, and what its payload shows. It is carried out once, whatever happens to its payload. Raises `unfit`. */
export function compileMutation(root: RootField): CompiledOperation {
  const { draft, nodes, field } = root
  const named = getNamedType(field.type)
  const isPayload = isObjectType(named) && !isModel(named)
  if (!isPayload && !isLeafType(named)) throw unfit
  const { shown, resolve } = changeOf(field)
  const argsOf = compileArguments(draft, field, nodes[0]!)
  const object = isPayload ? compileObject(draft, named, nodes) : undefined
  const finish = compileValue(field.type, object)

  return async (context, variables) => {
    const asked = ask(draft, context, variables, (asking) => ({
      query: queryOf(object?.fields ?? [], shown, asking),
      args: argsOf(asking),
    }))
    if (!asked) return undefined
    const { asking, query, args } = asked
    let payload: unknown
    try {
      assertFresh(field, context)
      payload = await resolve(() => query, args, context)
    } catch (error) {
      return refused(root, error)
    }
    const answer = await finished(root, asking, () => finish(payload, asking))
    return answer ?? finishByField(draft, { payload, shown }, context, variables)
  }
}

/** At the root of a mutation that was carried out: its payload. */
type CarriedOut = (info: GraphQLResolveInfo) => unknown

const carriedOut = new WeakMap<GraphQLSchema, GraphQLSchema>()

/** A schema whose mutations were carried out already; all else is the same. */
function carriedOutSchema(schema: GraphQLSchema): GraphQLSchema {
  const found = carriedOut.get(schema)
  if (found) return found
  const config = schema.toConfig()
  const mutation = config.mutation!.toConfig()
  const fields = Object.entries(mutation.fields).map(([name, field]) => [
    name,
    {
      ...field,
      resolve: (root: CarriedOut, _args: unknown, _context: Context, info: GraphQLResolveInfo) => root(info),
    },
  ])
  const made = new GraphQLSchema({
    ...config,
    types: config.types.filter((type) => type !== config.mutation),
    mutation: new GraphQLObjectType({ ...mutation, fields: Object.fromEntries(fields) }),
    assumeValid: true,
  })
  carriedOut.set(schema, made)
  return made
}

/** The answer to a mutation that was carried out, field by field: the executor tells what of its payload is wrong. */
async function finishByField(
  { schema, document, operation }: Draft,
  { payload, shown }: { payload: unknown; shown: string | undefined },
  context: Context,
  variables: Readonly<Record<string, unknown>>,
): Promise<ExecutionResult> {
  const rootValue: CarriedOut = (info) => {
    queryShown(context, info, shown)
    return payload
  }
  return execute({
    ...{ schema: carriedOutSchema(schema), document, operationName: operation.name?.value, variableValues: variables },
    ...{ contextValue: context, rootValue },
  })
}

/** How many variables may decide what is asked for: each has an operation compiled twice as often. */
const MOST_CONDITIONS = 2

/** Names of the variables that decide in a document what is asked for. */
function conditionsOf(document: DocumentNode): string[] {
  const names = new Set<string>()
  visit(document, {
    Directive: ({ arguments: args }) => {
      for (const { value } of args ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value)
    },
  })
  return [...names]
}

/** The value of a variable that decides; undefined when it is none that may, which the executor tells. */
function decidingValue(
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

function compileUnder(draft: Draft): CompiledOperation | undefined {
  const { schema, operation } = draft
  const root = schema.getRootType(operation.operation)
  if (!root) throw unfit
  const collected = collectFields(draft, root, [operation.selectionSet])
  const [asked, ...others] = [...collected].filter(([, [first]]) => !isTypename(first!))
  const field = asked && root.getFields()[asked[1][0]!.name.value]
  if (others.length > 0 || !asked || !field) throw unfit
  const [key, nodes] = asked
  const keys = [...collected.keys()]
  function dataOf(value: unknown) {
    const data: Record<string, unknown> = {}
    for (const each of keys) data[each] = each === key ? value : root!.name
    return data
  }
  const compiled: RootField = { draft, key, nodes, field, dataOf }
  if (operation.operation === OperationTypeNode.QUERY) return compileRead(compiled)
  if (operation.operation === OperationTypeNode.MUTATION) return compileMutation(compiled)
  return undefined
}

/**
 * Compiles an operation that is one read, or one mutation, and what hangs on it; undefined for everything else. What it answers is what
 * the executor would. Where variables decide what is asked for (`@skip`, `@include`), it is compiled for each of their values that comes.
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
    return refusable(() => compileUnder({ schema, document, operation, fragments, conditions, places: 0 }))
  }
  if (names.length > MOST_CONDITIONS) return undefined
  const all = names.map(() => true)
  // What is left to the executor mostly is, whatever decides.
  const first = compile(all)
  if (!first || names.length === 0) return first
  const known = new Map<string, CompiledOperation | undefined>([[all.join(), first]])
  return async (context, variables) => {
    const values = names.map((name) => decidingValue(operation, variables, name))
    const key = values.join()
    if (!known.has(key)) known.set(key, compile(values))
    return known.get(key)?.(context, variables)
  }
}

/** A query that is one read. Raises `unfit`. */
function compileRead(root: RootField): CompiledOperation {
  const { draft, nodes, field } = root
  const read = readOf(field)
  const named = getNamedType(field.type)
  if (!read || !isObjectType(named)) throw unfit
  const argsOf = compileArguments(draft, field, nodes[0]!)
  const object = compileObject(draft, named, nodes)
  const finish = compileValue(field.type, object)

  return async (context, variables) => {
    const asked = ask(draft, context, variables, (asking) => {
      const select: Selection = {}
      object.select(select, asking)
      return { select, args: argsOf(asking) }
    })
    if (!asked) return undefined
    const { asking, select, args } = asked
    let row: unknown
    try {
      assertFresh(field, context)
      row = await read({ select }, undefined, args, context)
    } catch (error) {
      return refused(root, error)
    }
    return finished(root, asking, () => finish(row, asking))
  }
}
