import type { Log } from './log.ts'

/** Error codes with their documentation. `http/error-status.ts` maps each code to REST. */
export const errorMeanings = {
  ASSET_COMMIT_INSUFFICIENT_FUND:
    'The wallet balance is too low for the commit. See `extensions.required`, `available` and `missing` for the amounts.',
  ASSET_WRITE_PERMISSION_DENIED: 'Only the owner can change this asset.',
  AUTHENTICATION_FAILED: 'The credentials are invalid, expired or revoked.',
  CONFLICT: 'The resource was changed by another request, or has changed since you read it.',
  DUPLICATE_ASSET: 'The file is already registered. `extensions.details` identifies the asset.',
  DUPLICATE_EMAIL: 'Another account uses the e-mail address.',
  DUPLICATE_USERNAME: 'Another account uses the username.',
  EMAIL_NOT_VERIFIED: 'Verify the e-mail address of the account before you sign in.',
  HEADERS_TOO_LARGE: 'The headers of the request are too large.',
  IDEMPOTENCY_KEY_IN_USE:
    'The first request with this idempotency key is still running. Retry after `extensions.retryAfter` seconds.',
  IDEMPOTENCY_KEY_REUSED:
    'This idempotency key was already used for a different request, or its stored response is no longer valid. Use a new key.',
  INCORRECT_LOGIN_CREDENTIALS: 'No account has this e-mail address and password.',
  INSUFFICIENT_FUND:
    'The wallet balance is too low for the order. See `extensions.required`, `available` and `missing` for the amounts.',
  INSUFFICIENT_STORAGE: 'The storage is full, so the file was not stored. Nothing was charged.',
  INTERNAL: 'A bug in the service. The log contains the error with the request ID of the response.',
  INVALID_NETWORK_APP_NAME: 'No network app has this name or ID.',
  INVALID_TOKEN: 'The mailed link is invalid, expired or already used.',
  METHOD_NOT_ALLOWED: 'The path does not support the HTTP method.',
  NOT_ACCEPTABLE: 'The response has no format that the request accepts.',
  NOT_AUTHENTICATED: 'Sign in to send this request.',
  NOT_FOUND: 'The resource does not exist, or you do not have access to it.',
  ORDER_EXPIRED: 'The order was not confirmed in time.',
  PARSE_ERROR: 'The JSON, form or GraphQL document of the request is malformed.',
  PAYLOAD_TOO_LARGE: 'The request is larger than the limit.',
  PERMISSION_DENIED: 'The operation is restricted to administrators.',
  PERSISTED_QUERY_ID_REQUIRED:
    'This service executes only stored GraphQL documents. Send the ID of a stored document instead of a text.',
  PERSISTED_QUERY_NOT_FOUND: 'No GraphQL document with this ID is stored. Send the ID together with the document.',
  PERSISTED_QUERY_NOT_IN_LIST:
    'This service executes only GraphQL documents from the list of its operator. This document is not in the list.',
  PRICE_EXCEEDS_MAX_COST: 'The price is higher than the maximum cost of the request.',
  REQUEST_TIMEOUT: 'The request took too long to arrive.',
  THROTTLED: 'Too many requests. Retry after `extensions.retryAfter` seconds.',
  TOO_MANY_OPEN_ORDERS:
    'The account has too many unconfirmed orders. The next of these orders expires after `extensions.retryAfter` seconds.',
  UNABLE_TO_CANCEL_ORDER: 'The status of the order does not allow cancelling it.',
  UNABLE_TO_CANCEL_WITHDRAWAL: 'The withdrawal is already signed or completed.',
  UNABLE_TO_CONFIRM_ORDER: 'The status of the order does not allow confirming it.',
  UNABLE_TO_REFUND_ORDER:
    'Nothing of the order can be refunded: the order is not paid, is already refunded completely, or the account of the buyer was deleted.',
  UNAVAILABLE: 'A part of the service is unavailable. Retry after `extensions.retryAfter` seconds.',
  UNSUPPORTED_MEDIA_TYPE: 'The path does not support the media type of the body.',
  UNTRUSTED_CLIENT: 'The API key is missing, unknown or revoked.',
  VALIDATION_FAILED: 'The input is invalid. `extensions.details` lists the problems by field.',
  WITHDRAWALS_PAUSED:
    'The password or e-mail address was changed recently. Withdrawals are possible after `extensions.retryAfter` seconds.',
} as const

export type ErrorCode = keyof typeof errorMeanings
export const errorCodes = Object.keys(errorMeanings) as ErrorCode[]

