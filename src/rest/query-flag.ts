import { validationFailed } from '../domain/errors.ts'

const words = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** Reads a boolean parameter, in any case (Python writes `True`). Undefined when it is missing or empty. Raises VALIDATION_FAILED. */
export function queryFlag(query: URLSearchParams, name: string): boolean | undefined {
  const word = query.get(name)
  if (!word) return undefined
  const flag = words.get(word.toLowerCase())
  if (flag === undefined) throw validationFailed({ [name]: ['Must be a valid boolean.'] })
  return flag
}
