import { isUnavailable } from './errors.ts'

/** What an operator reads: the outermost sentence, and what was behind an outage. */
export const explainError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return isUnavailable(error) && error.cause instanceof Error
    ? `${error.message} (${error.cause.message})`
    : error.message
}
