import { type FieldErrors, validationFailed } from '../domain/errors.ts'
import type { Route } from './define-route.ts'

const CONTRADICTION = 'Give this parameter once. Its values contradict each other.'

/** Rejects a parameter with different values. Parameters that the route does not read are ignored. Raises VALIDATION_FAILED. */
export function assertSingleValues(
  { method, query: described }: Pick<Route, 'method' | 'query'>,
  query: URLSearchParams,
) {
  const read = [...Object.keys(described?.shape ?? {}), ...(method === 'GET' ? [] : ['dry_run', 'max_cost'])]
  const problems: FieldErrors = {}
  for (const name of read) if (new Set(query.getAll(name)).size > 1) problems[name] = [CONTRADICTION]
  if (Object.keys(problems).length > 0) throw validationFailed(problems)
}
