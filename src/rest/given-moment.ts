/** Moments that callers give. */
import { validationFailed } from '../domain/errors.ts'
import { parseMoment } from '../domain/parse-moment.ts'
import type { RestRequest } from './define-route.ts'

/** A moment of the body; undefined when it is left out. Raises VALIDATION_FAILED. */
export function momentFrom({ body }: Pick<RestRequest, 'body'>, name: string): Date | undefined {
  const text = body.text(name)
  if (!text) return undefined
  const moment = parseMoment(text)
  if (!moment) throw validationFailed({ [name]: ['Expected a moment such as 2026-11-21T09:30:00Z.'] })
  return moment
}
