import { validationFailed } from '../domain/errors.ts'
import type { Route } from './define-route.ts'
import { queryFlag } from './query-flag.ts'

/**
 * Whether a request asks for a dry run: `?dry_run=true`. What changes something and has none refuses to be tried, or it
 * would be carried out. Raises VALIDATION_FAILED.
 */
export function isDryRun(route: Pick<Route, 'method' | 'presentDryRun'>, query: URLSearchParams): boolean {
  if (!query.has('dry_run') || route.method === 'GET') return false
  const wanted = queryFlag(query, 'dry_run')
  if (wanted === undefined) throw validationFailed({ dry_run: ['Must be a valid boolean.'] })
  if (wanted && !route.presentDryRun) throw validationFailed({ dry_run: ['This request has no dry run.'] })
  return wanted
}
