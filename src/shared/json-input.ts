/**
 * What no value of a caller may hold, whatever field it stands in: text that is no Unicode or that PostgreSQL cannot keep,
 * numbers that would be changed silently, names that stand for something else in JavaScript, more levels than anybody needs.
 */
import { DomainError, validationFailed } from './errors.ts'
import { trimEnd } from './text.ts'

/** What is told of text that should be JSON. */
export const NOT_JSON = 'Value must be valid JSON.'
/** What is told of JSON that should be an object. */
export const NOT_AN_OBJECT = 'Expected a JSON object.'

/** An object or a list in another one is one level deeper. */
export const MAX_JSON_DEPTH = 16

/** What is told of a value with too many levels. */
export const tooDeep = `Ensure this value is nested no more than ${MAX_JSON_DEPTH} levels deep.`

/** What is told of a number that a double would change. */
export const numberProblem = 'This number cannot be held without changing it. Send it as text.'

/** Stands where a text had a number that JavaScript would have made another one of. No text that may be sent is like it. */
const INEXACT = '\0inexact number'
/** Whether `parseJson` put this where such a number stood. */
export const isInexact = (value: unknown) => value === INEXACT

/** Which keys and indices lead to a value, outermost first. */
type Path = readonly (string | number)[]

/** What is wrong and where. Never the value itself: callers log errors. */
export interface JsonProblem {
  path: Path
  message: string
}

const unicodeProblem =
  'Unpaired surrogates, and bytes that are no UTF-8, are not allowed: this is not valid Unicode text.'

/** Why a text cannot be kept; undefined when it can. */
export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return isInexact(text) ? numberProblem : 'Null characters are not allowed.'
  return text.isWellFormed() ? undefined : unicodeProblem
}

const DECIMAL = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i

/** The digits that count and the power of ten of the last one: the same for every way to write a number that is not 0. */
function magnitude(literal: string): string {
  const [, whole = '', decimals = '', exponent = '0'] = DECIMAL.exec(literal) ?? []
  const digits = (whole + decimals).replace(/^0+/, '')
  const significant = trimEnd(digits, '0')
  return `${significant}e${Number(exponent) - decimals.length + digits.length - significant.length}`
}

/** Every decimal of so many digits comes back from a double as it was, above the numbers that a double holds badly. */
const SAFE_DIGITS = 15
const SMALLEST_SAFE = 1e-300

/** Whether a JSON or GraphQL number is written back with the value it was sent with. */
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
 * seconds for a megabyte. Raises a SyntaxError.
 */
export const parseJson = (text: string): unknown =>
  JSON.parse(SUSPICIOUS.test(text) ? text.replace(TOKENS, markInexact) : text)

/** Maximum number of values in a JSON text. Parsing as many takes a millisecond. */
export const MAX_JSON_VALUES = 20_000

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Array.from('"\\,[{', (character) => character.charCodeAt(0))

/** Counts the values of a JSON text before it is parsed. Raises PAYLOAD_TOO_LARGE. */
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

/** A body that is no JSON, or no JSON of the right kind, in the words that callers of both interfaces know. */
export const jsonError = (problem: string, cause?: unknown): DomainError =>
  new DomainError('PARSE_ERROR', `JSON parse error - ${problem}`, { cause })

/** Parses a JSON body. Raises PARSE_ERROR, PAYLOAD_TOO_LARGE. */
export function readJson(text: string): unknown {
  assertFewValues(text)
  try {
    return parseJson(text)
  } catch (error) {
    throw jsonError((error as Error).message.replace(/^(Unexpected token).*not valid JSON$/s, '$1 in JSON'), error)
  }
}

/** Whether it is an object, and no list. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object that a body of JSON is. Raises PARSE_ERROR, also for JSON that is no object. */
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

/** Uploads and moments are values, not containers. */
const isContainer = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Whether objects and lists stand in more than so many levels. Level by level: a text of brackets is deeper than the stack. */
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

/** The same where it is to be kept as JSON: a file would become an empty object, and be lost. Moments become text. */
export const problemInJson = (value: unknown) =>
  typeof value === 'object' && value !== null && !(value instanceof Date)
    ? 'A file cannot stand here.'
    : problemOf(value)

const keyProblem = (key: string) => (key === '__proto__' ? 'A key may not be "__proto__".' : textProblem(key))

/** The first problem of a JSON value, looked for as `isDeeper` looks; `judge` tells what is wrong with one that holds no others. */
export function findProblem(
  root: unknown,
  maxDepth = MAX_JSON_DEPTH,
  judge: (value: unknown) => string | undefined = problemOf,
): JsonProblem | undefined {
  if (!isContainer(root)) {
    const message = judge(root)
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
        const message = judge(value)
        if (message) return { path: [...pathOf(place), key], message }
      }
    }
    level = next
  }
  return undefined
}

const MAX_SHOWN = 100

/** As people write it: `license.versions[2].name`. */
function shown(path: Path): string {
  let text = ''
  for (const key of path) text += typeof key === 'number' ? `[${key}]` : `${text && '.'}${key.toWellFormed()}`
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text
}

/** A problem's sentence, with its place below the field it is told of. */
export const tellProblem = ({ path, message }: JsonProblem) => (path.length ? `At ${shown(path)}: ${message}` : message)

/**
 * The variables of an operation, by whichever door: the fields of an input object, or arguments one by one.
 * Raises VALIDATION_FAILED for the first problem, by the field it is in.
 */
export function assertVariables(variables: object): void {
  // An input object may stand in another one, and what is counted are the levels of its fields.
  const problem = findProblem(variables, MAX_JSON_DEPTH + 3)
  if (!problem) return
  const [argument = '', name, ...rest] = problem.path
  const isField = typeof name === 'string' && isContainer((variables as Record<string, unknown>)[argument])
  const field = String(isField ? name : argument)
  const path = isField ? rest : problem.path.slice(1)
  throw validationFailed({ [field.toWellFormed().slice(0, MAX_SHOWN)]: [tellProblem({ ...problem, path })] })
}
