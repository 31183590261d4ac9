import { getSystemErrorMap } from 'node:util'
import { isFull, isUnavailable } from './errors.ts'

/** A problem that an operator can fix. `finding` and `fix` are one sentence each. */
export class FixableError extends Error {
  readonly finding: string
  readonly fix: string

  constructor(finding: string, fix: string, options?: ErrorOptions) {
    super(`${finding} ${fix}`, options)
    this.finding = finding
    this.fix = fix
  }
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration has problems:\n  ${problems.join('\n  ')}`)
    this.problems = problems
  }
}

export const errorCode = (error: unknown) => (error as NodeJS.ErrnoException | undefined)?.code

/** Returns undefined for a missing file. Rethrows any other error. */
export const ifMissing = (error: unknown) => {
  if (errorCode(error) === 'ENOENT') return undefined
  throw error
}

/** Returns a description without path and address, such as `permission denied (EACCES)`. */
export function systemReason(error: unknown): string {
  const { errno, code, message } = error as NodeJS.ErrnoException
  const words = getSystemErrorMap().get(errno ?? 0)?.[1]
  return words === undefined ? message || String(code) : `${words} (${code})`
}

export const explainError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const message = isFull(error) ? 'The file store is full.' : error.message
  return (isFull(error) || isUnavailable(error)) && error.cause instanceof Error
    ? `${message} (${error.cause.message})`
    : message
}
