import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  isNonNullType,
  isObjectType,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import type { Context } from '../../context.ts'
import { fragmentsOf } from '../document-parts.ts'
import { assertFresh } from '../stale-token.ts'
import { collectFields } from './collect-fields.ts'
import { type Asking, compileArguments, compileObject, compileValue, type Draft } from './compile-object.ts'
import { readOf } from './read-field.ts'
import type { Selection } from './selection.ts'

/** Answers an operation; undefined when it is left to the executor, which tells what is wrong. */
export type CompiledRead = (
  context: Context,
  variables: Readonly<Record<string, unknown>>,
) => Promise<ExecutionResult | undefined>

const refusable = <T>(work: () => T): T | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Waits for all, also for what those ask for that came, and tells whether all came. */
const settle = async (later: readonly Promise<boolean>[]) => {
  for (let waited = 0; waited < later.length; ) {
    const part = later.slice(waited)
    waited = later.length
    const came = await Promise.all(part)
    if (came.includes(false)) return false
  }
  return true
}

/**
 * Compiles an operation that is one read and what hangs on it; undefined for everything else. What it answers is what the
 * executor would.
 */
export const compileRead = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledRead | undefined =>
  refusable(() => {
    const query = schema.getQueryType()
    if (operation.operation !== OperationTypeNode.QUERY || operation.directives?.length || !query) return undefined
    const draft: Draft = { schema, operation, fragments: fragmentsOf(document), places: 0 }
    const collected = [...collectFields(schema, draft.fragments, query, [operation.selectionSet])]
    const [[key, nodes] = [undefined, []]] = collected
    const field = nodes[0] && query.getFields()[nodes[0].name.value]
    if (collected.length !== 1 || key === undefined || !field) return undefined
    return compileRoot(draft, key, nodes, field)
  })

function compileRoot(
  draft: Draft,
  key: string,
  nodes: FieldNode[],
  field: GraphQLField<unknown, unknown>,
): CompiledRead | undefined {
  const read = readOf(field)
  const named = getNamedType(field.type)
  if (!read || !isObjectType(named)) return undefined
  const argsOf = compileArguments(draft, field, nodes[0]!)
  const object = compileObject(draft, named, nodes)
  const finish = compileValue(field.type, object)
  const { schema, operation } = draft

  /** What the request asks for; undefined when something is wrong with it. */
  const prepare = (context: Context, given: Readonly<Record<string, unknown>>) =>
    refusable(() => {
      const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], given)
      if (!variableValues) return undefined
      const asking: Asking = { context, variables: variableValues, places: [], later: [] }
      const select: Selection = {}
      object.select(select, asking)
      return { asking, select, args: argsOf(asking) }
    })

  return async (context, variables) => {
    const prepared = prepare(context, variables)
    if (!prepared) return undefined
    const { asking, select, args } = prepared
    let row: unknown
    try {
      assertFresh(field, context)
      row = await read({ select }, undefined, args, context)
    } catch (error) {
      const errors = [locatedError(error, nodes, [key])]
      return { errors, data: isNonNullType(field.type) ? null : { [key]: null } }
    }
    const data = refusable(() => ({ [key]: finish(row, asking) }))
    const isComplete = await settle(asking.later)
    return data && isComplete ? { data } : undefined
  }
}
