import { tooMuch } from './document-limits.ts'

/** A body is bounded in bytes; these bound the work of looking through it. */
const MAX_VALUES = 10_000
const MAX_DEPTH = 32

/** Raises a GraphQLError. */
export function assertVariablesFit(variables: unknown): void {
  if (typeof variables !== 'object' || variables === null) return
  let level: unknown[] = Object.values(variables)
  let count = 0
  // Level by level: a text of brackets is deeper than the stack.
  for (let depth = 1; level.length > 0; depth += 1) {
    count += level.length
    if (depth > MAX_DEPTH) throw tooMuch(`The variables are nested more than ${MAX_DEPTH} levels deep.`)
    if (count > MAX_VALUES) throw tooMuch(`The variables hold more than ${MAX_VALUES} values.`)
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value !== 'object' || value === null) continue
      if (Array.isArray(value)) for (const item of value) next.push(item)
      // An upload is a promise of the multipart reader.
      else if (!(value instanceof Promise)) for (const key in value) next.push((value as Record<string, unknown>)[key])
    }
    level = next
  }
}
