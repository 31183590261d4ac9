/** The fields of a request's body, whatever its encoding: every encoding reads every type the way old callers send it. */
import { Upload } from 'graphql-upload-ts'
import { fileUpload } from '../../graphql/file-upload.ts'
import type { IncomingFile } from '../../modules/assets/uploads.ts'
import { validationFailed } from '../../shared/errors.ts'
import {
  findProblem,
  isInexact,
  isJsonObject,
  NOT_AN_OBJECT,
  NOT_JSON,
  parseJson,
  tellProblem,
  textProblem,
} from '../../shared/json-input.ts'
import { AMOUNT } from '../../shared/money.ts'
import { NOT_UTF8 } from './form-text.ts'

/** A field as it was sent: text of a form, or anything that JSON has. */
export type FieldValue = unknown

/** Reads fields by the type that is wanted. Each method raises VALIDATION_FAILED for what no value may hold. */
export interface Fields {
  /** Undefined when the field was not sent. Numbers and booleans of JSON bodies count as their text. */
  text(name: string): string | undefined
  /** Like `text`, but a number is not text: it may be written in several ways, and a password must be exact. */
  exactText(name: string): string | undefined
  /** Like `text`; JSON null and empty text are null: the field is to be emptied. */
  textOrNull(name: string): string | null | undefined
  /** The word's value; words count in any case. Raises VALIDATION_FAILED for another one. */
  choice<Value>(name: string, values: Record<string, Value>): Value | undefined
  /** A decimal string; numbers of JSON bodies count as their text. Empty text is no amount. Raises VALIDATION_FAILED. */
  amount(name: string): string | undefined
  /** `true`/`false` in any case, `1`/`0`. Raises VALIDATION_FAILED. */
  flag(name: string): boolean | undefined
  /** An object, or JSON text of one. Raises VALIDATION_FAILED. */
  object(name: string): Record<string, unknown> | undefined
  /** A list, or JSON text of one. Raises VALIDATION_FAILED. */
  list(name: string): unknown[] | undefined
  /** Everything that was sent, but for files. */
  all(): Record<string, unknown>
  /** JSON text; other JSON is put into text. */
  json(name: string): string | undefined
  /** As GraphQL's Upload scalar takes it. Raises VALIDATION_FAILED when no file was sent. */
  upload(name: string): Upload
  /** Undefined when none was sent; JSON null and empty text are null. Raises VALIDATION_FAILED for other text. */
  uploadOrNull(name: string): Upload | null | undefined
}

/** A number as it is written without an exponent, which no amount may have. */
function digitsOf(number: number): string {
  const text = String(number)
  return text.includes('e') ? number.toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 17 }) : text
}

const NOT_A_STRING = 'Not a valid string.'

const invalid = (name: string, message: string) => validationFailed({ [name]: [message] })

/** Rejects values that no field may have. Services check texts. */
function assertSound(name: string, value: unknown): void {
  if (value === NOT_UTF8) throw invalid(name, textProblem(value)!)
  const problem = typeof value === 'string' && !isInexact(value) ? undefined : findProblem(value)
  if (problem) throw invalid(name, tellProblem(problem))
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

function parseObject(name: string, value: unknown): Record<string, unknown> {
  const object = parsed(name, value)
  if (isJsonObject(object)) return object
  throw invalid(name, NOT_AN_OBJECT)
}

/** How the body came. */
export interface FieldsOptions {
  files?: Record<string, IncomingFile>
  /** Browsers make every line break of a form CRLF, and hashes over JSON texts would not match any more. */
  isForm?: boolean
}

/** Returns the value of a variable of the type Upload. */
function uploadOf(file: IncomingFile): Upload {
  const upload = new Upload()
  upload.resolve(fileUpload(file, async () => file))
  return upload
}

/** The fields of a body that was read. */
export function createFields(
  values: Record<string, FieldValue>,
  { files = {}, isForm = false }: FieldsOptions = {},
): Fields {
  const get = (name: string) => {
    const value = Object.hasOwn(values, name) ? (values[name] ?? undefined) : undefined
    assertSound(name, value)
    return value
  }

  function text(name: string): string | undefined {
    const value = get(name)
    if (value === undefined || typeof value === 'string') return value
    if (typeof value === 'number') return digitsOf(value)
    if (typeof value === 'boolean') return String(value)
    throw invalid(name, NOT_A_STRING)
  }

  function exactText(name: string): string | undefined {
    const value = get(name)
    if (value === undefined || typeof value === 'string') return value
    throw invalid(name, NOT_A_STRING)
  }

  function textOrNull(name: string): string | null | undefined {
    if (Object.hasOwn(values, name) && (values[name] === null || values[name] === '')) return null
    return text(name)
  }

  return {
    text,
    exactText,
    textOrNull,
    choice(name, known) {
      const word = text(name)?.toLowerCase()
      if (word === undefined) return undefined
      if (Object.hasOwn(known, word)) return known[word]
      throw invalid(name, `Expected one of: ${Object.keys(known).join(', ')}.`)
    },
    amount(name) {
      const value = text(name)
      if (value === undefined || AMOUNT.test(value)) return value
      throw invalid(name, 'Expected an amount such as 0.5.')
    },
    flag(name) {
      const value = get(name)
      if (value === undefined || value === '') return undefined
      const word = typeof value === 'object' ? undefined : String(value).toLowerCase()
      if (word !== undefined && ['true', '1', 'yes', 'on'].includes(word)) return true
      if (word !== undefined && ['false', '0', 'no', 'off'].includes(word)) return false
      throw invalid(name, 'Must be a valid boolean.')
    },
    object(name) {
      const value = get(name)
      return value === undefined || value === '' ? undefined : parseObject(name, value)
    },
    list(name) {
      const value = get(name)
      if (value === undefined || value === '') return undefined
      const list = parsed(name, value)
      if (Array.isArray(list)) return list
      throw invalid(name, 'Expected a list.')
    },
    all() {
      for (const [name, value] of Object.entries(values)) assertSound(name, value)
      return { ...values }
    },
    json(name) {
      const value = get(name)
      if (value === undefined || value === '') return undefined
      if (typeof value !== 'string') return JSON.stringify(value)
      return isForm ? value.replaceAll('\r\n', '\n') : value
    },
    uploadOrNull(name) {
      const file = files[name]
      // What a browser sends for an input where nobody chose a file.
      if (file) return file.filename === '' ? undefined : uploadOf(file)
      const sent = textOrNull(name)
      if (sent) throw invalid(name, 'The submitted data was not a file.')
      return sent as null | undefined
    },
    upload(name) {
      const file = files[name]
      if (!file) throw invalid(name, 'No file was submitted.')
      return uploadOf(file)
    },
  }
}
