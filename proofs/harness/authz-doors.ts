/** Requests to both doors, and what came of them in one vocabulary. */
import type { ErrorCode } from '../../src/domain/errors.ts'
import { statuses } from '../../src/rest/status.ts'
import type { Outcome } from './authz-kinds.ts'
import type { RestCall } from './authz-values.ts'

export interface Told {
  outcome: Outcome
  /** All that was sent and all that came back, as text. */
  sent: string
  text: string
  /** Of a GraphQL answer: the root field's value. */
  value?: unknown
}

export interface Credentials {
  /** Undefined when nobody is signed in. */
  token: string | undefined
  apiKey: string
}

const codes = new Map(Object.entries(statuses).map(([code, { type }]) => [type, code as ErrorCode]))

const headersOf = ({ token, apiKey }: Credentials): Record<string, string> => ({
  'x-api-key': apiKey,
  ...(token && { authorization: `token ${token}` }),
})

function graphqlBody(
  query: string,
  variables: Record<string, unknown>,
): { body: BodyInit; headers: Record<string, string> } {
  let upload: { path: string; file: File } | undefined
  const strip = (value: unknown, path: string): unknown => {
    if (value instanceof File) {
      upload = { path, file: value }
      return null
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, strip(inner, `${path}.${name}`)]))
  }
  const operations = JSON.stringify({ query, variables: strip(variables, 'variables') })
  if (!upload) return { body: operations, headers: { 'content-type': 'application/json' } }
  const form = new FormData()
  form.set('operations', operations)
  form.set('map', JSON.stringify({ 0: [upload.path] }))
  form.set('0', upload.file)
  return { body: form, headers: { 'graphql-require-preflight': 'true' } }
}

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
  const { body, headers } = graphqlBody(query, variables)
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    body,
    headers: { accept: 'application/json', ...headers, ...headersOf(credentials) },
  })
  const text = await response.text()
  const answer = JSON.parse(text) as GraphQLAnswer
  const sent = `${query} ${JSON.stringify(variables)}`
  return { outcome: outcomeOf(answer, field), sent, text, value: answer.data?.[field] }
}

export interface Stream {
  response: Response
  /** What came so far. */
  text(): string
  hasEnded(): boolean
  close(): void
}

/** Server-sent events, read until closed. */
export async function openStream(url: string, credentials: Credentials, body?: object): Promise<Stream> {
  const controller = new AbortController()
  const response = await fetch(url, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    signal: controller.signal,
    headers: {
      accept: 'text/event-stream',
      ...(body && { 'content-type': 'application/json' }),
      ...headersOf(credentials),
    },
  })
  let text = ''
  let hasEnded = false
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  }
  // It ends when we close it, if not before.
  void read()
    .catch(() => undefined)
    .finally(() => {
      hasEnded = true
    })
  return { response, text: () => text, hasEnded: () => hasEnded, close: () => controller.abort() }
}

const isJson = (response: Response) => (response.headers.get('content-type') ?? '').includes('json')

export function refusalIn(response: Response, text: string): Outcome {
  if (response.status < 400) return 'allow'
  if (!isJson(response)) return `HTTP ${response.status}`
  const { error } = JSON.parse(text) as { error?: { type: string } }
  return codes.get(error?.type ?? '') ?? `HTTP ${response.status}`
}

/** The address of a route with its parameters and its query. */
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
  const headers = headersOf(credentials)
  let body: BodyInit | null = null
  if (call.json) {
    body = JSON.stringify(call.json)
    headers['content-type'] = 'application/json'
  } else if (call.form) {
    const form = new FormData()
    for (const [name, value] of Object.entries(call.form)) form.set(name, value)
    body = form
  } else if (call.urlencoded && method !== 'GET') body = new URLSearchParams(call.urlencoded)
  const response = await fetch(url + address, { method, body, headers, redirect: 'manual' })
  const text = await response.text()
  const sent = `${method} ${address} ${JSON.stringify(call.json ?? call.urlencoded ?? {})}`
  return { outcome: refusalIn(response, text), sent, text }
}
