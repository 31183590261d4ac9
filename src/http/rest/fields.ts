/** Fields of requests and responses. For a response schema, `z.input` is the JSON type and `z.output` the presenter's type. */

import type { IncomingMessage } from 'node:http'
import { Upload } from 'graphql-upload-ts'
import { z } from 'zod'
import { fileUpload } from '../../graphql/request-body.ts'
import type { MetadataField } from '../../modules/assets/metadata.ts'
import type { IncomingFile, Intake } from '../../modules/assets/uploads.ts'
import { DomainError, type FieldErrors, validationFailed } from '../../shared/errors.ts'
import * as input from '../../shared/input.ts'
import { AMOUNT, toUnits } from '../../shared/money.ts'
import { camelCase, snakeCase } from '../../shared/text.ts'
import { type BodyLimits, MAX_FIELDS, mediaTypeOf, readForm, readText, tooLarge } from '../request-body.ts'

/** Adds the description of a GraphQL field to a schema. `coordinate`: the field, such as `Order.price`. */
export const same = <Schema extends z.ZodType>(coordinate: string, schema: Schema): Schema =>
  schema.meta({ ...schema.meta(), same: coordinate })

/** Adds the descriptions of a GraphQL type's fields to the fields of a schema. */
export const sameFields = <Shape extends Record<string, z.ZodType>>(type: string, shape: Shape) =>
  Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [name, same(`${type}.${camelCase(name)}`, schema)]),
  ) as Shape

export const objectOf = <Shape extends z.core.$ZodLooseShape>(id: string, description: string, shape: Shape) =>
  z.object(shape).meta({ id, description })

/** A timestamp. Presenters may return a `Date`. */
export const time = z.iso.datetime().transform((text): Date | string => text)

/** An amount in a response. A debit is negative. */
export const amount = z.string().regex(/^-?\d+(\.\d+)?$/)
export const anyObject = z.record(z.string(), z.unknown())

export const always = <const Value extends string | number | boolean | null>(value: Value) =>
  z.literal(value).describe('A constant value, kept for old clients that expect it.')

export const url = z.string().meta({ format: 'uri' })
export const optionalText = (description: string) => z.string().optional().describe(description)

export const optionalWord = <const Word extends string>(words: readonly Word[], description: string) =>
  z.enum(words).optional().describe(description)

export const givenAmount = z
  .string()
  .regex(AMOUNT)
  .meta({ examples: ['0.5'] })

/** A boolean in a request. Generated clients cannot send `True` or `1`, which the service also accepts. */
export const givenFlag = z.boolean()
const jsonText = z.string().meta({ contentMediaType: 'application/json' })
/** JSON, or JSON text in a form. */
export const givenObject = z.union([anyObject, jsonText])
/** JSON that is stored as text. JSON text is stored unchanged. */
const givenJson = z.union([jsonText, anyObject, z.array(z.unknown())])
export const givenList = <Item extends z.ZodType>(item: Item) => z.union([z.array(item), jsonText])
/** Bytes of a file in a response. Without a schema, generated clients would return no body. */
export const fileBytes = z.file()
export const givenFile = z.file()
/** Null or an empty string removes the picture. */
export const givenPicture = z.union([givenFile, z.literal('')]).nullable()
export const givenText = (max?: number) => (max === undefined ? z.string() : z.string().max(max))
export const neededText = (max?: number) => givenText(max).min(1)
export const givenEmail = neededText(254).meta({ format: 'email' })
export const presentPassword = neededText(256).meta({ format: 'password' })
export const newPassword = z.string().min(8).max(32).meta({ format: 'password' })

/** Returns the request schema of an asset's metadata field. `limit`: which of the field's maximum sizes applies. */
export function givenMetadata({ kind, description, ...sizes }: MetadataField, limit: 'size' | 'updateSize') {
  const schema = { text: givenText(sizes[limit]), flag: givenFlag, json: givenJson }[kind]
  return schema.describe(description)
}

export const metadataText = ({ description }: MetadataField) => z.string().describe(description)
export const metadataFlag = ({ description }: MetadataField) => z.boolean().describe(description)
export const nothing = z.undefined()

export const lowerCase = <Word extends string>(word: Word) => word.toLowerCase() as Lowercase<Word>

type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ''

/** Converts field names to snake case, as in REST. */
export const snakeCased = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value])) as {
    [Name in keyof Fields & string as SnakeCase<Name>]: Fields[Name]
  }

const idOf = (what: string, prefix: string) =>
  z.object({ id: z.string().describe(`ID of the ${what}, as in \`${prefix}_01h2x…\`.`) })

