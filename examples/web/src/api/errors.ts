/** What went wrong, in words for the person in front of the screen. */
import type { CombinedError } from 'urql'
import type { ErrorCode } from '../gql/graphql.ts'

/** What an error carries besides its code: see `ErrorCode` in the schema. Amounts are decimal strings. */
interface Extensions {
  code?: ErrorCode
  details?: unknown
  required?: string
  available?: string
  missing?: string
  retryAfter?: number
}

type Words = string | ((extensions: Extensions) => string)

const APP_IS_OLD = 'This page and the server do not understand each other. Reload the page and try again.'
const SIGN_IN_AGAIN = 'You are not signed in any more. Sign in again.'

const shortOfFunds: Words = ({ required, available, missing }) =>
  `Your wallet cannot pay for this: it needs ${required} and holds ${available}, so ${missing} is missing.`
const later = ({ retryAfter }: Extensions) => (retryAfter ? `in ${retryAfter} seconds` : 'in a moment')

/** Of every code: the compiler tells when the schema has a new one. */
const words: Record<ErrorCode, Words> = {
  ASSET_COMMIT_INSUFFICIENT_FUND: shortOfFunds,
  ASSET_WRITE_PERMISSION_DENIED: 'This asset belongs to somebody else, so you cannot change it.',
  AUTHENTICATION_FAILED: SIGN_IN_AGAIN,
  CONFLICT: 'Somebody else was faster: this has changed since you opened it.',
  DUPLICATE_ASSET: 'This file is registered already.',
  DUPLICATE_EMAIL: 'There is an account with this e-mail address already. Sign in instead?',
  DUPLICATE_USERNAME: 'Somebody else has this username. Choose another one.',
  EMAIL_NOT_VERIFIED: 'We sent you a mail. Open the link in it, then sign in.',
  HEADERS_TOO_LARGE: APP_IS_OLD,
  IDEMPOTENCY_KEY_IN_USE: 'Your first click is still being dealt with. Wait a moment.',
  IDEMPOTENCY_KEY_REUSED: APP_IS_OLD,
  INCORRECT_LOGIN_CREDENTIALS: 'The e-mail address or the password is wrong.',
  INSUFFICIENT_FUND: shortOfFunds,
  INSUFFICIENT_STORAGE: 'The server has no room for this file at the moment. You were not charged.',
  INTERNAL: 'Something went wrong at the server. Try again; if it stays like this, tell the operator.',
  INVALID_NETWORK_APP_NAME: 'This action is not sold any more.',
  INVALID_TOKEN: 'This link does not work any more. Ask for a new one.',
  METHOD_NOT_ALLOWED: APP_IS_OLD,
  NOT_ACCEPTABLE: APP_IS_OLD,
  NOT_AUTHENTICATED: SIGN_IN_AGAIN,
  NOT_FOUND: 'There is nothing here, or nothing that you may see.',
  ORDER_EXPIRED: 'The time to pay for this order is over. You were not charged; order again.',
  PARSE_ERROR: APP_IS_OLD,
  PAYLOAD_TOO_LARGE: 'This file is too large.',
  PERMISSION_DENIED: 'The operation is restricted to administrators.',
  PERSISTED_QUERY_ID_REQUIRED: APP_IS_OLD,
  PERSISTED_QUERY_NOT_FOUND: APP_IS_OLD,
  PERSISTED_QUERY_NOT_IN_LIST: APP_IS_OLD,
  PRICE_EXCEEDS_MAX_COST: 'The price has changed since you saw it. You were not charged; look at the new one.',
  REQUEST_TIMEOUT: 'This took too long to arrive. Try again.',
  THROTTLED: (extensions) => `That was a little too much at once. Try again ${later(extensions)}.`,
  TOO_MANY_OPEN_ORDERS: 'Too many orders of yours wait to be paid. Pay or cancel one of them.',
  UNABLE_TO_CANCEL_ORDER: 'This order can no longer be cancelled.',
  UNABLE_TO_CONFIRM_ORDER: 'This order can no longer be paid.',
  UNABLE_TO_CANCEL_WITHDRAWAL: 'This withdrawal is signed for and cannot be cancelled.',
  UNABLE_TO_REFUND_ORDER: 'This order cannot be given back.',
  WITHDRAWALS_PAUSED: (extensions) =>
    `After a change of password or address nothing is withdrawn for a while. Try again ${later(extensions)}.`,
  UNAVAILABLE: (extensions) => `A part of the service is down. Try again ${later(extensions)}.`,
  UNSUPPORTED_MEDIA_TYPE: APP_IS_OLD,
  UNTRUSTED_CLIENT: 'Nothing can be ordered from this site: its server has no valid API key.',
  VALIDATION_FAILED: 'Something is not as it has to be. Look at the fields that are marked.',
}

const extensionsOf = (error: CombinedError): Extensions => error.graphQLErrors[0]?.extensions ?? {}

/** The code to branch on. Undefined when no answer came. */
export const codeOf = (error: CombinedError): ErrorCode | undefined => extensionsOf(error).code

/** Whether the same thing may succeed a moment later. */
export function isPassing(error: CombinedError): boolean {
  if (error.networkError) return error.networkError.name !== 'AbortError'
  const code = codeOf(error)
  return code === 'UNAVAILABLE' || code === 'IDEMPOTENCY_KEY_IN_USE'
}

/** Words for a code, also when it stands in a quote. A code that is newer than this page keeps the server's sentence. */
export function wordsFor(code: ErrorCode | undefined, fallback: string, extensions: Extensions = {}): string {
  const found = code && words[code]
  if (!found) return fallback
  return typeof found === 'string' ? found : found(extensions)
}

/** One sentence about an error. */
export function sentenceOf(error: CombinedError): string {
  if (error.networkError?.name === 'AbortError') return 'You stopped the upload.'
  if (error.networkError) return 'No answer came from the server. Try again: what you pay for is charged once at most.'
  const extensions = extensionsOf(error)
  return wordsFor(extensions.code, error.graphQLErrors[0]?.message ?? error.message, extensions)
}

/** What is wrong with which field, of VALIDATION_FAILED. */
export function fieldErrorsOf(error: CombinedError | undefined): Record<string, string> {
  const { code, details } = error ? extensionsOf(error) : {}
  if (code !== 'VALIDATION_FAILED' || typeof details !== 'object' || details === null) return {}
  return Object.fromEntries(Object.entries(details).map(([field, messages]) => [field, [messages].flat().join(' ')]))
}

/** Of DUPLICATE_ASSET: the asset that the file is already. */
export function duplicateOf(error: CombinedError): string | undefined {
  const { code, details } = extensionsOf(error)
  return code === 'DUPLICATE_ASSET' ? (details as { id: string }[])[0]?.id : undefined
}
