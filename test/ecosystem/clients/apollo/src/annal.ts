import { ApolloClient, ApolloLink, CombinedGraphQLErrors, InMemoryCache, Observable } from '@apollo/client'
import { relayStylePagination } from '@apollo/client/utilities'
import UploadHttpLink from 'apollo-upload-client/UploadHttpLink.mjs'
import { OperationTypeNode, print } from 'graphql'
import { type ClientOptions, createClient } from 'graphql-sse'
import type { ErrorCode } from './gql/graphql.ts'

// #region sse
/** Sends subscriptions by server-sent events. */
class SseLink extends ApolloLink {
  constructor(options: ClientOptions) {
    const client = createClient(options)
    super(
      ({ query, variables, operationName }) =>
        new Observable((sink) =>
          client.subscribe<Record<string, unknown>>(
            { query: print(query), variables, operationName },
            {
              next: (answer) => sink.next(answer as ApolloLink.Result),
              error: (reason) => sink.error(reason),
              complete: () => sink.complete(),
            },
          ),
        ),
    )
  }
}
// #endregion

// #region cache
const createCache = () =>
  new InMemoryCache({
    typePolicies: {
      // Merges the pages of a list. Select `edges { node { … } }` and `pageInfo`.
      Query: {
        fields: {
          assets: relayStylePagination(['filter']),
          orders: relayStylePagination(['status']),
          transfers: relayStylePagination(),
        },
      },
      Asset: { fields: { commits: relayStylePagination() } },
      // A wallet has no `id`. It is embedded in its owner.
      User: { fields: { assets: relayStylePagination(), wallet: { merge: true } } },
    },
  })
// #endregion

// #region client
export interface Sender {
  /** Access token from `signIn`. */
  token?: string
  /** API key of a trusted service. Keep it on your server. */
  apiKey?: string
  /** Called when a subscription is connected or connected again. */
  onConnected?: () => void
}

/** Creates a client. Use one per user, because its cache contains what that user may see. */
export function createAnnal({ token, apiKey, onConnected }: Sender = {}) {
  const uri = `${process.env.ANNAL_URL ?? 'http://localhost:4000'}/graphql`
  const headers = {
    ...(token && { Authorization: `token ${token}` }),
    ...(apiKey && { 'x-api-key': apiKey }),
  }
  const link = ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new SseLink({ url: uri, headers, on: { connected: () => onConnected?.() } }),
    // The server requires the second header for uploads.
    new UploadHttpLink({ uri, headers: { ...headers, 'Apollo-Require-Preflight': 'true' } }),
  )
  return new ApolloClient({ link, cache: createCache() })
}
// #endregion

// #region refusal
interface Extensions extends Record<string, unknown> {
  code: ErrorCode
}

/** Returns the code and the other extensions of an error, or undefined for other errors, such as a network failure. */
export const errorOf = (error: unknown): Extensions | undefined =>
  CombinedGraphQLErrors.is(error) ? (error.errors[0]?.extensions as unknown as Extensions) : undefined
// #endregion