const nid = 'The nid of the asset: the CID of the file’s bytes. Any multibase, version 0 and `ipfs://…` are accepted.'
export const nidParam = z.object({ nid: z.string().describe(nid) })
export const orderParam = idOf('order', 'order')
export const withdrawalParam = idOf('withdrawal', 'withdrawal')
export const networkAppParam = idOf('network app', 'app')
export const apiKeyParam = idOf('API key', 'key')
export const sessionParam = idOf('session', 'session')
export const assetLinkParam = idOf('link', 'link')
export const userParam = z.object({ id: z.string().describe('ID, e-mail address or username of the user.') })
export const deliveryParam = idOf('webhook delivery', 'delivery')

/** Schema of a record's field, and the function that reads its value. */
type RecordField<Source, Schema extends z.ZodType> = readonly [Schema, (source: Source) => z.output<Schema>]

export const constantField = <const Value extends string | number | boolean | null>(value: Value) =>
  [always(value), () => value] as const

/** Defines a response record by its fields. `Source`: the presenter's input. */
export const defineRecord =
  <Source>() =>
  <Shape extends Record<string, z.ZodType>>(
    meta: { id: string; description: string },
    fields: { [Name in keyof Shape]: RecordField<Source, Shape[Name]> },
  ) => {
    const entries = Object.entries(fields) as [string, RecordField<Source, z.ZodType>][]
    const shape = Object.fromEntries(entries.map(([name, [schema]]) => [name, schema])) as unknown as Shape
    return {
      schema: z.object(shape).meta(meta),
      present: (source: Source) =>
        Object.fromEntries(entries.map(([name, [, read]]) => [name, read(source)])) as z.output<z.ZodObject<Shape>>,
    }
  }

/** Placeholder value of a field whose text is not UTF-8. Only a route that reads the field rejects it. */
const NOT_UTF8 = '\udcff'

export function escapesUtf8(text: string): boolean {
  try {
    for (const [bytes] of text.matchAll(/(?:%[\da-f]{2})+/gi)) decodeURIComponent(bytes)
    return true
  } catch {
    return false
  }
}

interface BodyOptions extends BodyLimits {
  /** Names of the file fields. Files in other fields are ignored. If the list is empty, every file is rejected. */
  files: readonly string[]
  /** Names of the text fields. A client may send their values as files. */
  texts: readonly string[]
  intake: Intake | undefined
  /** Name of the field that receives a body that is a JSON list. If omitted, a JSON list is rejected. */
  listAs?: string | undefined
}

export const unsupportedMediaType = (type: string) =>
  new DomainError('UNSUPPORTED_MEDIA_TYPE', `Unsupported media type "${type}" in request.`)

/** Existing clients send `null`, `""` and `[]` as an empty body. */
const isEmptyValue = (value: unknown) => value === null || value === '' || (Array.isArray(value) && !value.length)

/** Maximum size of a JSON body, in bytes. */
const MAX_JSON_BYTES = 256_000

function readObject(text: string, listAs: string | undefined): Record<string, unknown> {
  // The size limit of JSON also applies to JSON that is sent with the Content-Type of a form.
  if (text.length > MAX_JSON_BYTES) throw tooLarge(MAX_JSON_BYTES)
  const value = input.readJson(text)
  if (input.isJsonObject(value)) return value
  if (Array.isArray(value) && listAs !== undefined) return { [listAs]: value }
  if (isEmptyValue(value)) return {}
  throw input.jsonError(listAs === undefined ? 'expected an object.' : 'expected a list.')
}

/** By default, curl sends JSON with the Content-Type of a form. */
const looksLikeJson = (text: string, { listAs }: BodyOptions) =>
  text.startsWith('{') || (listAs !== undefined && text.startsWith('['))

/** Counts fields before parsing, because parsing 120,000 fields took a second. */
function parseForm(text: string) {
  if (text.split('&', MAX_FIELDS + 1).length > MAX_FIELDS)
    throw new DomainError('PAYLOAD_TOO_LARGE', `The body has more than ${MAX_FIELDS} fields.`)
  const pairs = text.split('&').flatMap((field) => {
    const isUtf8 = escapesUtf8(field)
    return [...new URLSearchParams(field)].map(([name, value]) => [name, isUtf8 ? value : NOT_UTF8])
  })
  return Object.fromEntries(pairs)
}

export const isEmpty = (req: IncomingMessage) =>
  req.headers['content-length'] === '0' ||
  (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined)

