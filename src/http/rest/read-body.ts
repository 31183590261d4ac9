/** Reads the body of a REST request. Clients send fields of any type as JSON, multipart or URL-encoded form. */
import type { IncomingMessage } from 'node:http'
import { Upload } from 'graphql-upload-ts'
import { fileUpload } from '../../graphql/request-body.ts'
import type { BodyReaders, IncomingFile, Intake } from '../../modules/assets/uploads.ts'
import { DomainError, type FieldErrors, validationFailed } from '../../shared/errors.ts'
import {
  describeProblem,
  findProblem,
  isInexact,
  isJsonObject,
  jsonError,
  NOT_AN_OBJECT,
  NOT_JSON,
  parseJson,
  readJson,
  textProblem,
} from '../../shared/input.ts'
import { AMOUNT, toUnits } from '../../shared/money.ts'
import { mediaTypeOf, tooLarge } from '../request-body.ts'

/** Placeholder value of a field whose text is not UTF-8. Only a route that reads the field rejects it. */
const NOT_UTF8 = '\udcff'

/** Returns whether the percent-encoded bytes of a text are valid UTF-8. */
export function escapesUtf8(text: string): boolean {
  try {
    for (const [bytes] of text.matchAll(/(?:%[\da-f]{2})+/gi)) decodeURIComponent(bytes)
    return true
  } catch {
    return false
  }
}

interface BodyOptions extends BodyReaders<IncomingMessage> {
  /** Names of the file fields. Files in other fields are ignored. If the list is empty, every file is rejected. */
  files: readonly string[]
  /** Names of the text fields. A client may send their values as files. */
  texts: readonly string[]
  intake: Intake | undefined
  /** Name of the field that receives a body that is a JSON list. If omitted, a JSON list is rejected. */
  listAs?: string | undefined
}

/** Creates the error UNSUPPORTED_MEDIA_TYPE with the message of Django REST framework. */
export const unsupportedMediaType = (type: string) =>
  new DomainError('UNSUPPORTED_MEDIA_TYPE', `Unsupported media type "${type}" in request.`)

/** Returns whether a JSON value means an empty body. Existing clients send `null`, `""` and `[]`. */
const isEmptyValue = (value: unknown) => value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** Maximum size of a JSON body, in bytes. The largest metadata of an asset is smaller. */
const MAX_JSON_BYTES = 256_000

function readObject(text: string, listAs: string | undefined): Record<string, unknown> {
  // The size limit of JSON also applies to JSON that is sent with the Content-Type of a form.
  if (text.length > MAX_JSON_BYTES) throw tooLarge(MAX_JSON_BYTES)
  const value = readJson(text)
  if (isJsonObject(value)) return value
  if (Array.isArray(value) && listAs !== undefined) return { [listAs]: value }
  if (isEmptyValue(value)) return {}
  throw jsonError(listAs === undefined ? 'expected an object.' : 'expected a list.')
}

/** Returns whether a form or plain-text body is JSON. By default, curl sends JSON with the Content-Type of a form. */
const looksLikeJson = (text: string, { listAs }: BodyOptions) =>
  text.startsWith('{') || (listAs !== undefined && text.startsWith('['))

/** Parses a URL-encoded form. Throws PAYLOAD_TOO_LARGE before parsing, because parsing 120,000 fields took a second. */
function parseForm(text: string, { maxFields }: BodyOptions) {
  if (text.split('&', maxFields + 1).length > maxFields)
    throw new DomainError('PAYLOAD_TOO_LARGE', `The body has more than ${maxFields} fields.`)
  const pairs = text.split('&').flatMap((field) => {
    const isUtf8 = escapesUtf8(field)
    return [...new URLSearchParams(field)].map(([name, value]) => [name, isUtf8 ? value : NOT_UTF8])
  })
  return Object.fromEntries(pairs)
}

export const isEmpty = (req: IncomingMessage) =>
  req.headers['content-length'] === '0' ||
  (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined)

