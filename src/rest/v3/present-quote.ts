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

/** The answer to a dry run. Its errors are all that the real call would be refused for. */
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

/** All that the real call would be refused for; `unread`: what could not be read of the body. */
export const presentProblems = (problems: QuoteRecordFragment['problems'], unread: RestRequest['unread']) => [
  ...Object.entries(unread).flatMap(([field, messages]) =>
    messages.map((message) => ({ type: statuses.VALIDATION_FAILED.type, message, field })),
  ),
  // What could not be read counts as left out: what is said about that is of no use.
  ...problems.map(presentProblem).filter(({ field }) => field === null || !Object.hasOwn(unread, field)),
]
