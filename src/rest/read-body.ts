/** Reads a body in any of the three encodings that callers send, however they label it. */
import type { IncomingMessage } from 'node:http'
import { DomainError } from '../domain/errors.ts'
import { parseJson as parseJsonText } from '../domain/json-input.ts'
import { createFields, type Fields } from './fields.ts'
import { type MultipartOptions, readMultipart } from './read-multipart.ts'

/** What a route takes of a body. */
export interface BodyOptions extends MultipartOptions {
  /** Name under which a JSON list is read; without one it is refused. */
  listAs?: string | undefined
}

const parseError = (message: string, cause?: unknown) => new DomainError('PARSE_ERROR', message, { cause })
function parseJson(text: string, listAs: string | undefined): Record<string, unknown> {
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch (error) {
    throw parseError(
      `JSON parse error - ${(error as Error).message.replace(/^(Unexpected token).*not valid JSON$/s, '$1 in JSON')}`,
      error,
    )
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  if (Array.isArray(value) && listAs !== undefined) return { [listAs]: value }
  throw parseError(`JSON parse error - expected ${listAs === undefined ? 'an object' : 'a list'}.`)
}

/** A body that curl labels a form for want of a better word. */
const looksLikeJson = (text: string, { listAs }: BodyOptions) =>
  text.startsWith('{') || (listAs !== undefined && text.startsWith('['))

const parseForm = (text: string) => Object.fromEntries(new URLSearchParams(text))

const isEmpty = (req: IncomingMessage) =>
  req.headers['content-length'] === '0' ||
  (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined)

/**
 * An empty body is an empty object whatever its type says; a form that starts with `{` is JSON (curl without a
 * Content-Type). Raises PARSE_ERROR, UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE.
 */
export async function readBody(req: IncomingMessage, options: BodyOptions): Promise<Fields> {
  if (isEmpty(req)) return createFields({})
  const type = (req.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type === 'multipart/form-data') return readMultipart(req, options)
  const text = (await options.readText(req, options.maxBytes)).trim()
  if (text === '') return createFields({})
  const isJson = type === 'application/json' || type.endsWith('+json')
  if (!isJson && type !== '' && type !== 'application/x-www-form-urlencoded') {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `Unsupported media type "${type}" in request.`)
  }
  return isJson || looksLikeJson(text, options)
    ? createFields(parseJson(text, options.listAs))
    : createFields(parseForm(text), { isForm: true })
}
