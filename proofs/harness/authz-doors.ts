/** Sends requests to REST, GraphQL and the admin pages, and maps all results to the same outcomes. */

import { statuses } from '../../src/http/error-status.ts'
import type { ErrorCode } from '../../src/shared/errors.ts'
import { graphqlMessage } from '../../test/support/graphql-client.ts'
import { type Answer, type Credentials, trySend } from '../../test/support/http-client.ts'
import type { Outcome } from './authz-kinds.ts'
import type { RestCall } from './authz-values.ts'

export interface Told {
  outcome: Outcome
  /** Complete request and response as text. */
  sent: string
  text: string
  /** Value of the root field in a GraphQL response. */
  value?: unknown
}

const codes = new Map(Object.entries(statuses).map(([code, { type }]) => [type, code as ErrorCode]))

interface GraphQLAnswer {
  data?: Record<string, unknown> | null
  errors?: { message: string; path?: unknown[]; extensions?: { code?: ErrorCode } }[]
}

export function outcomeOf({ data, errors }: GraphQLAnswer, field: string): Outcome {
  const [error] = errors ?? []
  if (error) return error.extensions?.code ?? 'INTERNAL'
  return data?.[field] === null || data?.[field] === undefined ? 'null' : 'allow'
}

export async function askGraphQL(
  url: string,
  credentials: Credentials,
  { query, variables, field }: { query: string; variables: Record<string, unknown>; field: string },
): Promise<Told> {
  const { headers, ...body } = graphqlMessage(query, variables)
  const message = { ...body, ...credentials, headers: { accept: 'application/json', ...headers } }
  const { text, body: answer } = await trySend(`${url}/graphql`, message)
  const sent = `${query} ${JSON.stringify(variables)}`
  return { outcome: outcomeOf(answer, field), sent, text, value: answer.data?.[field] }
}

export function refusalIn({ status, headers, text }: Pick<Answer, 'status' | 'headers' | 'text'>): Outcome {
  if (status < 400) return 'allow'
  if (!headers.get('content-type')?.includes('json')) return `HTTP ${status}`
  const { error } = JSON.parse(text) as { error?: { type: string } }
  return codes.get(error?.type ?? '') ?? `HTTP ${status}`
}

/** Returns the path of a route with its parameters and query string. */
export function addressOf(path: string, { params = {}, query = {} }: RestCall): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined) throw new Error(`No value for :${name} of ${path}.`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams(query).toString()
  return search ? `${filled}?${search}` : filled
}

export async function askRest(
  url: string,
  credentials: Credentials,
  { method, path, call }: { method: string; path: string; call: RestCall },
): Promise<Told> {
  const address = addressOf(path, call)
  const { json, form: multipart } = call
  const urlencoded = method === 'GET' ? undefined : call.urlencoded
  const answer = await trySend(url, { ...credentials, method, path: address, json, multipart, urlencoded })
  const sent = `${method} ${address} ${JSON.stringify(json ?? call.urlencoded ?? {})}`
  return { outcome: refusalIn(answer), sent, text: answer.text }
}

/** Credentials that a browser sends to an admin page. */
export interface PageKeys {
  /** Value of the session cookie. */
  secret: string
  /** Token in the submitted form. */
  formToken: string
}

/** Returns true if the response redirects to the sign-in page or shows it, except after a sign-out, which deletes the cookie. */
const isLedToSignIn = ({ status, headers, text }: Answer) =>
  !headers.has('set-cookie') &&
  (status === 303
    ? headers.get('location')?.startsWith('/admin/sign-in')
    : status === 403 && text.includes('action="/admin/sign-in"'))

/** Sends a request like a browser that shows an Annal page. */
export async function askPage(
  url: string,
  { secret, formToken }: PageKeys,
  { method, path, call }: { method: string; path: string; call: RestCall },
): Promise<Told> {
  const address = addressOf(path, call)
  const headers = { cookie: `annal-admin=${secret}`, 'sec-fetch-site': 'same-origin' }
  const urlencoded = method === 'GET' ? undefined : { ...call.urlencoded, 'form-token': formToken }
  const answer = await trySend(url, { method, path: address, headers, urlencoded })
  const sent = `${method} ${address} ${JSON.stringify(call.urlencoded ?? {})}`
  return { outcome: isLedToSignIn(answer) ? 'HTTP 303' : refusalIn(answer), sent, text: answer.text }
}
