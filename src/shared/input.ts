/** Validation of input. Texts must be Unicode without null characters, and numbers exact in a double. */

import { z } from 'zod'
import { DomainError, type FieldErrors, validationFailed } from './errors.ts'
import { canonicalNid, fromId, type IdPrefix } from './ids.ts'
import { nameProblem, stripInvisible, trimEnd, trimName } from './text.ts'

export const NOT_JSON = 'Value must be valid JSON.'
export const NOT_AN_OBJECT = 'Expected a JSON object.'
export const MAX_JSON_DEPTH = 16
const tooDeep = `Ensure this value is nested no more than ${MAX_JSON_DEPTH} levels deep.`
export const numberProblem = 'This number cannot be stored exactly. Send it as text.'

/** Placeholder for a number that a double would change. Input cannot contain it. */
const INEXACT = '\0inexact number'
export const isInexact = (value: unknown) => value === INEXACT
type Path = readonly (string | number)[]

/** Excludes the value itself, because errors are logged. */
interface JsonProblem {
  path: Path
  message: string
}

const unicodeProblem = 'Unpaired surrogates and invalid UTF-8 are not allowed: the text is not valid Unicode.'

export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return isInexact(text) ? numberProblem : 'Null characters are not allowed.'
  return text.isWellFormed() ? undefined : unicodeProblem
}

const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i

/** Equal for all notations of a number. */
function magnitude(literal: string): string {
  const [, whole = '', decimals = '', exponent = '0'] = DECIMAL.exec(literal) ?? []
  const digits = (whole + decimals).replace(/^0+/, '')
  const significant = trimEnd(digits, '0')
  return `${significant}e${Number(exponent) - decimals.length + digits.length - significant.length}`
}

const SAFE_DIGITS = 15
const SMALLEST_SAFE = 1e-300

export function isExact(literal: string): boolean {
  const value = Number(literal)
  if (!Number.isFinite(value)) return false
  if (value === 0) return !/[1-9]/.test(literal.split(/e/i, 1)[0]!)
  if (literal.length <= SAFE_DIGITS && Math.abs(value) > SMALLEST_SAFE) return true
  const written = String(value)
  return written === literal || magnitude(literal) === magnitude(written)
}

const SUSPICIOUS = /\d[\d.]{15}|\de/i
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i
const markInexact = (token: string) => (NUMBER.test(token) && !isExact(token) ? JSON.stringify(INEXACT) : token)

/** Marks numbers that JavaScript would change. A reviver would take seconds for a megabyte. Throws a SyntaxError. */
export const parseJson = (text: string): unknown =>
  JSON.parse(SUSPICIOUS.test(text) ? text.replace(TOKENS, markInexact) : text)

/** Maximum number of values in a JSON text. Parsing them takes a millisecond. */
export const MAX_JSON_VALUES = 20_000

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Array.from('"\\,[{', (character) => character.charCodeAt(0))

function assertFewValues(text: string): void {
  if (text.length <= MAX_JSON_VALUES) return
  let count = 0
  let isInString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (isInString) {
      if (code === BACKSLASH) at += 1
      else if (code === QUOTE) isInString = false
    } else if (code === QUOTE) isInString = true
    else if (code === COMMA || code === BRACKET || code === BRACE) count += 1
    if (count > MAX_JSON_VALUES)
      throw new DomainError('PAYLOAD_TOO_LARGE', `The JSON has more than ${MAX_JSON_VALUES} values.`)
  }
}

export const jsonError = (problem: string, cause?: unknown): DomainError =>
  new DomainError('PARSE_ERROR', `JSON parse error - ${problem}`, { cause })

export function readJson(text: string): unknown {
  assertFewValues(text)
  try {
    return parseJson(text)
  } catch (error) {
    throw jsonError((error as Error).message.replace(/^(Unexpected token).*not valid JSON$/s, '$1 in JSON'), error)
  }
}

export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function readJsonObject(text: string): Record<string, unknown> {
  const value = readJson(text)
  if (isJsonObject(value)) return value
  throw jsonError('expected an object.')
}

/** Uploads and dates are not containers. */
const isContainer = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Not recursive: JSON can be deeper than the stack. */
export function isDeeper(root: unknown, levels: number): boolean {
  let level = [root].filter(isContainer)
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= levels) return true
    level = level.flatMap((value) => Object.values(value).filter(isContainer))
  }
  return false
}

function problemOf(value: unknown): string | undefined {
  if (typeof value === 'string') return textProblem(value)
  return typeof value === 'number' && !Number.isFinite(value) ? numberProblem : undefined
}

/** JSON would store a file as an empty object. */
const problemInJson = (value: unknown) =>
  value instanceof Object && !(value instanceof Date) ? 'A file is not allowed here.' : problemOf(value)

const keyProblem = (key: string) => (key === '__proto__' ? 'A key may not be "__proto__".' : textProblem(key))

/** Searches level by level. `check` returns the problem of a scalar. */
export function findProblem(
  root: unknown,
  maxDepth = MAX_JSON_DEPTH,
  check: (value: unknown) => string | undefined = problemOf,
): JsonProblem | undefined {
  if (!isContainer(root)) {
    const message = check(root)
    return message ? { path: [], message } : undefined
  }
  let level: { container: object; path: Path }[] = [{ container: root, path: [] }]
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: typeof level = []
    for (const { container, path } of level) {
      if (depth >= maxDepth) return { path, message: tooDeep }
      const isList = Array.isArray(container)
      for (const [key, value] of isList ? container.entries() : Object.entries(container)) {
        const badKey = isList ? undefined : keyProblem(key as string)
        if (badKey) return { path, message: badKey }
        const inner = [...path, key]
        if (isContainer(value)) next.push({ container: value, path: inner })
        else {
          const message = check(value)
          if (message) return { path: inner, message }
        }
      }
    }
    level = next
  }
  return undefined
}

