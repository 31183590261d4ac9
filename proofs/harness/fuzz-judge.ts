/** Checks that apply to every response, whatever the request. */

import { statuses } from '../../src/http/error-status.ts'
import { errorCodes } from '../../src/shared/errors.ts'
import { complaintOfDescription } from '../../test/support/described.ts'
import { complaintOfPage } from './fuzz-admin.ts'
import type { FuzzRequest } from './fuzz-requests.ts'

export interface FuzzAnswer {
  /** HTTP status. 0 if there was no complete response. */
  status: number
  /** Value of the Content-Type header. */
  type: string
  text: string
  /** Response headers. Undefined for raw requests. */
  headers?: Headers
}

/** Returns whether an answer has GraphQL errors. A quote of REST has a field `errors`, too. */
export const hasGraphQLErrors = (text: string) => /"errors":\[\{"message":/.test(text)

/** Matches internal details that no response may contain. */
const INSIDES =
  /\/work\/|\/home\/|\/root\/|\/tmp\/|node_modules|node:internal|\.(ts|js):\d+|\bat (async )?[\w.]+ \(|\b(select|insert into|update|delete from) \w+ |relation "|column "|violates |invalid byte sequence|prisma|postgres|P20\d\d|ECONN|TypeError|RangeError|SyntaxError|undefined is not|Cannot (read|set) prop|\[object Object\]/i

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const detailsAreTold = (details: unknown) =>
  details === undefined ||
  typeof details === 'string' ||
  Array.isArray(details) ||
  (typeof details === 'object' && details !== null && Object.values(details).every(Array.isArray))

function restComplaint(
  status: number,
  body: { error?: Record<string, unknown>; status_code?: unknown; detail?: unknown },
) {
  const { error, status_code, detail } = body ?? {}
  const known = Object.values(statuses).find(({ type }) => type === error?.type)
  if (!known) return 'the error has no type of the vocabulary'
  if (known.status !== status || status_code !== status) return 'the status is not that of the type'
  if (!isText(error?.message) || detail !== error?.message) return 'the message is not told twice'
  return detailsAreTold(error?.details) ? undefined : 'the details have another shape'
}

function graphqlComplaint(body: { errors?: { message?: unknown; extensions?: { code?: unknown } }[]; data?: unknown }) {
  if (!body?.errors) return body && 'data' in body ? undefined : 'there is neither data nor an error'
  for (const { message, extensions } of body.errors) {
    if (!isText(message)) return 'an error has no message'
    if (!errorCodes.some((code) => code === extensions?.code)) return 'an error has no code of the vocabulary'
    if (extensions?.code === 'INTERNAL') return 'something went wrong on our side'
  }
  return undefined
}

/** Error types of requests that are not valid HTTP. The server rejects them before any API. */
const REFUSED_BEFORE_DOORS: Record<number, string> = {
  [statuses.PARSE_ERROR.status]: 'The request is not valid HTTP.',
  [statuses.HEADERS_TOO_LARGE.status]: 'The headers of the request are too large.',
}

/**
 * Returns true for a rejection of invalid HTTP. It is JSON for any path and method, because the server may not have parsed them. A response
 * to HEAD has no body.
 */
function isRefusedBeforeDoors({ method }: Pick<FuzzRequest, 'method'>, { status, type, text }: FuzzAnswer): boolean {
  const sentence = REFUSED_BEFORE_DOORS[status]
  if (sentence === undefined || !type.includes('json')) return false
  return method === 'HEAD' || text.includes(`"detail":${JSON.stringify(sentence)}`)
}

/** Returns the problem of a response, or undefined. `mayBeAway`: true if a required service may be down. */
export function complaintOf(
  request: Pick<FuzzRequest, 'path' | 'method'>,
  answer: FuzzAnswer,
  { mayBeAway = false } = {},
): string | undefined {
  const { status, type, text, headers } = answer
  if (status === 0) return `there was no answer: ${text}`
  if (status >= 500 && !(mayBeAway && status === statuses.UNAVAILABLE.status)) return `the status is ${status}`
  const inside = status >= 400 || hasGraphQLErrors(text) ? INSIDES.exec(text)?.[0] : undefined
  if (inside) return `the answer tells of our insides: ${inside}`
  const isAdmin = /^\/admin([/?]|$)/.test(request.path)
  const isRefused = isRefusedBeforeDoors(request, answer)
  const unlikeAPage = isAdmin && !isRefused ? complaintOfPage(answer) : undefined
  if (unlikeAPage) return unlikeAPage
  const undescribed = headers && !isRefused && complaintOfDescription({ ...request, status, headers, text })
  if (undescribed) return undescribed
  if (request.method === 'HEAD' || type.startsWith('text/event-stream')) return undefined
  const isGraphQL = request.path.split('?')[0] === '/graphql'
  if (!type.includes('json'))
    return status >= 400 && !/^text\/html/.test(type) ? `an error is ${type || 'of no type'}` : undefined
  if (status < 400 && !isGraphQL) return undefined
  let body: never
  try {
    body = JSON.parse(text) as never
  } catch {
    return 'the answer is no JSON'
  }
  // Invalid HTTP is rejected before it reaches GraphQL.
  const isDoors = isGraphQL && !(status >= 400 && 'error' in (body as object))
  return isDoors ? graphqlComplaint(body) : restComplaint(status, body)
}
