/** What compiled queries and mutations have in common: one field at the root besides `__typename`, and its response. */
import {
  type ExecutionResult,
  type FieldNode,
  type GraphQLField,
  getVariableValues,
  isNonNullType,
  locatedError,
} from 'graphql'
import type { Context } from '../../services-context.ts'
import type { Asking, Draft } from './compile-object.ts'
import { refusable } from './selection.ts'

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
