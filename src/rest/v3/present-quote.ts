import type { FieldErrors } from '../../domain/errors.ts'
import type { RestRequest } from '../define-route.ts'
import type { QuoteRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import { snakeCase, statuses } from '../status.ts'
import type { Quote } from './quote.ts'

/** What is read of a quote. */
export const QuoteRecord = graphql(/* GraphQL */ `
  fragment QuoteRecord on Quote {
    price
    gas
    total
    num
    points
    available
    pointsCharged
    numCharged
    missing
    problems {
      code
      message
      field
    }
  }
`)

const presentProblem = ({ code, message, field }: QuoteRecordFragment['problems'][number]) => ({
  type: statuses[code].type,
  message,
  field: field && snakeCase(field),
})

/** Presents a quote. Its errors are all reasons for which the real call would be refused. */
export const presentQuote = (quote: QuoteRecordFragment, { unread }: RestRequest): Quote => ({
  dry_run: true,
  price: quote.price,
  gas: quote.gas,
  total_cost: quote.total,
  balance: { num: quote.num, points: quote.points },
  available: quote.available,
  points_charged: quote.pointsCharged,
  num_charged: quote.numCharged,
  missing: quote.missing,
  errors: presentProblems(quote.problems, unread),
})

/** Lists all reasons for which the real call would be refused. `unread`: the problems of fields that could not be read. */
export const presentProblems = (problems: QuoteRecordFragment['problems'], unread: FieldErrors = {}) => [
  ...Object.entries(unread).flatMap(([field, messages]) =>
    messages.map((message) => ({ type: statuses.VALIDATION_FAILED.type, message, field })),
  ),
  // The service reports an unreadable field as missing.
  ...problems.map(presentProblem).filter(({ field }) => field === null || !Object.hasOwn(unread, field)),
]
