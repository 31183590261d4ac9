/** Reads the body of a REST request. Every encoding reads every type of field as existing callers send it. */

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
import { AMOUNT } from '../../shared/money.ts'
import { mediaTypeOf, tooLarge } from '../request-body.ts'

/** Stands for a text that is not UTF-8. The field that reads it rejects it. A field that no one reads is ignored. */
export const NOT_UTF8 = '\udcff'

/** Bytes that are escaped next to each other. A character has one to four. */
const ESCAPED = /(?:%[\da-f]{2})+/gi

/** Returns whether the escaped bytes of an urlencoded text are UTF-8. */
export function escapesUtf8(text: string): boolean {
  try {
    for (const [bytes] of text.matchAll(ESCAPED)) decodeURIComponent(bytes)
    return true
  } catch {
    return false
  }
}

export interface BodyOptions extends BodyReaders<IncomingMessage> {
  /** Names of the fields that take a file. Other fields with a file are ignored, or rejected if there are none. */
  files: readonly string[]
  /** Names of the other fields, which are texts even if they come as files. */
  texts: readonly string[]
  intake: Intake | undefined
  /** Name of the field for a JSON list. Without a name, a list is rejected. */
  listAs?: string | undefined
}

/** The error UNSUPPORTED_MEDIA_TYPE, with the message of Django REST framework. */
export const unsupportedMediaType = (type: string) =>
  new DomainError('UNSUPPORTED_MEDIA_TYPE', `Unsupported media type "${type}" in request.`)

/** Existing clients send these values for an empty body. */
const isEmptyValue = (value: unknown) => value === null || value === '' || (Array.isArray(value) && value.length === 0)

/** Maximum size of a JSON body, in bytes. The metadata of an asset needs less. */
const MAX_JSON_BYTES = 256_000

function readObject(text: string, listAs: string | undefined): Record<string, unknown> {
  // JSON that is labelled as a form.
  if (text.length > MAX_JSON_BYTES) throw tooLarge(MAX_JSON_BYTES)
  const value = readJson(text)
  if (isJsonObject(value)) return value
  if (Array.isArray(value) && listAs !== undefined) return { [listAs]: value }
  if (isEmptyValue(value)) return {}
  throw jsonError(listAs === undefined ? 'expected an object.' : 'expected a list.')
}

/** Returns whether a body with an imprecise Content-Type is JSON: curl labels it a form by default, and some clients label it plain text. */
const looksLikeJson = (text: string, { listAs }: BodyOptions) =>
  text.startsWith('{') || (listAs !== undefined && text.startsWith('['))

/** Fields without a value cost the reader the square of their number, so they are counted first: 120,000 took a second. Throws PAYLOAD_TOO_LARGE. */
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

/** Reads a form. Its files are written to disk while they arrive. Fields may come before or after them. */
export async function readMultipart(
  req: IncomingMessage,
  { readForm, maxBytes, maxFileBytes, files: taken, texts, intake }: BodyOptions,
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
      if (intake && taken.includes(name) && !seen.has(name)) {
        seen.add(name)
        return intake.hold(file).then((held) => {
          files[name] = held
        })
      }
      // A browser sends an empty file for an input where no file was chosen.
      const isEmpty = file.filename === '' && file.mimetype === 'application/octet-stream'
      if (!isEmpty && taken.length === 0) throw validationFailed({ [name]: ['No file is taken here.'] })
      return undefined
    },
  })
  await whole
  return createFields(values, { files, isForm: true })
}

/**
 * Reads the fields of a body. An empty body is an empty object whatever its type, and so are `null`, `""` and `[]` in JSON. A form or plain text that
 * starts with `{` is read as JSON. Throws PARSE_ERROR, UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE.
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

/** Fields of a body. Each method returns undefined for a missing field, and throws VALIDATION_FAILED for an invalid value. */
export type Fields = ReturnType<typeof createFields>

/** Returns a number without an exponent, for amounts. */
function digitsOf(number: number): string {
  const text = String(number)
  return text.includes('e') ? number.toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 17 }) : text
}

const NOT_A_STRING = 'Not a valid string.'

const invalid = (name: string, message: string) => validationFailed({ [name]: [message] })

/** Rejects values that no field may have. Use cases validate the rest. */
function assertSound(name: string, value: unknown): void {
  if (value === NOT_UTF8) throw invalid(name, textProblem(value)!)
  const problem = typeof value === 'string' && !isInexact(value) ? undefined : findProblem(value)
  if (problem) throw invalid(name, describeProblem(problem))
}

function parsed(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  let found: unknown
  try {
    found = parseJson(value)
  } catch {
    throw invalid(name, NOT_JSON)
  }
  assertSound(name, found)
  return found
}

