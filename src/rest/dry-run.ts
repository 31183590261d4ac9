import { validationFailed } from '../domain/errors.ts'
import type { Route } from './define-route.ts'

const words: Record<string, boolean> = { true: true, '1': true, false: false, '0': false }

/**
 * Whether a request asks for a dry run: `?dry_run=true`. What changes something and has none refuses to be tried, or it
 * would be carried out. Raises VALIDATION_FAILED.
 */
export function isDryRun(route: Pick<Route, 'method' | 'presentDryRun'>, query: URLSearchParams): boolean {
  const word = query.get('dry_run')
  if (word === null || route.method === 'GET') return false
  const wanted = words[word.toLowerCase()]
  if (wanted === undefined) throw validationFailed({ dry_run: ['Must be a valid boolean.'] })
  if (wanted && !route.presentDryRun) throw validationFailed({ dry_run: ['This request has no dry run.'] })
  return wanted
}
