import { Upload } from 'graphql-upload-ts'
import { assertVariables, MAX_JSON_DEPTH } from '../../shared/json-input.ts'
import { documentRefusal } from './document-limits.ts'

/** A body is bounded in bytes; this bounds the work of looking through it. */
const MAX_VALUES = 10_000
/** Deeper ones are refused whatever they hold. */
const MAX_DEPTH = 2 * MAX_JSON_DEPTH

/** Holds the variables of a request to the limits. Raises a GraphQLError, or VALIDATION_FAILED for what no input may hold. */
export function assertVariablesFit(variables: unknown): void {
  if (typeof variables !== 'object' || variables === null) return
  let level: unknown[] = Object.values(variables)
  let count = 0
  // Level by level: a text of brackets is deeper than the stack.
  for (let depth = 0; level.length > 0 && depth <= MAX_DEPTH; depth += 1) {
    count += level.length
    if (count > MAX_VALUES) throw documentRefusal(`The variables hold more than ${MAX_VALUES} values.`)
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue
      if (Array.isArray(value)) for (const item of value) next.push(item)
      else if (!(value instanceof Upload)) for (const key in value) next.push((value as Record<string, unknown>)[key])
    }
    level = next
  }
  assertVariables(variables)
}
