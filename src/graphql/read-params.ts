/** What a request asks for, as its body or its URL says. Numbers come as they were sent or are marked: see json-input.ts. */
import { DomainError } from '../shared/errors.ts'
import { isJsonObject, jsonError, readJson } from '../shared/json-input.ts'

/** Those that may be left out. */
const OPTIONAL = ['operationName', 'variables', 'extensions'] as const

const isEmpty = (value: unknown) => value === '' || (Array.isArray(value) && value.length === 0)

/** PHP writes an empty map as a list, and forms send a field that was left empty as an empty text: both are as if left out. */
function withoutEmpty(params: Record<string, unknown>): Record<string, unknown> {
  for (const name of OPTIONAL) if (isEmpty(params[name])) delete params[name]
  return params
}

/** The parameters that a body of JSON holds. Raises PARSE_ERROR, and VALIDATION_FAILED for a batch. */
export function readParams(text: string): Record<string, unknown> {
  const value = readJson(text)
  if (isJsonObject(value)) return withoutEmpty(value)
  if (!Array.isArray(value)) throw jsonError('expected an object.')
  throw new DomainError(
    'VALIDATION_FAILED',
    'Batches are not carried out: send each operation as a request of its own.',
  )
}

/** The parameters that stand in a URL, of which some are JSON. Raises PARSE_ERROR. */
export function readSearchParams(url: string): Record<string, unknown> {
  const search = new URL(url, 'http://localhost').searchParams
  const text = (name: string) => search.get(name) || undefined
  const json = (name: string) => {
    const value = text(name)
    return value === undefined ? undefined : readJson(value)
  }
  return withoutEmpty({
    query: text('query'),
    documentId: text('documentId'),
    operationName: text('operationName'),
    variables: json('variables'),
    extensions: json('extensions'),
  })
}
