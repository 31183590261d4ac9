/** Reads parameters of the query. */
import { type FieldErrors, validationFailed } from '../../shared/errors.ts'
import type { Route } from './define-route.ts'

const words = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** Reads a boolean parameter, in any case (Python writes `True`). Undefined when it is missing or empty. Raises VALIDATION_FAILED. */
export function queryFlag(query: URLSearchParams, name: string): boolean | undefined {
  const word = query.get(name)
  if (!word) return undefined
  const flag = words.get(word.toLowerCase())
  if (flag === undefined) throw validationFailed({ [name]: ['Must be a valid boolean.'] })
  return flag
}

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

/**
 * Returns the route that answers a request: with `?dry_run=true`, the quote of the addressed route. Rejects `dry_run` on a change
 * without a quote, so that nobody makes the change by mistake. Raises VALIDATION_FAILED.
 */
export function routeFor<Each extends Pick<Route, 'method' | 'isQuote'> & { quote?: Each }>(
  route: Each,
  query: URLSearchParams,
): Each {
  if (!query.has('dry_run') || route.method === 'GET') return route
  const isDryRun = queryFlag(query, 'dry_run')
  if (isDryRun === undefined) throw validationFailed({ dry_run: ['Must be a valid boolean.'] })
  if (!isDryRun || route.isQuote) return route
  if (!route.quote) throw validationFailed({ dry_run: ['This request has no dry run.'] })
  return route.quote
}
