import type { z } from 'zod'
import { defineRoute, type RestRequest, type Route } from '../define-route.ts'
import type { QuoteInput } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import { presentQuote } from './present-quote.ts'
import { quoteRecord } from './quote.ts'

interface QuoteRoute
  extends Pick<
    Route,
    | 'path'
    | 'operationId'
    | 'summary'
    | 'description'
    | 'params'
    | 'headers'
    | 'errors'
    | 'action'
    | 'apiKey'
    | 'files'
    | 'admit'
  > {
  body: z.ZodObject
  /** The quoted request, as the query `quote` takes it. */
  inputOf: (request: RestRequest) => QuoteInput
}

const operation = graphql(/* GraphQL */ `
  query RestQuote($input: QuoteInput!) {
    quote(input: $input) {
      ...QuoteRecord
    }
  }
`)

/** Defines a route that answers the cost of a paid request and every reason for which it would be refused. */
export const quoteRoute = ({ inputOf, ...route }: QuoteRoute) =>
  defineRoute({
    method: 'POST',
    tag: 'Quotes',
    isQuote: true,
    ...route,
    operation,
    variables: (request) => ({ input: inputOf(request) }),
    answer: quoteRecord,
    present: ({ quote }, request) => presentQuote(quote, request),
  })