const MAX_SHOWN = 100

function formatPath(path: Path): string {
  let text = ''
  for (const key of path) text += typeof key === 'number' ? `[${key}]` : `${text && '.'}${key.toWellFormed()}`
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text
}

export const describeProblem = ({ path, message }: JsonProblem) =>
  path.length ? `At ${formatPath(path)}: ${message}` : message

/** Throws VALIDATION_FAILED with the first problem of the variables of a GraphQL operation. */
export function assertVariables(variables: object): void {
  // Counts only the levels of the value itself, not the levels of the input objects around it.
  const problem = findProblem(variables, MAX_JSON_DEPTH + 3)
  if (!problem) return
  const [argument = '', name, ...rest] = problem.path
  const isField = typeof name === 'string' && isContainer((variables as Record<string, unknown>)[argument])
  const field = String(isField ? name : argument)
  const path = isField ? rest : problem.path.slice(1)
  throw validationFailed({ [field.toWellFormed().slice(0, MAX_SHOWN)]: [describeProblem({ ...problem, path })] })
}

export const length = (text: string) => [...text].length

/** Adds a rule to a schema. `problemOf` returns undefined for a valid value. */
export const checked = <Output, Input>(
  schema: z.ZodType<Output, Input>,
  problemOf: (value: Output) => string | undefined,
) =>
  schema.superRefine((value, context) => {
    const message = problemOf(value)
    if (message !== undefined) context.addIssue({ code: 'custom', message, continue: false })
  })

const anyText = z.string({ error: 'Expected text.' })

/** `max`: number of characters. */
export const text = (max: number) =>
  checked(anyText, (value) => {
    if (length(value) > max) return textProblem(value) ?? `Ensure this field has no more than ${max} characters.`
    return textProblem(value)
  })

export const trimmedText = (max: number) => anyText.transform((value) => value.trim()).pipe(text(max))
const isNotBlank = (value: string) => value.length > 0
const BLANK = 'This field may not be blank.'
export const requiredText = (max: number) => trimmedText(max).refine(isNotBlank, BLANK)

/** Not trimmed. */
export const nonBlankText = (max: number) => text(max).refine(isNotBlank, BLANK)

/** A public ID with this prefix. The value is the UUID. */
export const idInput = (prefix: IdPrefix) =>
  z
    .string()
    .refine((id) => fromId(id, prefix), `Expected an identifier as in ${prefix}_01h2x….`)
    .transform((id) => fromId(id)!.uuid)

/** Accepts any encoding. The value is the canonical CID. */
export const cidInput = (message: string) =>
  anyText.transform((given, context) => {
    const cid = canonicalNid(given)
    if (cid === undefined) context.addIssue({ code: 'custom', message, input: given })
    return cid ?? z.NEVER
  })

/** A private label. Invisible characters are removed. */
export const label = (max: number) => text(max).transform(stripInvisible)

/** A name that other users see. Rejects invisible characters. */
export const displayName = (max: number) => checked(anyText.transform(trimName).pipe(text(max)), nameProblem)
export const requiredDisplayName = (max: number) => displayName(max).refine(isNotBlank, BLANK)

export const jsonObject = checked(z.custom<Record<string, unknown>>(isJsonObject, NOT_AN_OBJECT), (value) => {
  const problem = findProblem(value, MAX_JSON_DEPTH, problemInJson)
  return problem && describeProblem(problem)
})

/** Stored unchanged, so strings and numbers are not validated. */
export const jsonText = (bytes: number) =>
  checked(text(Number.POSITIVE_INFINITY), (value) => {
    if (Buffer.byteLength(value) > bytes) return `Ensure this field has no more than ${bytes / 1024} KB.`
    try {
      return isDeeper(JSON.parse(value), MAX_JSON_DEPTH) ? tooDeep : undefined
    } catch {
      return NOT_JSON
    }
  })

function fieldErrors({ issues }: z.ZodError): FieldErrors {
  const fields: FieldErrors = {}
  for (const { path, message } of issues) {
    const field = String(path[0] ?? 'nonFieldErrors')
    fields[field] = [...(fields[field] ?? []), message]
  }
  return fields
}

/** Throws VALIDATION_FAILED with all problems of all fields. */
export function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw validationFailed(fieldErrors(result.error))
}

/** For a quote: returns the valid fields, and the error of the invalid fields. */
export function inspect<Schema extends z.ZodObject>(
  schema: Schema,
  input: object,
): { data: Partial<z.output<Schema>>; refusals: DomainError[] } {
  const result = schema.safeParse(input)
  if (result.success) return { data: result.data, refusals: [] }
  const problems = fieldErrors(result.error)
  const valid = Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(problems, name)))
  return { data: schema.partial().parse(valid) as Partial<z.output<Schema>>, refusals: [validationFailed(problems)] }
}

export const positiveAmount = z
  .string({ error: 'Expected an amount such as 0.5.' })
  .regex(/^\d{1,12}(\.\d{1,18})?$/, 'Expected an amount such as 0.5, with at most 12 digits before the point.')
  .refine((value) => /[1-9]/.test(value), 'Ensure this value is greater than 0.')

const timestamp = z.iso.datetime({ offset: true })

/** Parses ISO 8601 with an offset from UTC. Returns undefined for an invalid time. */
export const parseTimestamp = (text: string): Date | undefined =>
  timestamp.safeParse(text).success ? new Date(text) : undefined
