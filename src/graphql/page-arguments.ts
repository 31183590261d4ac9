/** By what a page may be asked for. Looked at before anything is carried out, so that a bad page costs nothing. */
import { DomainError } from '../domain/errors.ts'
import type { PageSize } from './sizes.ts'

/** As they came, of whatever type. */
export interface PageArguments {
  first?: unknown
  last?: unknown
  limit?: unknown
  offset?: unknown
}

const refuse = (field: string, problem: string) =>
  new DomainError('VALIDATION_FAILED', `${field}: ${problem}`, { details: { [field]: [problem] } })

/** What is of another type is left to GraphQL's own check. Raises VALIDATION_FAILED. */
export function assertPage(given: PageArguments, { maxSize }: PageSize): void {
  for (const name of ['first', 'last', 'limit', 'offset'] as const) {
    const size = given[name]
    if (typeof size !== 'number') continue
    if (size < 0) throw refuse(name, 'Ensure this value is 0 or more.')
    if (name !== 'offset' && size > maxSize) {
      throw refuse(name, `Ensure this value is ${maxSize} or less: that is the most that one page holds.`)
    }
  }
  if (given.first != null && given.last != null) throw refuse('last', 'Cannot be given together with "first".')
}