/** Problems by field. */
export type FieldErrors = Record<string, string[]>

interface ErrorExtras {
  details?: string | unknown[] | FieldErrors
  /** Decimal strings in currency units. */
  shortfall?: Record<'required' | 'available' | 'missing', string>
  retryAfter?: number
  cause?: unknown
}

/** An expected error. Callers see its message. Any other error is shown as INTERNAL. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly details: ErrorExtras['details']
  readonly shortfall: ErrorExtras['shortfall']
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, { cause: extras.cause })
    this.code = code
    this.details = extras.details
    this.shortfall = extras.shortfall
    this.retryAfter = extras.retryAfter
  }
}

/** Data cannot be decrypted: its key is lost or its bytes were changed. A retry fails too. */
export class LostKeyError extends Error {
  override readonly name = 'LostKeyError'
  /** True if the key was destroyed on purpose. No backup may restore it. */
  readonly isForGood: boolean
  constructor(message: string, { isForGood = false, ...options }: ErrorOptions & { isForGood?: boolean } = {}) {
    super(message, options)
    this.isForGood = isForGood
  }
}

export class NonRetryableError extends Error {
  override readonly name: string = 'NonRetryableError'
}

/** The message does not name the recipient. `status`: status code of the mail server. */
export class RejectedRecipientError extends NonRetryableError {
  override readonly name = 'RejectedRecipientError'
  readonly status: number | undefined

  constructor(status: number | undefined) {
    super(`The mail server permanently rejects the recipient (${status ?? 'unknown'}).`)
    this.status = status
  }
}

/** `about` describes the mail in the log. */
export const dropIfRejected = (log: Pick<Log, 'warn'>, about: object) => (error: unknown) => {
  if (!(error instanceof RejectedRecipientError)) throw error
  log.warn({ ...about, status: error.status }, 'Mail dropped: the mail server rejected its recipient')
}

export const notAuthenticated = () =>
  new DomainError('NOT_AUTHENTICATED', 'Authentication credentials were not provided.')

export const authenticationFailed = () =>
  new DomainError('AUTHENTICATION_FAILED', 'Incorrect authentication credentials.')

export const notAssetOwner = () =>
  new DomainError('ASSET_WRITE_PERMISSION_DENIED', 'You do not have permission to change this asset.')

/** Also for a resource that the caller may not see. Both cases must look the same. */
export const notFound = (what: string) => new DomainError('NOT_FOUND', `${what} not found.`)

/** Returns the first field with its problem. Some clients show only this line. */
export function firstProblem(fields: FieldErrors): string {
  const [[field, [message = 'Invalid input.']] = ['nonFieldErrors', []]] = Object.entries(fields)
  return field === 'nonFieldErrors' || field === 'non_field_errors' ? message : `${field}: ${message}`
}

export const validationFailed = (fields: FieldErrors) =>
  new DomainError('VALIDATION_FAILED', firstProblem(fields), { details: fields })

export const throttled = (seconds: number) =>
  new DomainError('THROTTLED', `Request was throttled. Expected available in ${seconds} seconds.`, {
    retryAfter: seconds,
  })

/** `what`: the unavailable part, capitalized. `cause`: for the log. */
export const unavailable = (what: string, cause?: unknown) =>
  new DomainError('UNAVAILABLE', `${what} is not available right now. Try again shortly.`, { retryAfter: 5, cause })

const hasCode =
  (code: ErrorCode) =>
  (error: unknown): error is DomainError =>
    error instanceof DomainError && error.code === code

export const isUnavailable = hasCode('UNAVAILABLE')

const DATABASE = 'The database'
export const databaseUnavailable = (cause: unknown) => unavailable(DATABASE, cause)
/** Only the database client logs an outage of the database, so that each outage has one line. */
export const isDatabaseOutage = (error: unknown) => isUnavailable(error) && error.message.startsWith(DATABASE)
export const isNotFound = hasCode('NOT_FOUND')
export const isFull = hasCode('INSUFFICIENT_STORAGE')

export const insufficientStorage = (cause: unknown) =>
  new DomainError('INSUFFICIENT_STORAGE', 'The storage is full, so the file was not stored. Nothing was charged.', {
    retryAfter: 60,
    cause,
  })

/** Error codes of a disk that is full, over quota or broken. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EIO'])

/** Converts an error of the disk. The message contains no path. */
export function storageFailure(cause: unknown): DomainError {
  const { code = '' } = cause as { code?: string }
  return NO_ROOM.has(code) ? insufficientStorage(cause) : unavailable('The file store', cause)
}
