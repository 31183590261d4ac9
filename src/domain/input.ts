/** Pieces of input schemas, and the one way in which bad input is told. */
import { z } from 'zod'
import { type FieldErrors, validationFailed } from './errors.ts'

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

/** Raises VALIDATION_FAILED with every problem of every field. */
export function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  const fields: FieldErrors = {}
  for (const issue of result.error.issues) {
    const field = issue.path.length ? String(issue.path[0]) : 'nonFieldErrors'
    fields[field] = [...(fields[field] ?? []), issue.message]
  }
  throw validationFailed(fields)
}
