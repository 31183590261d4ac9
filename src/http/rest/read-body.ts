/** Reads a body in the three encodings that callers send, with any label. */
import type { IncomingMessage } from 'node:http'
import type { BodyReaders, IncomingFile, Intake } from '../../modules/assets/uploads.ts'
import { DomainError, validationFailed } from '../../shared/errors.ts'
import { isJsonObject, jsonError, readJson } from '../../shared/json-input.ts'
import { mediaTypeOf } from '../headers.ts'
import { createFields, type Fields } from './fields.ts'
import { escapesUtf8, NOT_UTF8 } from './form-text.ts'

/** The files that a route takes, and their folder. */
export interface MultipartOptions extends BodyReaders<IncomingMessage> {
  /** Names of the fields that take a file. Other fields with a file are ignored, or rejected if there are none. */
  files: readonly string[]
  /** Names of the other fields, which are texts even if they come as files. */
  texts: readonly string[]
  /** Writes files to disk. */
  intake: Intake
}

/** The parts of a body that a route reads. */
export interface BodyOptions extends MultipartOptions {
  /** Name of the field for a JSON list. Without a name, a list is rejected. */
  listAs?: string | undefined
}

/** What programs without anything to say have made of their `nil`, their empty text and their empty array. */
const saysNothing = (value: unknown) => value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** Maximum size of a JSON body, in bytes. The metadata of an asset needs less. */
const MAX_JSON_BYTES = 256_000

function readObject(text: string, listAs: string | undefined): Record<string, unknown> {
  // JSON that is labelled as a form.
  if (text.length > MAX_JSON_BYTES)
    throw new DomainError('PAYLOAD_TOO_LARGE', `The body is over the limit of ${MAX_JSON_BYTES} bytes.`)
  const value = readJson(text)
  if (isJsonObject(value)) return value
  if (Array.isArray(value) && listAs !== undefined) return { [listAs]: value }
  if (saysNothing(value)) return {}
  throw jsonError(listAs === undefined ? 'expected an object.' : 'expected a list.')
}

/** Returns whether a body with an imprecise Content-Type is JSON: curl labels it a form by default, and some clients label it plain text. */
const looksLikeJson = (text: string, { listAs }: BodyOptions) =>
  text.startsWith('{') || (listAs !== undefined && text.startsWith('['))

const readField = (field: string) =>
  [...new URLSearchParams(field)].map(([name, value]) => [name, escapesUtf8(field) ? value : NOT_UTF8])

/**
 * Fields without a value cost the reader the square of their number, so they are counted first: 120,000 took a second.
 * Raises PAYLOAD_TOO_LARGE.
 */
function parseForm(text: string, { maxFields }: BodyOptions) {
  if (text.split('&', maxFields + 1).length > maxFields)
    throw new DomainError('PAYLOAD_TOO_LARGE', `The body has more than ${maxFields} fields.`)
  if (escapesUtf8(text)) return Object.fromEntries(new URLSearchParams(text))
  return Object.fromEntries(text.split('&').flatMap(readField))
}

/** Returns whether a request has no body. */
export const isEmpty = (req: IncomingMessage) =>
  req.headers['content-length'] === '0' ||
  (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined)

/** Reads a form. Its files are written to disk while they arrive. Fields may come before or after them. */
export async function readMultipart(
  req: IncomingMessage,
  { readForm, maxBytes, maxFileBytes, files: taken, texts, intake }: MultipartOptions,
): Promise<Fields> {
  const values: Record<string, unknown> = Object.create(null)
  const files: Record<string, IncomingFile> = Object.create(null)
  const seen = new Set<string>()
  const { whole } = readForm(req, {
    maxBytes,
    maxFileBytes,
    maxFiles: taken.length,
    isText: (name) => texts.includes(name),
    onField(name, value) {
      values[name] = value ?? NOT_UTF8
    },
    onFile(name, file) {
      if (taken.includes(name) && !seen.has(name)) {
        seen.add(name)
        return intake.hold(file).then((held) => {
          files[name] = held
        })
      }
      // A browser sends this for an input where no file was chosen.
      if (file.filename === '' && file.mimetype === 'application/octet-stream') return undefined
      if (taken.length === 0) throw validationFailed({ [name]: ['No file is taken here.'] })
      return undefined
    },
  })
  await whole
  return createFields(values, { files, isForm: true })
}

/**
 * Reads the fields of a body. An empty body is an empty object whatever its type, and so are `null`, `""` and `[]` in JSON. A form or plain text that
 * starts with `{` is read as JSON. No credentials travel in cookies, so another site gains nothing from such a request. Raises PARSE_ERROR,
 * UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE.
 */
export async function readBody(req: IncomingMessage, options: BodyOptions): Promise<Fields> {
  if (isEmpty(req)) return createFields({})
  const type = mediaTypeOf(req.headers['content-type'])
  if (type === 'multipart/form-data') return readMultipart(req, options)
  const isForm = type === '' || type === 'application/x-www-form-urlencoded'
  const isJson = type === 'application/json' || type === 'text/json' || type.endsWith('+json')
  const text = (await options.readText(req, isJson ? MAX_JSON_BYTES : options.maxBytes)).trim()
  if (text === '') return createFields({})
  const mayBeJson = isForm || type === 'text/plain'
  if (isJson || (mayBeJson && looksLikeJson(text, options))) return createFields(readObject(text, options.listAs))
  if (isForm) return createFields(parseForm(text, options), { isForm: true })
  throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `Unsupported media type "${type}" in request.`)
}
