import { z } from 'zod'
import { statuses } from '../../http/error-status.ts'
import { defineRoute, type RestRequest, type Route } from '../../http/rest/define-route.ts'
import { amount, objectOf, same, sameFields } from '../../http/rest/fields.ts'
import type { QuoteInput, RestQuoteQuery } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import type { FieldErrors } from '../../shared/errors.ts'
import { snakeCase } from '../../shared/text.ts'

export const quoteFacts = {
  dry_run: z.literal(true).describe('Always true, because a quote writes and charges nothing.'),
  errors: z
    .array(
      z.object({
        type: z.string().describe('The `error.type` of the refusal.'),
        message: same('QuoteProblem.message', z.string()),
        field: z.string().nullable().describe('The field with the problem. Null if the problem concerns no field.'),
      }),
    )
    .describe('Every reason for which the real request would be refused now. Empty if it would succeed.'),
}

const records = {
  PaymentQuote: objectOf('Quote', 'The cost of a request, and every reason for which it would be refused.', {
    dry_run: quoteFacts.dry_run,
    ...sameFields('PaymentQuote', { price: amount, gas: amount }),
    total_cost: same('PaymentQuote.total', amount),
    balance: z
      .object({ num: same('PaymentQuote.num', amount), points: same('PaymentQuote.points', amount) })
      .describe('The balance of the wallet.'),
    ...sameFields('PaymentQuote', { available: amount, points_charged: amount, num_charged: amount, missing: amount }),
    errors: quoteFacts.errors,
  }),
  RefundQuote: objectOf('RefundQuote', 'The amount a refund would return, and every reason to refuse the refund.', {
    dry_run: quoteFacts.dry_run,
    ...sameFields('RefundQuote', { num: amount, points: amount, total: amount }),
    refundable: same('RefundQuote.available', amount),
    errors: quoteFacts.errors,
  }),
}

type Quote = RestQuoteQuery['quote']
type QuoteRecord = z.output<(typeof records)[keyof typeof records]>

/** Returns all problems of the quoted request. `unread`: problems of fields that could not be parsed. */
export const presentProblems = (problems: Quote['problems'], unread: FieldErrors = {}): QuoteRecord['errors'] => [
  ...Object.entries(unread).flatMap(([field, messages]) =>
    messages.map((message) => ({ type: statuses.VALIDATION_FAILED.type, message, field })),
  ),
  // The quote reports a field that could not be parsed as missing. That problem is dropped here.
  ...problems
    .map(({ code, message, field }) => ({ type: statuses[code].type, message, field: field && snakeCase(field) }))
    .filter(({ field }) => field === null || !Object.hasOwn(unread, field)),
]

function present(quote: Quote, { unread }: RestRequest): QuoteRecord {
  const common = { dry_run: true as const, errors: presentProblems(quote.problems, unread) }
  if (quote.__typename === 'RefundQuote')
    return { ...common, num: quote.num, points: quote.points, total: quote.total, refundable: quote.available }
  if (quote.__typename !== 'PaymentQuote') throw new Error(`Unexpected quote: ${quote.__typename}`)
  return {
    ...{ ...common, price: quote.price, gas: quote.gas, total_cost: quote.total },
    ...{ balance: { num: quote.num, points: quote.points }, available: quote.available },
    ...{ points_charged: quote.pointsCharged, num_charged: quote.numCharged, missing: quote.missing },
  }
}

const operation = graphql(/* GraphQL */ `
  query RestQuote($input: QuoteInput!) {
    quote(input: $input) {
      __typename total available
      problems { code message field }
      ... on PaymentQuote { price gas num points pointsCharged numCharged missing }
      ... on RefundQuote { num points }
    }
  }
`)

type CopiedFields = 'path' | 'operationId' | 'summary' | 'description' | 'params' | 'headers' | 'errors'
interface QuoteRoute extends Pick<Route, CopiedFields | 'action' | 'apiKey' | 'files' | 'admit'> {
  body: z.ZodObject
  type?: keyof typeof records
  /** Converts the request to the input of the GraphQL query `quote`. */
  inputOf: (request: RestRequest) => QuoteInput
}

/** Defines a route that returns the cost of a request and all errors that would prevent the request. */
export const quoteRoute = ({ inputOf, type = 'PaymentQuote', ...route }: QuoteRoute) =>
  defineRoute({
    method: 'POST',
    tag: 'Quotes',
    isQuote: true,
    ...route,
    operation,
    variables: (request) => ({ input: inputOf(request) }),
    answer: records[type] as z.ZodType<QuoteRecord>,
    present: ({ quote }, request) => present(quote, request),
  })
