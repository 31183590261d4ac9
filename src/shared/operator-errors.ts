/** Errors that operators read, on the command line and in the log. */
import { getSystemErrorMap } from 'node:util'
import { isFull, isUnavailable } from './errors.ts'

/** A problem that an operator can fix. */
export class FixableError extends Error {
  /** The problem and its location, in one sentence. */
  readonly finding: string
  /** The action for the operator, in one sentence. */
  readonly fix: string

  constructor(finding: string, fix: string, options?: ErrorOptions) {
    super(`${finding} ${fix}`, options)
    this.finding = finding
    this.fix = fix
  }
}

/** The configuration has problems. The message lists all of them. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration has problems:\n  ${problems.join('\n  ')}`)
    this.problems = problems
  }
}

/** Returns the code that Node or PostgreSQL gave an error, if any. */
export const errorCode = (error: unknown) => (error as NodeJS.ErrnoException | undefined)?.code

/** Returns undefined for the error of a missing file. Rethrows any other error. */
export const ifMissing = (error: unknown) => {
  if (errorCode(error) === 'ENOENT') return undefined
  throw error
}

/** Returns the operating system's description of an error, such as `permission denied (EACCES)`. It contains no path or address. */
export function systemReason(error: unknown): string {
  const { errno, code, message } = error as NodeJS.ErrnoException
  const words = getSystemErrorMap().get(errno ?? 0)?.[1]
  return words === undefined ? message || String(code) : `${words} (${code})`
}

/** Returns an error's message for an operator, with the cause of an outage. */
export const explainError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const message = isFull(error) ? 'The file store is full.' : error.message
  return (isFull(error) || isUnavailable(error)) && error.cause instanceof Error
    ? `${message} (${error.cause.message})`
    : message
}
