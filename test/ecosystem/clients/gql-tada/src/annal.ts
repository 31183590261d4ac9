import { Client, CombinedError, cacheExchange, fetchExchange } from '@urql/core'
import type { ErrorCode } from './graphql.ts'

/** What goes with a request beside its variables. */
export interface Sender {
  /** Of `signIn`. */
  token?: string
  /** Of a trusted service: it stays on your server, never in a page. */
  apiKey?: string
  /** Makes a retry harmless: the same key is carried out once. */
  idempotencyKey?: string
}

/** For a client, or as the context of a single operation. */
export const sentBy = ({ token, apiKey, idempotencyKey }: Sender) => ({
  fetchOptions: {
    headers: {
      // Without it the server takes no files.
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
    // Subscriptions go over HTTP, too: server-sent events.
    fetchSubscriptions: true,
    ...sentBy(sender),
  })

// #region refusal
/** Why the server refused; undefined when it is about something else, such as the network. */
export function codeOf(error: unknown): ErrorCode | undefined {
  if (!(error instanceof CombinedError)) return undefined
  return error.graphQLErrors[0]?.extensions.code as ErrorCode | undefined
}
// #endregion

/** The data of an answer. Throws CombinedError. */
export function dataOf<Data>({ data, error }: { data?: Data; error?: CombinedError }): Data {
  if (error) throw error
  return data!
}
