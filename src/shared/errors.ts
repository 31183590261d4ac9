import type { Log } from './log.ts'

/**
 * Every way a request can be refused, and what it means. The union is closed: GraphQL shows the code as `extensions.code`
 * and the table as the enum `ErrorCode`; REST maps it to a status and an `error.type` in `http/error-status.ts`, which does not
 * compile when a code is missing there.
 */
export const errorMeanings = {
  ASSET_COMMIT_INSUFFICIENT_FUND:
    'The wallet cannot pay for the commit. `extensions.required`, `available` and `missing` tell how much.',
  ASSET_WRITE_PERMISSION_DENIED: 'The asset is visible to you, but not yours to change.',
  AUTHENTICATION_FAILED: 'The credentials that were sent are not valid, or not any more.',
  CONFLICT: 'Something else was faster, or what the request builds on has changed.',
  DUPLICATE_ASSET: 'The file is registered already; `extensions.details` names the asset.',
  DUPLICATE_EMAIL: 'Another account has the e-mail address.',
  DUPLICATE_USERNAME: 'Another account has the username.',
  EMAIL_NOT_VERIFIED: 'The account signs in once its e-mail address is verified.',
  HEADERS_TOO_LARGE: 'The headers of the request are too large.',
  IDEMPOTENCY_KEY_IN_USE:
    'The first request with the key is still being carried out; ask again after `extensions.retryAfter` seconds.',
  IDEMPOTENCY_KEY_REUSED:
    'The key belongs to another request, or what it was answered is worth nothing any more. Use a new one.',
  INCORRECT_LOGIN_CREDENTIALS: 'No account has this e-mail address and password.',
  INSUFFICIENT_FUND:
    'The wallet cannot pay for the order. `extensions.required`, `available` and `missing` tell how much.',
  INSUFFICIENT_STORAGE: 'There is no room for the file. Nothing was charged.',
  INTERNAL: 'A fault of ours. It is logged under the request id of the answer.',
  INVALID_NETWORK_APP_NAME: 'No network app has this name or identifier.',
  INVALID_TOKEN: 'The mailed link is not valid, or not any more.',
  METHOD_NOT_ALLOWED: 'The HTTP method is not one of this address.',
  NOT_ACCEPTABLE: 'The answer has no form that the request accepts.',
  NOT_AUTHENTICATED: 'The request needs somebody who is signed in.',
  NOT_FOUND: 'There is no such thing, or none that you may see.',
  ORDER_EXPIRED: 'The order was not confirmed in time.',
  PARSE_ERROR: 'The request cannot be read: JSON, a form or a GraphQL document is malformed.',
  PAYLOAD_TOO_LARGE: 'The request is larger than the limit.',
  PERMISSION_DENIED: 'Only an administrator may do this.',
  PERSISTED_QUERY_ID_REQUIRED:
    'Only documents of the operator’s list are carried out here: name one by its identifier instead of sending its text.',
  PERSISTED_QUERY_NOT_FOUND: 'No document is known by this identifier. Send it again together with the document.',
  PERSISTED_QUERY_NOT_IN_LIST: 'Only documents of the operator’s list are carried out here, and this is none of them.',
  PRICE_EXCEEDS_MAX_COST: 'It costs more than the request lets it.',
  REQUEST_TIMEOUT: 'The request took too long to arrive.',
  THROTTLED: 'Too many requests; ask again after `extensions.retryAfter` seconds.',
  TOO_MANY_OPEN_ORDERS:
    'So many orders wait to be confirmed that no other can be made; one ends by itself after `extensions.retryAfter` seconds.',
  UNABLE_TO_CANCEL_ORDER: 'The order is in a state in which it cannot be cancelled.',
  UNABLE_TO_CANCEL_WITHDRAWAL: 'The withdrawal is signed for, or over: it cannot be cancelled.',
  UNABLE_TO_CONFIRM_ORDER: 'The order is in a state in which it cannot be confirmed.',
  UNABLE_TO_REFUND_ORDER:
    'The order is in a state in which nothing of it can be given back: it is not paid, all of it came back already, or its buyer is gone.',
  UNAVAILABLE: 'A part of the service is down; ask again after `extensions.retryAfter` seconds.',
  UNSUPPORTED_MEDIA_TYPE: 'The body has a media type that is not read here.',
  UNTRUSTED_CLIENT: 'The API key is missing, unknown or revoked.',
  VALIDATION_FAILED:
    'Something that was sent is not as it has to be; `extensions.details` tells by field what is wrong.',
  WITHDRAWALS_PAUSED:
    'The password or e-mail address was changed lately: nothing is withdrawn before `extensions.retryAfter` seconds have passed.',
} as const

/** A reason for a refusal. */
export type ErrorCode = keyof typeof errorMeanings
/** All reasons, in the order of the table. */
export const errorCodes = Object.keys(errorMeanings) as ErrorCode[]

/** What a refusal for funds tells the person: decimal strings in currency units. */
export interface Shortfall {
  required: string
  available: string
  missing: string
}

