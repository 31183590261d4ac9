import { Client, CombinedError, cacheExchange, fetchExchange } from '@urql/core'
import type { ErrorCode } from './graphql.ts'

/** Credentials and options of a request. */
export interface Sender {
  /** Access token from `signIn`. */
  token?: string
  /** API key of a trusted service. Keep it on your server. */
  apiKey?: string
  /** Requests with the same key are executed once. */
  idempotencyKey?: string
}

/** Returns options of a client, or the context of one operation. */
export const sentBy = ({ token, apiKey, idempotencyKey }: Sender) => ({
  fetchOptions: {
    headers: {
      // The server requires this header for uploads.
      'GraphQL-Require-Preflight': 'true',
      ...(token && { Authorization: `token ${token}` }),
      ...(apiKey && { 'x-api-key': apiKey }),
      ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
    },
  },
})

export const createAnnal = (sender: Sender = {}) =>
  new Client({
    url: `${process.env.ANNAL_URL ?? 'http://localhost:4000'}/graphql`,
    exchanges: [cacheExchange, fetchExchange],
    preferGetMethod: false,
    // Subscriptions use server-sent events.
    fetchSubscriptions: true,
    ...sentBy(sender),
  })

// #region refusal
/** Returns the error code, or undefined for other errors, such as a network failure. */
export function codeOf(error: unknown): ErrorCode | undefined {
  if (!(error instanceof CombinedError)) return undefined
  return error.graphQLErrors[0]?.extensions.code as ErrorCode | undefined
}
// #endregion

/** Returns the data of a result. Throws CombinedError. */
export function dataOf<Data>({ data, error }: { data?: Data; error?: CombinedError }): Data {
  if (error) throw error
  return data!
}
