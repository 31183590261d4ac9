import { authExchange } from '@urql/exchange-auth'
import { retryExchange } from '@urql/exchange-retry'
import { createClient, fetchExchange, type Operation } from 'urql'
import { createCache } from './cache.ts'
import { codeOf, isPassing } from './errors.ts'
import { isSafeToRepeat } from './once.ts'
import { endSession } from './session.ts'

/** Any page can have a browser send a form, but not this header: uploads are refused without it. */
const PREFLIGHT = { 'GraphQL-Require-Preflight': 'true' }

/** Asks again what may be asked twice: queries, and mutations that carry an idempotency key. */
const retry = retryExchange({
  maxNumberAttempts: 4,
  retryIf: (error, operation) => isPassing(error) && (operation.kind === 'query' || isSafeToRepeat(operation)),
})

const auth = (token: string | null) =>
  authExchange(async ({ appendHeaders }) => ({
    addAuthToOperation: (operation: Operation) =>
      appendHeaders(operation, { ...PREFLIGHT, ...(token !== null && { Authorization: `token ${token}` }) }),
    didAuthError: (error) => codeOf(error) === 'AUTHENTICATION_FAILED',
    // There is nothing to refresh: the session was ended elsewhere, or is too old.
    refreshAuth: async () => endSession(),
  }))

/** A client for one session, or for nobody. */
export const createAnnalClient = (token: string | null) =>
  createClient({
    url: '/graphql',
    // Names, texts and identifiers do not belong into addresses, which logs keep.
    preferGetMethod: false,
    // Subscriptions are server-sent events, which fetch reads.
    fetchSubscriptions: true,
    exchanges: [createCache(), retry, auth(token), fetchExchange],
  })
