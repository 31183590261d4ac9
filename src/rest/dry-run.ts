import { validationFailed } from '../domain/errors.ts'
import type { Route } from './define-route.ts'
import { queryFlag } from './query-flag.ts'

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