export async function readMultipart(
  req: IncomingMessage,
  { maxBytes, maxFileBytes, files: fileFields, texts, intake }: Omit<BodyOptions, 'listAs'>,
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

/** Reads a body. A form or text that starts with `{` is JSON. Throws PARSE_ERROR, UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE. */
export async function readBody(req: IncomingMessage, options: BodyOptions): Promise<Fields> {
  if (isEmpty(req)) return createFields({})
  const type = mediaTypeOf(req.headers['content-type'])
  if (type === 'multipart/form-data') return readMultipart(req, options)
  const isForm = type === '' || type === 'application/x-www-form-urlencoded'
  const isJson = type === 'application/json' || type === 'text/json' || type.endsWith('+json')
  const text = (await readText(req, isJson ? MAX_JSON_BYTES : options.maxBytes)).trim()
  if (text === '') return createFields({})
  const mayBeJson = isForm || type === 'text/plain'
  if (isJson || (mayBeJson && looksLikeJson(text, options))) return createFields(readObject(text, options.listAs))
  if (isForm) return createFields(parseForm(text), { isForm: true })
  throw unsupportedMediaType(type)
}

/** Field readers of a body. They return undefined for a missing field and throw VALIDATION_FAILED if it is invalid. */
export type Fields = ReturnType<typeof createFields>

function digitsOf(number: number): string {
  const text = String(number)
  return text.includes('e') ? number.toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 17 }) : text
}

const NOT_A_STRING = 'Not a valid string.'
const invalid = (name: string, message: string) => validationFailed({ [name]: [message] })

function assertStorable(name: string, value: unknown): void {
  if (value === NOT_UTF8) throw invalid(name, input.textProblem(value)!)
  const problem = typeof value === 'string' && !input.isInexact(value) ? undefined : input.findProblem(value)
  if (problem) throw invalid(name, input.describeProblem(problem))
}

function parsed(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    value = input.parseJson(value)
  } catch {
    throw invalid(name, input.NOT_JSON)
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

  function text(name: string): string | undefined {
    const value = get(name)
    if (value === undefined || typeof value === 'string') return value
    if (typeof value === 'number') return digitsOf(value)
    if (typeof value === 'boolean') return String(value)
    throw invalid(name, NOT_A_STRING)
  }

  /** Rejects numbers, because converting a number could change a password. */
  function exactText(name: string): string | undefined {
    const value = get(name)
    if (value === undefined || typeof value === 'string') return value
    throw invalid(name, NOT_A_STRING)
  }

  const filled = (name: string) => {
    const value = get(name)
    return value === '' ? undefined : value
  }
  const structured = (name: string) => {
    const value = filled(name)
    return value === undefined ? undefined : parsed(name, value)
  }

  /** Returns null for JSON null and an empty string, which clear the field. */
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
    /** Returns a decimal string. Accepts numbers of JSON bodies. */
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
    object(name: string) {
      const value = structured(name)
      if (value === undefined || input.isJsonObject(value)) return value
      throw invalid(name, input.NOT_AN_OBJECT)
    },
    list(name: string) {
      const value = structured(name)
      if (value === undefined || Array.isArray(value)) return value as unknown[] | undefined
      throw invalid(name, 'Expected a list.')
    },
    all(): Record<string, unknown> {
      for (const [name, value] of Object.entries(values)) assertStorable(name, value)
      return { ...values }
    },
    /** Returns JSON text. Serializes a value that was sent as JSON. */
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

const isSameAmount = (one: string, other: string) =>
  one === other || ([one, other].every((each) => AMOUNT.test(each)) && toUnits(one) === toUnits(other))

/** Returns the maximum cost, from body or query. If they differ, a quote reports a problem, and other requests are rejected. */
export function maxCostOf({ body, query, unread }: { body: Fields; query: URLSearchParams; unread?: FieldErrors }) {
  const inBody = body.amount('max_cost')
  const inQuery = query.get('max_cost') ?? undefined
  if (inBody === undefined || inQuery === undefined || isSameAmount(inBody, inQuery)) return inBody ?? inQuery
  const details = { max_cost: ['The values in the body and in the query string differ.'] }
  if (!unread) throw validationFailed(details)
  Object.assign(unread, details)
  return undefined
}

/** Prefix of strings that `writeJson` writes as raw JSON. User input cannot contain a null character. */
const MARK = '\0raw JSON: '

/** Marks JSON text that `writeJson` copies unchanged, because parsing would change large numbers. */
export const rawJson = (text: string) => `${MARK}${text}`
const BEGIN = JSON.stringify(MARK).slice(0, -1)

function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from); ; end = json.indexOf('"', end + 1)) {
    let backslashes = 0
    while (json[end - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return end
  }
}

/** Converts a value to JSON, with raw JSON unchanged. A regular expression would overflow the stack for long texts. */
export function writeJson(value: unknown): string {
  const json = JSON.stringify(value)
  const parts: string[] = []
  let written = 0
  for (let at = json.indexOf(BEGIN); at >= 0; at = json.indexOf(BEGIN, Math.max(written, at + 1))) {
    // An escaped quotation mark is part of a string, so this is not a marked value.
    if (json[at - 1] === '\\') continue
    const begin = at + BEGIN.length
    const end = endOfText(json, begin)
    parts.push(json.slice(written, at), JSON.parse(`"${json.slice(begin, end)}"`) as string)
    written = end + 1
  }
  return parts.join('') + json.slice(written)
}
