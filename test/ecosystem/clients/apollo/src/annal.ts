import { ApolloClient, ApolloLink, CombinedGraphQLErrors, InMemoryCache, Observable } from '@apollo/client'
import { relayStylePagination } from '@apollo/client/utilities'
import UploadHttpLink from 'apollo-upload-client/UploadHttpLink.mjs'
import { OperationTypeNode, print } from 'graphql'
import { type ClientOptions, createClient } from 'graphql-sse'
import type { ErrorCode } from './gql/graphql.ts'

// #region sse
/** Subscriptions by server-sent events. */
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
      // All pages that were read are one list: select `edges { node { … } }` and `pageInfo`.
      Query: {
        fields: {
          assets: relayStylePagination(['filter']),
          orders: relayStylePagination(['status']),
          transfers: relayStylePagination(),
        },
      },
      Asset: { fields: { commits: relayStylePagination() } },
      // A wallet has no `id`: it is its owner's.
      User: { fields: { assets: relayStylePagination(), wallet: { merge: true } } },
    },
  })
// #endregion

// #region client
export interface Sender {
  /** Of `signIn`. */
  token?: string
  /** Of a trusted service: it stays on your server, never in a page. */
  apiKey?: string
  /** Called when a subscription is connected, and again when it is after a break. */
  onConnected?: () => void
}

/** One for each person: what the cache holds is what they may see. */
export function createAnnal({ token, apiKey, onConnected }: Sender = {}) {
  const uri = `${process.env.ANNAL_URL ?? 'http://localhost:4000'}/graphql`
  const headers = {
    ...(token && { Authorization: `token ${token}` }),
    ...(apiKey && { 'x-api-key': apiKey }),
  }
  const link = ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new SseLink({ url: uri, headers, on: { connected: () => onConnected?.() } }),
    // Without the second header the server takes no files.
    new UploadHttpLink({ uri, headers: { ...headers, 'Apollo-Require-Preflight': 'true' } }),
  )
  return new ApolloClient({ link, cache: createCache() })
}
// #endregion

// #region refusal
interface Extensions extends Record<string, unknown> {
  code: ErrorCode
}

/** Why the server refused, and what else it says; undefined when it is about something else, such as the network. */
export const refusalOf = (error: unknown): Extensions | undefined =>
  CombinedGraphQLErrors.is(error) ? (error.errors[0]?.extensions as unknown as Extensions) : undefined
// #endregion
