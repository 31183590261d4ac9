import { Client, CombinedError, fetchExchange } from '@urql/core'
import { type Cache, cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import type { ErrorCode } from './gql/graphql.ts'

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

// #region cache
/** Invalidates the lists of this name after an item was added. */
function invalidateList(cache: Cache, name: string) {
  for (const { fieldName, fieldKey } of cache.inspectFields('Query'))
    if (fieldName === name) cache.invalidate('Query', fieldKey)
}

const embedded = () => null

const createCache = () =>
  cacheExchange({
    // Types without `id` are embedded in their parent.
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
    // Merges the pages of a list.
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
/** Creates a client. Use one per user, because its cache contains what that user may see. */
export const createAnnal = (sender: Sender = {}) =>
  new Client({
    url: `${process.env.ANNAL_URL ?? 'http://localhost:4000'}/graphql`,
    exchanges: [createCache(), fetchExchange],
    preferGetMethod: false,
    // Subscriptions use server-sent events.
    fetchSubscriptions: true,
    ...sentBy(sender),
  })
// #endregion

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