/** Reads a multipart form. Writes files to disk while they arrive. */
export async function readMultipart(
  req: IncomingMessage,
  { readForm, maxBytes, maxFileBytes, files: fileFields, texts, intake }: BodyOptions,
): Promise<Fields> {
  const values: Record<string, unknown> = Object.create(null)
  const files: Record<string, IncomingFile> = Object.create(null)
  const seenFiles = new Set<string>()
  const { whole } = readForm(req, {
    maxBytes,
    maxFileBytes,
    maxFiles: fileFields.length,
    isText: (name) => texts.includes(name),
    onField(name, value) {
      values[name] = value ?? NOT_UTF8
    },
    onFile(name, file) {
      if (intake && fileFields.includes(name) && !seenFiles.has(name)) {
        seenFiles.add(name)
        return intake.hold(file).then((held) => {
          files[name] = held
        })
      }
      // If the user selects no file, a browser sends an empty file without a name.
      const isEmpty = file.filename === '' && file.mimetype === 'application/octet-stream'
      if (!isEmpty && fileFields.length === 0) throw validationFailed({ [name]: ['This route accepts no files.'] })
      return undefined
    },
  })
  await whole
  return createFields(values, { files, isForm: true })
}

/**
 * Reads the fields of a body. An empty body counts as an empty object. A form or plain text that starts with
 * `{` is parsed as JSON. Throws PARSE_ERROR, UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE.
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
  throw unsupportedMediaType(type)
}

/** Field readers of a body. They return undefined for a missing field and throw VALIDATION_FAILED if it is invalid. */
export type Fields = ReturnType<typeof createFields>

/** Converts a number to decimal notation without an exponent, for amounts. */
function digitsOf(number: number): string {
  const text = String(number)
  return text.includes('e') ? number.toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 17 }) : text
}

const NOT_A_STRING = 'Not a valid string.'

const invalid = (name: string, message: string) => validationFailed({ [name]: [message] })

/** Throws VALIDATION_FAILED for a value that cannot be stored, such as invalid Unicode. */
function assertStorable(name: string, value: unknown): void {
  if (value === NOT_UTF8) throw invalid(name, textProblem(value)!)
  const problem = typeof value === 'string' && !isInexact(value) ? undefined : findProblem(value)
  if (problem) throw invalid(name, describeProblem(problem))
}

/** Returns the value of a field. If the field is a JSON text, parses it. */
function parsed(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    value = parseJson(value)
  } catch {
    throw invalid(name, NOT_JSON)
  }
  assertStorable(name, value)
  return value
}

function uploadOf(file: IncomingFile): Upload {
  const upload = new Upload()
  upload.resolve(fileUpload(file, async () => file))
  return upload
}