interface FieldsOptions {
  files?: Record<string, IncomingFile>
  /** True for forms: browsers send line breaks as CRLF, which would change the hash of a JSON text. */
  isForm?: boolean
}

function uploadOf(file: IncomingFile): Upload {
  const upload = new Upload()
  upload.resolve(fileUpload(file, async () => file))
  return upload
}

export function createFields(values: Record<string, unknown>, { files = {}, isForm = false }: FieldsOptions = {}) {
  const get = (name: string) => {
    const value = Object.hasOwn(values, name) ? (values[name] ?? undefined) : undefined
    assertSound(name, value)
    return value
  }

  /** Converts numbers and booleans of JSON bodies to text. */
  function text(name: string): string | undefined {
    const value = get(name)
    if (value === undefined || typeof value === 'string') return value
    if (typeof value === 'number') return digitsOf(value)
    if (typeof value === 'boolean') return String(value)
    throw invalid(name, NOT_A_STRING)
  }

  /** Rejects numbers, because a password must be exact. */
  function exactText(name: string): string | undefined {
    const value = get(name)
    if (value === undefined || typeof value === 'string') return value
    throw invalid(name, NOT_A_STRING)
  }

  /** Like `get`. Empty text counts as missing. */
  const filled = (name: string) => {
    const value = get(name)
    return value === '' ? undefined : value
  }

  /** Like `text`. Returns null for JSON null and empty text, which clear a field. */
  function textOrNull(name: string): string | null | undefined {
    if (Object.hasOwn(values, name) && (values[name] === null || values[name] === '')) return null
    return text(name)
  }

  return {
    text,
    exactText,
    textOrNull,
    /** Returns the value of one of these words. Case does not matter. */
    choice<Value>(name: string, known: Record<string, Value>): Value | undefined {
      const word = text(name)?.toLowerCase()
      if (word === undefined) return undefined
      if (Object.hasOwn(known, word)) return known[word]
      throw invalid(name, `Expected one of: ${Object.keys(known).join(', ')}.`)
    },
    /** Returns a decimal string. Numbers of JSON bodies are accepted. */
    amount(name: string) {
      const value = text(name)
      if (value === undefined || AMOUNT.test(value)) return value
      throw invalid(name, 'Expected an amount such as 0.5.')
    },
    /** Accepts `true`, `1`, `yes`, `on` and their opposites in any case. */
    flag(name: string): boolean | undefined {
      const value = filled(name)
      if (value === undefined) return undefined
      const word = typeof value === 'object' ? '' : String(value).toLowerCase()
      if (['true', '1', 'yes', 'on'].includes(word)) return true
      if (['false', '0', 'no', 'off'].includes(word)) return false
      throw invalid(name, 'Must be a valid boolean.')
    },
    /** Accepts an object, or JSON text of one. */
    object(name: string) {
      const value = filled(name)
      const object = value === undefined ? undefined : parsed(name, value)
      if (value === undefined || isJsonObject(object)) return object as Record<string, unknown> | undefined
      throw invalid(name, NOT_AN_OBJECT)
    },
    /** Accepts a list, or JSON text of one. */
    list(name: string) {
      const value = filled(name)
      const list = value === undefined ? undefined : parsed(name, value)
      if (value === undefined || Array.isArray(list)) return list as unknown[] | undefined
      throw invalid(name, 'Expected a list.')
    },
    /** Returns all fields except files. */
    all(): Record<string, unknown> {
      for (const [name, value] of Object.entries(values)) assertSound(name, value)
      return { ...values }
    },
    /** Returns JSON text. Converts other JSON values to text. */
    json(name: string) {
      const value = filled(name)
      if (value === undefined) return undefined
      if (typeof value !== 'string') return JSON.stringify(value)
      return isForm ? value.replaceAll('\r\n', '\n') : value
    },
    /** Like `upload`. Returns undefined without a file, and null for JSON null and empty text. */
    uploadOrNull(name: string): Upload | null | undefined {
      const file = files[name]
      // A browser sends a file without a name for an input where no file was chosen.
      if (file) return file.filename === '' ? undefined : uploadOf(file)
      const sent = textOrNull(name)
      if (sent) throw invalid(name, 'The submitted data was not a file.')
      return sent as null | undefined
    },
    /** Returns a value of GraphQL's Upload scalar. Throws VALIDATION_FAILED without a file. */
    upload(name: string): Upload {
      const file = files[name]
      if (!file) throw invalid(name, 'No file was submitted.')
      return uploadOf(file)
    },
  }
}

/** Returns fields for a quote: a field that cannot be read is undefined, and `unread` gets its problem. The use case reports a missing file. */
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
