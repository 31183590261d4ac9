/**
 * Rules for all values of a caller. Rejects invalid Unicode, null characters, numbers that a double would change, the key `__proto__`, and deep
 * nesting.
 */
import { DomainError, validationFailed } from './errors.ts'
import { trimEnd } from './text.ts'

export const NOT_JSON = 'Value must be valid JSON.'
export const NOT_AN_OBJECT = 'Expected a JSON object.'

/** Maximum nesting of objects and lists. */
export const MAX_JSON_DEPTH = 16

export const tooDeep = `Ensure this value is nested no more than ${MAX_JSON_DEPTH} levels deep.`

export const numberProblem = 'This number cannot be held without changing it. Send it as text.'

/** Replaces a number that a double would change. Input can contain no such text. */
const INEXACT = '\0inexact number'
export const isInexact = (value: unknown) => value === INEXACT

/** Keys and indices of a value, outermost first. */
type Path = readonly (string | number)[]

/** A problem and its place. Never contains the value, because errors are logged. */
export interface JsonProblem {
  path: Path
  message: string
}

const unicodeProblem =
  'Unpaired surrogates, and bytes that are no UTF-8, are not allowed: this is not valid Unicode text.'

/** Returns why a text cannot be stored, or undefined. */
export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return isInexact(text) ? numberProblem : 'Null characters are not allowed.'
  return text.isWellFormed() ? undefined : unicodeProblem
}

const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i

/** Returns the significant digits and the exponent of the last one. Equal for all notations of a number other than 0. */
function magnitude(literal: string): string {
  const [, whole = '', decimals = '', exponent = '0'] = DECIMAL.exec(literal) ?? []
  const digits = (whole + decimals).replace(/^0+/, '')
  const significant = trimEnd(digits, '0')
  return `${significant}e${Number(exponent) - decimals.length + digits.length - significant.length}`
}

/** A double preserves all decimals of this many digits, except very small ones. */
const SAFE_DIGITS = 15
const SMALLEST_SAFE = 1e-300

/** Returns whether a double preserves a JSON or GraphQL number. */
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

/**
 * Parses JSON, with a mark in place of each number that JavaScript would change. A reviver also receives the source of a number, but takes
 * seconds for a megabyte. Throws a SyntaxError.
 */
export const parseJson = (text: string): unknown =>
  JSON.parse(SUSPICIOUS.test(text) ? text.replace(TOKENS, markInexact) : text)

/** Maximum number of values in a JSON text. Parsing as many takes a millisecond. */
export const MAX_JSON_VALUES = 20_000

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Array.from('"\\,[{', (character) => character.charCodeAt(0))

/** Counts the values of a JSON text before it is parsed. Throws PAYLOAD_TOO_LARGE. */
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

/** The error PARSE_ERROR of a JSON body. */
export const jsonError = (problem: string, cause?: unknown): DomainError =>
  new DomainError('PARSE_ERROR', `JSON parse error - ${problem}`, { cause })

/** Parses a JSON body. Throws PARSE_ERROR, PAYLOAD_TOO_LARGE. */
export function readJson(text: string): unknown {
  assertFewValues(text)
  try {
    return parseJson(text)
  } catch (error) {
    throw jsonError((error as Error).message.replace(/^(Unexpected token).*not valid JSON$/s, '$1 in JSON'), error)
  }
}

/** Returns whether a value is an object, not a list. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses a JSON body that must be an object. Throws PARSE_ERROR, PAYLOAD_TOO_LARGE. */
export function readJsonObject(text: string): Record<string, unknown> {
  const value = readJson(text)
  if (isJsonObject(value)) return value
  throw jsonError('expected an object.')
}

interface Place {
  value: object
  key: string | number
  parent: Place | undefined
}

function pathOf(place: Place): Path {
  const path: (string | number)[] = []
  for (let at: Place | undefined = place; at?.parent; at = at.parent) path.unshift(at.key)
  return path
}

/** Uploads and dates are values, not containers. */
const isContainer = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Returns whether objects and lists are nested deeper than `levels`. Not recursive, because a text of brackets can be deeper than the stack. */
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

/** Returns the problem of a value that is stored as JSON. A file would become an empty object. Dates become text. */
export const problemInJson = (value: unknown) =>
  typeof value === 'object' && value !== null && !(value instanceof Date)
    ? 'A file cannot stand here.'
    : problemOf(value)

const keyProblem = (key: string) => (key === '__proto__' ? 'A key may not be "__proto__".' : textProblem(key))

/** Returns the first problem of a JSON value, level by level. `check` returns the problem of a value that is not a container. */
export function findProblem(
  root: unknown,
  maxDepth = MAX_JSON_DEPTH,
  check: (value: unknown) => string | undefined = problemOf,
): JsonProblem | undefined {
  if (!isContainer(root)) {
    const message = check(root)
    return message ? { path: [], message } : undefined
  }
  let level: Place[] = [{ value: root, key: '', parent: undefined }]
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: Place[] = []
    for (const place of level) {
      if (depth >= maxDepth) return { path: pathOf(place), message: tooDeep }
      const isList = Array.isArray(place.value)
      for (const [key, value] of isList ? (place.value as unknown[]).entries() : Object.entries(place.value)) {
        const badKey = isList ? undefined : keyProblem(key as string)
        if (badKey) return { path: pathOf(place), message: badKey }
        if (isContainer(value)) {
          next.push({ value, key, parent: place })
          continue
        }
        const message = check(value)
        if (message) return { path: [...pathOf(place), key], message }
      }
    }
    level = next
  }
  return undefined
}

const MAX_SHOWN = 100

/** Returns a path such as `license.versions[2].name`. */
function shown(path: Path): string {
  let text = ''
  for (const key of path) text += typeof key === 'number' ? `[${key}]` : `${text && '.'}${key.toWellFormed()}`
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text
}

/** Returns the message of a problem, with its place below the field. */
export const describeProblem = ({ path, message }: JsonProblem) =>
  path.length ? `At ${shown(path)}: ${message}` : message

/** Validates the variables of an operation: arguments, or the fields of an input object. Throws VALIDATION_FAILED with the first problem. */
export function assertVariables(variables: object): void {
  // Input objects may be nested. Only the levels of their fields count.
  const problem = findProblem(variables, MAX_JSON_DEPTH + 3)
  if (!problem) return
  const [argument = '', name, ...rest] = problem.path
  const isField = typeof name === 'string' && isContainer((variables as Record<string, unknown>)[argument])
  const field = String(isField ? name : argument)
  const path = isField ? rest : problem.path.slice(1)
  throw validationFailed({ [field.toWellFormed().slice(0, MAX_SHOWN)]: [describeProblem({ ...problem, path })] })
}
