import { DomainError } from '../domain/errors.ts'
import { parseJson } from '../domain/json-input.ts'

const jsonError = (problem: string, cause?: unknown) =>
  new DomainError('PARSE_ERROR', `JSON parse error - ${problem}`, { cause })

/** The object that a JSON text is. Raises PARSE_ERROR, also for JSON that is no object. */
export function parseJsonObject(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    throw jsonError((error as Error).message.replace(/^(Unexpected token).*not valid JSON$/s, '$1 in JSON'), error)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw jsonError('expected an object.')
}
