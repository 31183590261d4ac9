/** Reads a body in any of the three encodings that callers send, however they label it. */
import type { IncomingMessage } from 'node:http'
import { DomainError } from '../domain/errors.ts'
import { createFields, type Fields } from './fields.ts'
import { readMultipart } from './read-multipart.ts'

export const MAX_BODY_BYTES = 1_000_000

export interface ReadBody {
  fields: Fields
  /** Removes what the body left on disk. */
  dispose(): Promise<void>
}

const parseError = (message: string, cause?: unknown) => new DomainError('PARSE_ERROR', message, { cause })
export const tooLarge = (limit: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', `The body is over the limit of ${limit} bytes.`)

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw tooLarge(MAX_BODY_BYTES)
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    throw parseError('The body is not valid UTF-8.', error)
  }
}

function parseJson(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw parseError(`JSON parse error - ${(error as Error).message}`, error)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw parseError('JSON parse error - expected an object.')
}

const parseForm = (text: string) => Object.fromEntries(new URLSearchParams(text))

const inMemory = (values: Record<string, unknown>): ReadBody => ({
  fields: createFields(values),
  dispose: async () => {},
})

const isEmpty = (req: IncomingMessage) =>
  req.headers['content-length'] === '0' ||
  (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined)

/**
 * An empty body is an empty object whatever its type says; a form that starts with `{` is JSON (curl without a
 * Content-Type). Raises PARSE_ERROR, UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE.
 */
export async function readBody(
  req: IncomingMessage,
  uploads: { dir: string; maxFileBytes: number },
): Promise<ReadBody> {
  if (isEmpty(req)) return inMemory({})
  const type = (req.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (type === 'multipart/form-data') return readMultipart(req, uploads)
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > MAX_BODY_BYTES) throw tooLarge(MAX_BODY_BYTES)
  const json = type === 'application/json' || type.endsWith('+json')
  if (!json && type !== '' && type !== 'application/x-www-form-urlencoded') {
    const text = await readText(req)
    if (text.trim() === '') return inMemory({})
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `Unsupported media type "${type}" in request.`)
  }
  const text = (await readText(req)).trim()
  if (text === '') return inMemory({})
  return inMemory(json || text.startsWith('{') ? parseJson(text) : parseForm(text))
}
