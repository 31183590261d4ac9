/** Pieces of input schemas, and the one way in which bad input is told. */
import { z } from 'zod'
import { type DomainError, type FieldErrors, validationFailed } from './errors.ts'

/** People count characters, not bytes or UTF-16 units. */
export const length = (text: string) => [...text].length

/** Text that PostgreSQL and a person can hold: no NUL, at most `max` characters. */
export const text = (max: number) =>
  z
    .string({ error: 'Expected text.' })
    .refine((value) => !value.includes('\0'), 'Null characters are not allowed.')
    .refine((value) => length(value) <= max, `Ensure this field has no more than ${max} characters.`)

/** JSON text kept as it was sent. */
export const jsonText = (max: number) =>
  text(max).refine((value) => {
    try {
      JSON.parse(value)
      return true
    } catch {
      return false
    }
  }, 'Value must be valid JSON.')

function fieldErrors({ issues }: z.ZodError): FieldErrors {
  const fields: FieldErrors = {}
  for (const issue of issues) {
    const field = issue.path.length ? String(issue.path[0]) : 'nonFieldErrors'
    fields[field] = [...(fields[field] ?? []), issue.message]
  }
  return fields
}

/** Raises VALIDATION_FAILED with every problem of every field. */
export function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw validationFailed(fieldErrors(result.error))
}

/** For a dry run: the fields that are good, and what `parse` would raise for the others. */
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
