/**
 * Every way a request can be refused. The union is closed: GraphQL shows the code as `extensions.code`, REST maps
 * it to a status and an `error.type` in `rest/status.ts`, which does not compile when a code is missing there.
 */
export const errorCodes = [
  'ASSET_COMMIT_INSUFFICIENT_FUND',
  'ASSET_WRITE_PERMISSION_DENIED',
  'AUTHENTICATION_FAILED',
  'CONFLICT',
  'DUPLICATE_ASSET',
  'DUPLICATE_EMAIL',
  'DUPLICATE_USERNAME',
  'EMAIL_NOT_VERIFIED',
  'HEADERS_TOO_LARGE',
  'IDEMPOTENCY_KEY_IN_USE',
  'IDEMPOTENCY_KEY_REUSED',
  'INCORRECT_LOGIN_CREDENTIALS',
  'INSUFFICIENT_FUND',
  'INSUFFICIENT_STORAGE',
  'INTERNAL',
  'INVALID_NETWORK_APP_NAME',
  'INVALID_TOKEN',
  'METHOD_NOT_ALLOWED',
  'NOT_ACCEPTABLE',
  'NOT_AUTHENTICATED',
  'NOT_FOUND',
  'ORDER_EXPIRED',
  'PARSE_ERROR',
  'PAYLOAD_TOO_LARGE',
  'PERMISSION_DENIED',
  'PRICE_EXCEEDS_MAX_COST',
  'REQUEST_TIMEOUT',
  'THROTTLED',
  'UNABLE_TO_CANCEL_ORDER',
  'UNABLE_TO_CONFIRM_ORDER',
  'UNAVAILABLE',
  'UNSUPPORTED_MEDIA_TYPE',
  'UNTRUSTED_CLIENT',
  'VALIDATION_FAILED',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/** What a refusal for funds tells the person: decimal strings in currency units. */
export interface Shortfall {
  required: string
  available: string
  missing: string
}

/** A field's name and what is wrong with it, as `{"headline": ["…"]}`. */
export type FieldErrors = Record<string, string[]>

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

export const notAuthenticated = () =>
  new DomainError('NOT_AUTHENTICATED', 'Authentication credentials were not provided.')

export const authenticationFailed = () =>
  new DomainError('AUTHENTICATION_FAILED', 'Incorrect authentication credentials.')

/** Raised for what is missing and for what the actor may not see: the two must not differ. */
export const notFound = (what: string) => new DomainError('NOT_FOUND', `${what} not found.`)

/** The first field and what is wrong with it, in one line: the only one that some callers show. */
export function firstProblem(fields: FieldErrors): string {
  const [[field, [message = 'Invalid input.']] = ['nonFieldErrors', []]] = Object.entries(fields)
  return field === 'nonFieldErrors' || field === 'non_field_errors' ? message : `${field}: ${message}`
}

export const validationFailed = (fields: FieldErrors) =>
  new DomainError('VALIDATION_FAILED', firstProblem(fields), { details: fields })

/** `seconds` until asking again makes sense. */
export const throttled = (seconds: number) =>
  new DomainError('THROTTLED', `Request was throttled. Expected available in ${seconds} seconds.`, {
    retryAfter: seconds,
  })

export const unavailable = (what: string, cause?: unknown) =>
  new DomainError('UNAVAILABLE', `${what} is not available right now. Try again shortly.`, { retryAfter: 5, cause })

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
