/** Schemas of input fields, and the validation of input. */
import { z } from 'zod'
import { type DomainError, type FieldErrors, validationFailed } from './errors.ts'
import { canonicalNid, fromId, type IdPrefix } from './ids.ts'
import {
  describeProblem,
  findProblem,
  isDeeper,
  isJsonObject,
  MAX_JSON_DEPTH,
  NOT_AN_OBJECT,
  NOT_JSON,
  problemInJson,
  textProblem,
  tooDeep,
} from './json-input.ts'
import { nameProblem, stripInvisible, trimName } from './text.ts'

/** Returns the number of characters, not of UTF-16 units. */
export const length = (text: string) => [...text].length

/** A schema with a rule that returns the problem of a value. */
export const checked = <Output, Input>(
  schema: z.ZodType<Output, Input>,
  problemOf: (value: Output) => string | undefined,
) =>
  schema.superRefine((value, context) => {
    const message = problemOf(value)
    if (message !== undefined) context.addIssue({ code: 'custom', message, continue: false })
  })

/** Unicode text without null characters, at most `max` characters. */
export const text = (max: number) =>
  checked(
    z.string({ error: 'Expected text.' }),
    (value) =>
      textProblem(value) ?? (length(value) > max ? `Ensure this field has no more than ${max} characters.` : undefined),
  )

/** Trimmed text of at most `max` characters. */
export const trimmedText = (max: number) =>
  z
    .string({ error: 'Expected text.' })
    .transform((value) => value.trim())
    .pipe(text(max))

const isGiven = (value: string) => value.length > 0
const BLANK = 'This field may not be blank.'

/** Trimmed text of 1 to `max` characters. */
export const requiredText = (max: number) => trimmedText(max).refine(isGiven, BLANK)

/** Text of 1 to `max` characters, not trimmed. */
export const nonBlankText = (max: number) => text(max).refine(isGiven, BLANK)

/** A public ID with this prefix. */
export const idInput = (prefix: IdPrefix) =>
  z.string().refine((id) => fromId(id, prefix), `Expected an identifier as in ${prefix}_01h2x….`)

/** The CID of an asset, a tree or a block, in any encoding. The value is the canonical CID. */
export const cidInput = (message: string) =>
  z.string({ error: 'Expected text.' }).transform((given, context) => {
    const cid = canonicalNid(given)
    if (cid === undefined) context.addIssue({ code: 'custom', message, input: given })
    return cid ?? z.NEVER
  })

/** A private label of at most `max` characters. Invisible characters are removed. */
export const label = (max: number) => text(max).transform(stripInvisible)

/** A trimmed name of at most `max` characters that other users see. Rejects names with invisible characters. */
export const displayName = (max: number) =>
  checked(z.string({ error: 'Expected text.' }).transform(trimName).pipe(text(max)), nameProblem)

/** A trimmed name of 1 to `max` characters that other users see. */
export const requiredDisplayName = (max: number) => displayName(max).refine(isGiven, BLANK)

const jsonProblem = (value: unknown) => {
  const problem = findProblem(value, MAX_JSON_DEPTH, problemInJson)
  return problem && describeProblem(problem)
}

/** A JSON object whose values can be stored without a change. */
export const jsonObject = checked(z.custom<Record<string, unknown>>(isJsonObject, NOT_AN_OBJECT), jsonProblem)

/** JSON text of at most `bytes` bytes. It is stored as it was sent, so its strings and numbers are not validated. */
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
  for (const issue of issues) {
    const field = issue.path.length ? String(issue.path[0]) : 'nonFieldErrors'
    fields[field] = [...(fields[field] ?? []), issue.message]
  }
  return fields
}

/** Validates input by a schema. Throws VALIDATION_FAILED with all problems of all fields. */
export function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw validationFailed(fieldErrors(result.error))
}

/** Validates input for a quote. Returns the valid fields, and the error of the others. */
export function inspect<Schema extends z.ZodObject>(
  schema: Schema,
  input: object,
): { data: Partial<z.output<Schema>>; refusals: DomainError[] } {
  const result = schema.safeParse(input)
  if (result.success) return { data: result.data, refusals: [] }
  const fields = fieldErrors(result.error)
  const good = Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(fields, name)))
  return { data: schema.partial().parse(good) as Partial<z.output<Schema>>, refusals: [validationFailed(fields)] }
}

/** A positive amount that the ledger can store, as a decimal string. */
export const positiveAmount = z
  .string({ error: 'Expected an amount such as 0.5.' })
  .regex(/^\d{1,12}(\.\d{1,18})?$/, 'Expected an amount such as 0.5, with at most 12 digits before the point.')
  .refine((value) => /[1-9]/.test(value), 'Ensure this value is greater than 0.')

const timestamp = z.iso.datetime({ offset: true })

/** Parses an ISO 8601 time with its offset from UTC: `2026-11-21T09:30:00Z`. Returns undefined for anything else, such as 30 February. */
export function parseTimestamp(text: string): Date | undefined {
  const { success, data } = timestamp.safeParse(text)
  return success ? new Date(data) : undefined
}
