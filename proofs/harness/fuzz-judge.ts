/** What every answer must be, whatever was asked. */

import { statuses } from '../../src/http/error-status.ts'
import { errorCodes } from '../../src/shared/errors.ts'
import { complaintOfDescription } from '../../test/support/described.ts'
import { complaintOfPage } from './fuzz-admin.ts'
import type { FuzzRequest } from './fuzz-requests.ts'

export interface FuzzAnswer {
  /** 0 when there was no whole answer. */
  status: number
  /** Its Content-Type. */
  type: string
  text: string
  /** Left out of what was sent as bare bytes, which has no address. */
  headers?: Headers
}

/** Returns whether an answer has GraphQL errors. A quote of REST has a field `errors`, too. */
export const hasGraphQLErrors = (text: string) => /"errors":\[\{"message":/.test(text)

/** What only our insides would say. */
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

/** What the server says of what is no request of HTTP, before any door sees it. */
const REFUSED_BEFORE_DOORS: Record<number, string> = {
  [statuses.PARSE_ERROR.status]: 'The request is not valid HTTP.',
  [statuses.HEADERS_TOO_LARGE.status]: 'The headers of the request are too large.',
}

/** In JSON, whatever the address and the method, which the server may not have read. To HEAD it says nothing more. */
function isRefusedBeforeDoors({ method }: Pick<FuzzRequest, 'method'>, { status, type, text }: FuzzAnswer): boolean {
  const sentence = REFUSED_BEFORE_DOORS[status]
  if (sentence === undefined || !type.includes('json')) return false
  return method === 'HEAD' || text.includes(`"detail":${JSON.stringify(sentence)}`)
}

/** What is wrong with an answer, in a sentence; undefined when nothing is. `mayBeAway`: what it needs was taken away. */
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
  // What is no HTTP is refused before it reaches a door.
  const isDoors = isGraphQL && !(status >= 400 && 'error' in (body as object))
  return isDoors ? graphqlComplaint(body) : restComplaint(status, body)
}
