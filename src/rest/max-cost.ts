import { validationFailed } from '../domain/errors.ts'
import { AMOUNT, toUnits } from '../domain/money.ts'
import type { RestRequest } from './define-route.ts'

/** Whether two texts are one amount, however each is written; what is none is told by who reads it. */
const isSameAmount = (one: string, other: string) =>
  one === other || ([one, other].every((each) => AMOUNT.test(each)) && toUnits(one) === toUnits(other))

/**
 * Returns the maximum cost that a caller accepts, from the body or the query. Raises VALIDATION_FAILED if the two differ; a quote
 * reports that instead.
 */
export function maxCostOf({ body, query, unread }: RestRequest): string | undefined {
  const inBody = body.amount('max_cost')
  const inQuery = query.get('max_cost') ?? undefined
  if (inBody === undefined || inQuery === undefined || isSameAmount(inBody, inQuery)) return inBody ?? inQuery
  const details = { max_cost: ['It is given twice, and differs.'] }
  if (!unread) throw validationFailed(details)
  Object.assign(unread, details)
  return undefined
}
