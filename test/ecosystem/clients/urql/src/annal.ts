import { Client, CombinedError, fetchExchange } from '@urql/core'
import { type Cache, cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import type { ErrorCode } from './gql/graphql.ts'

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

// #region cache
/** Has the lists of this name read anew, for something was added to them. */
function invalidateList(cache: Cache, name: string) {
  for (const { fieldName, fieldKey } of cache.inspectFields('Query'))
    if (fieldName === name) cache.invalidate('Query', fieldKey)
}

const embedded = () => null

const createCache = () =>
  cacheExchange({
    // What has no `id` is a part of what it was read with; a wallet is its owner's.
    keys: {
      AccountDeposit: embedded,
      AccountWithdrawal: embedded,
      AssetDiff: embedded,
      AssetVersion: embedded,
      Check: embedded,
      ContentCredentials: embedded,
      DayFigures: embedded,
      Figures: embedded,
      Finding: embedded,
      HeldCoins: embedded,
      MergedAssetTree: embedded,
      PaymentQuote: embedded,
      Pricing: embedded,
      QuoteProblem: embedded,
      RefundQuote: embedded,
      Sale: embedded,
      Verification: embedded,
      VerifiedCommit: embedded,
      Wallet: embedded,
      WalletBalance: embedded,
      WebhookAttempt: embedded,
      WithdrawalQuote: embedded,
    },
    // All pages that were read are one list.
    resolvers: {
      Query: { assets: relayPagination(), orders: relayPagination(), transfers: relayPagination() },
      Asset: { commits: relayPagination() },
      User: { assets: relayPagination() },
    },
    updates: {
      Mutation: {
        registerAsset: (_result, _args, cache) => invalidateList(cache, 'assets'),
        createOrder: (_result, _args, cache) => invalidateList(cache, 'orders'),
        confirmOrder: (_result, _args, cache) => invalidateList(cache, 'transfers'),
      },
    },
  })
// #endregion

// #region client
/** One for each person: what the cache holds is what they may see. */
export const createAnnal = (sender: Sender = {}) =>
  new Client({
    url: `${process.env.ANNAL_URL ?? 'http://localhost:4000'}/graphql`,
    exchanges: [createCache(), fetchExchange],
    preferGetMethod: false,
    // Subscriptions go over HTTP, too: server-sent events.
    fetchSubscriptions: true,
    ...sentBy(sender),
  })
// #endregion

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