/** Creates the field readers of a body. `isForm`: converts CRLF in JSON texts to LF, because browsers send CRLF. */
export function createFields(
  values: Record<string, unknown>,
  { files = {}, isForm = false }: { files?: Record<string, IncomingFile>; isForm?: boolean } = {},
) {
  const get = (name: string) => {
    const value = Object.hasOwn(values, name) ? (values[name] ?? undefined) : undefined
    assertStorable(name, value)
    return value
  }

  /** Returns a field as text. Converts numbers and booleans of JSON bodies. */
  function text(name: string): string | undefined {
    const value = get(name)
    if (value === undefined || typeof value === 'string') return value
    if (typeof value === 'number') return digitsOf(value)
    if (typeof value === 'boolean') return String(value)
    throw invalid(name, NOT_A_STRING)
  }

  /** Returns a field as text. Rejects numbers, because converting a number could change a password. */
  function exactText(name: string): string | undefined {
    const value = get(name)
    if (value === undefined || typeof value === 'string') return value
    throw invalid(name, NOT_A_STRING)
  }

  /** Returns the value of a field. An empty string counts as a missing field. */
  const filled = (name: string) => {
    const value = get(name)
    return value === '' ? undefined : value
  }
  /** Returns the value of a field that was sent as JSON or as JSON text. */
  const structured = (name: string) => {
    const value = filled(name)
    return value === undefined ? undefined : parsed(name, value)
  }

  /** Returns a field as text. Returns null for JSON null and an empty string, which clear the field. */
  function textOrNull(name: string): string | null | undefined {
    if (Object.hasOwn(values, name) && (values[name] === null || values[name] === '')) return null
    return text(name)
  }

  return {
    text,
    exactText,
    textOrNull,
    /** Returns the entry of `known` that a field names. The case of the name does not matter. */
    choice<Value>(name: string, known: Record<string, Value>): Value | undefined {
      const word = text(name)?.toLowerCase()
      if (word === undefined) return undefined
      if (Object.hasOwn(known, word)) return known[word]
      throw invalid(name, `Expected one of: ${Object.keys(known).join(', ')}.`)
    },
    /** Returns an amount as a decimal string. Accepts numbers of JSON bodies. */
    amount(name: string) {
      const value = text(name)
      if (value === undefined || AMOUNT.test(value)) return value
      throw invalid(name, 'Expected an amount such as 0.5.')
    },
    /** Returns a boolean. Accepts `true`, `1`, `yes`, `on` and their opposites in any case. */
    flag(name: string): boolean | undefined {
      const value = filled(name)
      if (value === undefined) return undefined
      const word = typeof value === 'object' ? '' : String(value).toLowerCase()
      if (['true', '1', 'yes', 'on'].includes(word)) return true
      if (['false', '0', 'no', 'off'].includes(word)) return false
      throw invalid(name, 'Must be a valid boolean.')
    },
    /** Returns an object that was sent as JSON or as JSON text. */
    object(name: string) {
      const value = structured(name)
      if (value === undefined || isJsonObject(value)) return value
      throw invalid(name, NOT_AN_OBJECT)
    },
    /** Returns a list that was sent as JSON or as JSON text. */
    list(name: string) {
      const value = structured(name)
      if (value === undefined || Array.isArray(value)) return value as unknown[] | undefined
      throw invalid(name, 'Expected a list.')
    },
    /** Returns all fields of the body except files. */
    all(): Record<string, unknown> {
      for (const [name, value] of Object.entries(values)) assertStorable(name, value)
      return { ...values }
    },
    /** Returns a field as JSON text. Serializes a value that was sent as JSON. */
    json(name: string) {
      const value = filled(name)
      if (value === undefined) return undefined
      if (typeof value !== 'string') return JSON.stringify(value)
      return isForm ? value.replaceAll('\r\n', '\n') : value
    },
    /** Returns an uploaded file, null for JSON null or an empty string, or undefined if the field is missing. */
    uploadOrNull(name: string): Upload | null | undefined {
      const file = files[name]
      // If the user selects no file, a browser sends a file without a name.
      if (file) return file.filename === '' ? undefined : uploadOf(file)
      const sent = textOrNull(name)
      if (sent) throw invalid(name, 'The submitted data was not a file.')
      return sent as null | undefined
    },
    /** Returns an uploaded file as a GraphQL Upload. Throws VALIDATION_FAILED if there is no file. */
    upload(name: string): Upload {
      const file = files[name]
      if (!file) throw invalid(name, 'No file was submitted.')
      return uploadOf(file)
    },
  }
}

/** Wraps field readers for a quote. They return undefined for an invalid field and add its problem to `unread`. */
export function lenientFields(fields: Fields, unread: FieldErrors): Fields {
  const lenient =
    <Arguments extends unknown[], Value>(read: (...args: Arguments) => Value) =>
    (...args: Arguments): Value | undefined => {
      try {
        return read(...args)
      } catch (error) {
        if (!(error instanceof DomainError) || typeof error.details !== 'object') throw error
        Object.assign(unread, error.details)
        return undefined
      }
    }
  const readers = Object.entries(fields).map(([type, read]) => [type, lenient(read as (name: string) => unknown)])
  return {
    ...(Object.fromEntries(readers) as Fields),
    all: fields.all,
    upload(name) {
      try {
        return fields.upload(name)
      } catch (error) {
        const upload = new Upload()
        upload.reject(error as Error)
        return upload
      }
    },
  }
}

interface CostRequest {
  body: Fields
  query: URLSearchParams
  unread?: FieldErrors
}

/** Returns true if two decimal strings are the same amount. The API reports invalid strings later. */
const isSameAmount = (one: string, other: string) =>
  one === other || ([one, other].every((each) => AMOUNT.test(each)) && toUnits(one) === toUnits(other))

/**
 * Returns the maximum cost that the caller accepts, from the body or the query. If the two differ, a quote reports
 * a problem, and any other request throws VALIDATION_FAILED.
 */
export function maxCostOf({ body, query, unread }: CostRequest): string | undefined {
  const inBody = body.amount('max_cost')
  const inQuery = query.get('max_cost') ?? undefined
  if (inBody === undefined || inQuery === undefined || isSameAmount(inBody, inQuery)) return inBody ?? inQuery
  const details = { max_cost: ['The values in the body and in the query string differ.'] }
  if (!unread) throw validationFailed(details)
  Object.assign(unread, details)
  return undefined
}
