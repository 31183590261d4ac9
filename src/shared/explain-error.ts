import { isFull, isUnavailable } from './errors.ts'

/** What an operator reads: the outermost sentence, and what was behind an outage. What callers are told of a full disk speaks of their request. */
export const explainError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const message = isFull(error) ? 'There is no room in the file store.' : error.message
  return (isFull(error) || isUnavailable(error)) && error.cause instanceof Error
    ? `${message} (${error.cause.message})`
    : message
}
