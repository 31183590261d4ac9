import { validationFailed } from '../domain/errors.ts'
import type { RestRequest } from './define-route.ts'

/** What a request may cost at most: in the body, or in the address beside `dry_run`. Raises VALIDATION_FAILED where the two differ. */
export function maxCostOf({ body, query }: Pick<RestRequest, 'body' | 'query'>): string | undefined {
  const inBody = body.amount('max_cost')
  const inQuery = query.get('max_cost') || undefined
  if (inBody !== undefined && inQuery !== undefined && inBody !== inQuery) {
    throw validationFailed({ max_cost: ['It is given twice, and differs.'] })
  }
  return inBody ?? inQuery
}
