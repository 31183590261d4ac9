import { DomainError } from '../shared/errors.ts'

/** Raises what was raised; problems of fields by the options that gave them. `options`: by their fields. */
export const nameOptions =
  (options: Readonly<Record<string, string>>) =>
  (error: unknown): never => {
    if (!(error instanceof DomainError) || typeof error.details !== 'object' || Array.isArray(error.details))
      throw error
    const details = Object.entries(error.details).map(([field, problems]) => [options[field] ?? field, problems])
    throw new DomainError(error.code, error.message, { details: Object.fromEntries(details) })
  }
