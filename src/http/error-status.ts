import { type DomainError, type ErrorCode, type FieldErrors, firstProblem } from '../shared/errors.ts'
import { isJsonObject } from '../shared/input.ts'
import { snakeCase } from '../shared/text.ts'

/** HTTP status and REST error type. REST clients depend on both, so they must not change. */
export const statuses: Record<ErrorCode, { status: number; type: string }> = {
  ASSET_COMMIT_INSUFFICIENT_FUND: { status: 400, type: 'asset_commit_insufficient_fund' },
  ASSET_WRITE_PERMISSION_DENIED: { status: 403, type: 'asset_write_permission_denied' },
  AUTHENTICATION_FAILED: { status: 401, type: 'authentication_failed' },
  CONFLICT: { status: 409, type: 'conflict' },
  DUPLICATE_ASSET: { status: 400, type: 'duplicate_asset_not_allowed' },
  DUPLICATE_EMAIL: { status: 400, type: 'duplicate_email' },
  DUPLICATE_USERNAME: { status: 400, type: 'duplicate_username' },
  EMAIL_NOT_VERIFIED: { status: 403, type: 'email_not_verified' },
  HEADERS_TOO_LARGE: { status: 431, type: 'headers_too_large' },
  IDEMPOTENCY_KEY_IN_USE: { status: 409, type: 'idempotency_key_in_use' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, type: 'idempotency_key_reused' },
  INCORRECT_LOGIN_CREDENTIALS: { status: 400, type: 'incorrect_login_credentials' },
  INSUFFICIENT_FUND: { status: 400, type: 'insufficient_fund' },
  INSUFFICIENT_STORAGE: { status: 507, type: 'insufficient_storage' },
  INTERNAL: { status: 500, type: 'internal_error' },
  INVALID_NETWORK_APP_NAME: { status: 400, type: 'invalid_network_app_name' },
  INVALID_TOKEN: { status: 400, type: 'invalid_token' },
  METHOD_NOT_ALLOWED: { status: 405, type: 'method_not_allowed' },
  NOT_ACCEPTABLE: { status: 406, type: 'not_acceptable' },
  NOT_AUTHENTICATED: { status: 401, type: 'not_authenticated' },
  NOT_FOUND: { status: 404, type: 'resource_not_found' },
  ORDER_EXPIRED: { status: 400, type: 'order_expired' },
  PARSE_ERROR: { status: 400, type: 'parse_error' },
  PAYLOAD_TOO_LARGE: { status: 413, type: 'payload_too_large' },
  PERMISSION_DENIED: { status: 403, type: 'permission_denied' },
  PERSISTED_QUERY_ID_REQUIRED: { status: 400, type: 'persisted_query_id_required' },
  PERSISTED_QUERY_NOT_FOUND: { status: 404, type: 'persisted_query_not_found' },
  PERSISTED_QUERY_NOT_IN_LIST: { status: 403, type: 'persisted_query_not_in_list' },
  PRICE_EXCEEDS_MAX_COST: { status: 400, type: 'price_exceeds_max_cost' },
  REQUEST_TIMEOUT: { status: 408, type: 'request_timeout' },
  THROTTLED: { status: 429, type: 'throttled' },
  TOO_MANY_OPEN_ORDERS: { status: 429, type: 'too_many_open_orders' },
  UNABLE_TO_CANCEL_ORDER: { status: 400, type: 'unable_to_cancel_order' },
  UNABLE_TO_CANCEL_WITHDRAWAL: { status: 409, type: 'unable_to_cancel_withdrawal' },
  UNABLE_TO_CONFIRM_ORDER: { status: 400, type: 'unable_to_confirm_order' },
  UNABLE_TO_REFUND_ORDER: { status: 400, type: 'unable_to_refund_order' },
  UNAVAILABLE: { status: 503, type: 'service_unavailable' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, type: 'unsupported_media_type' },
  UNTRUSTED_CLIENT: { status: 401, type: 'untrusted_client' },
  VALIDATION_FAILED: { status: 400, type: 'validation_error' },
  WITHDRAWALS_PAUSED: { status: 429, type: 'withdrawals_paused' },
}

export interface Refusal {
  code: ErrorCode
  message: string
  details?: unknown
  retryAfter?: number | undefined
}

const inSnakeCase = (details: object) =>
  Object.fromEntries(Object.entries(details).map(([field, messages]) => [snakeCase(field), messages]))

/** `detail` repeats the message for two SDKs that read only that field. */
export function presentRefusal({ code, message: given, details: found }: Refusal) {
  const { status, type } = statuses[code]
  const details = isJsonObject(found) ? inSnakeCase(found) : found
  // The message starts with the name of the first invalid field. Field names in REST differ from those in GraphQL.
  const message = code === 'VALIDATION_FAILED' && isJsonObject(details) ? firstProblem(details as FieldErrors) : given
  const error = { type, message, ...(details !== undefined && { details }) }
  return { error, status_code: status, detail: message }
}

export function refusalHeaders({ code, retryAfter }: Refusal): Record<string, string> {
  return {
    ...(statuses[code].status === 401 && { 'WWW-Authenticate': 'Token' }),
    ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
  }
}

export const presentError = (error: DomainError) => ({
  status: statuses[error.code].status,
  headers: refusalHeaders(error),
  body: presentRefusal(error),
})