/** A field's name and what is wrong with it, as `{"headline": ["…"]}`. */
export type FieldErrors = Record<string, string[]>

/** What a refusal tells besides its code and its sentence. */
export interface ErrorExtras {
  /** For a person: a sentence, a list, or an object of field errors. */
  details?: string | unknown[] | FieldErrors
  shortfall?: Shortfall
  /** Seconds until asking again makes sense. */
  retryAfter?: number
  cause?: unknown
}

/** An expected refusal. Everything else that is thrown is a fault and is shown as INTERNAL. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly details: ErrorExtras['details']
  readonly shortfall: Shortfall | undefined
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, { cause: extras.cause })
    this.code = code
    this.details = extras.details
    this.shortfall = extras.shortfall
    this.retryAfter = extras.retryAfter
  }
}

/**
 * What was sealed does not open: its key is gone, or the bytes were changed. Trying again soon does not help; a vault that
 * cannot be asked raises something else.
 */
export class LostKeyError extends Error {
  override readonly name = 'LostKeyError'
  /** Whether it was destroyed on purpose: then no backup may bring it back. */
  readonly isForGood: boolean
  constructor(message: string, { isForGood = false, ...options }: ErrorOptions & { isForGood?: boolean } = {}) {
    super(message, options)
    this.isForGood = isForGood
  }
}

/** Raised by background work that no further attempt can carry out. */
export class NonRetryableError extends Error {
  override readonly name: string = 'NonRetryableError'
}

/** The mail server takes no mail for this recipient, and never will. The message names nobody. */
export class RejectedRecipientError extends NonRetryableError {
  override readonly name = 'RejectedRecipientError'
  /** As the server answered. */
  readonly status: number | undefined

  constructor(status: number | undefined) {
    super(`The mail server refuses the recipient for good (${status ?? 'unknown'}).`)
    this.status = status
  }
}

/** Handles the rejection of a recipient by dropping the mail, for mails that may be lost. `about` describes the mail in the log. */
export const dropIfRejected = (log: Pick<Log, 'warn'>, about: object) => (error: unknown) => {
  if (!(error instanceof RejectedRecipientError)) throw error
  log.warn({ ...about, status: error.status }, 'Mail dropped: the mail server rejected its recipient')
}

/** The refusal NOT_AUTHENTICATED: nobody is signed in. */
export const notAuthenticated = () =>
  new DomainError('NOT_AUTHENTICATED', 'Authentication credentials were not provided.')

/** The refusal AUTHENTICATION_FAILED: what was sent is not good, or not any more. */
export const authenticationFailed = () =>
  new DomainError('AUTHENTICATION_FAILED', 'Incorrect authentication credentials.')

/** Raised for somebody who may see an asset, and wants what its owner alone may. */
export const notAssetOwner = () =>
  new DomainError('ASSET_WRITE_PERMISSION_DENIED', 'You do not have permission to change this asset.')

/** Raised for what is missing and for what the actor may not see: the two must not differ. */
export const notFound = (what: string) => new DomainError('NOT_FOUND', `${what} not found.`)

/** The first field and what is wrong with it, in one line: the only one that some callers show. */
export function firstProblem(fields: FieldErrors): string {
  const [[field, [message = 'Invalid input.']] = ['nonFieldErrors', []]] = Object.entries(fields)
  return field === 'nonFieldErrors' || field === 'non_field_errors' ? message : `${field}: ${message}`
}

/** The refusal VALIDATION_FAILED; its message is the first problem. */
export const validationFailed = (fields: FieldErrors) =>
  new DomainError('VALIDATION_FAILED', firstProblem(fields), { details: fields })

/** The refusal THROTTLED; `seconds` until asking again makes sense. */
export const throttled = (seconds: number) =>
  new DomainError('THROTTLED', `Request was throttled. Expected available in ${seconds} seconds.`, {
    retryAfter: seconds,
  })

/** The refusal UNAVAILABLE of a part, named by `what` as a sentence begins; `cause` is for the log. */
export const unavailable = (what: string, cause?: unknown) =>
  new DomainError('UNAVAILABLE', `${what} is not available right now. Try again shortly.`, { retryAfter: 5, cause })

/** Whether a part is away, which says nothing of what it was asked about. */
export const isUnavailable = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.code === 'UNAVAILABLE'

/** Whether a part is full, which says as little. */
export const isFull = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.code === 'INSUFFICIENT_STORAGE'

/** The refusal INSUFFICIENT_STORAGE; `cause` is for the log. */
export const insufficientStorage = (cause: unknown) =>
  new DomainError('INSUFFICIENT_STORAGE', 'There is no room for the file right now. Nothing was charged.', {
    retryAfter: 60,
    cause,
  })

/** What a disk says that takes no more: it is full, the quota is used up, or it fails. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EIO'])

/** A failure of the disk in our words, which name no path: INSUFFICIENT_STORAGE or UNAVAILABLE. */
export function storageFailure(cause: unknown): DomainError {
  const { code } = cause as { code?: string }
  return NO_ROOM.has(code ?? '') ? insufficientStorage(cause) : unavailable('The file store', cause)
}
