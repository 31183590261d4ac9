/**
 * Checks REST responses against the committed OpenAPI document. Reports each undocumented path, status, media type, header, field
 * or type.
 */

import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { coreRoutes as routes } from '../../src/http/create-routes.ts'
import { statuses } from '../../src/http/error-status.ts'
import { WEBHOOK_ADDRESS } from '../../src/http/openapi/webhooks.ts'
import { coinRoutes } from '../../src/modules/coins/coins.rest.ts'
import type { ReceivedCall } from './receiver.ts'

type Described = { headers?: Record<string, unknown>; content?: Record<string, { example?: unknown }> }

interface Operation {
  operationId: string
  parameters?: unknown[]
  callbacks?: Record<string, Record<string, { post: Webhook }>>
  responses: Record<string, Described | { $ref: string }>
}

type Webhook = { operationId: string; parameters: { name: string; required?: boolean }[] }

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

export type Exchange = { method: string; path: string; status: number; headers: Headers; text: string }

export const description: Document = JSON.parse(
  readFileSync(new URL('../../src/http/rest/generated/openapi.json', import.meta.url), 'utf8'),
)

const webhookAddress = ['paths', '/api/v3/store/network-apps', 'post', 'callbacks']

/** The documented webhook calls by event type. */
export const webhooks: Record<string, Webhook> = Object.fromEntries(
  Object.entries(description.paths['/api/v3/store/network-apps']!.post!.callbacks!).map(([type, call]) => [
    type,
    call[WEBHOOK_ADDRESS]!.post,
  ]),
)

function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close)
  if (typeof value !== 'object' || value === null) return value
  const closed = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, close(inner)]))
  const isOpen = closed.type !== 'object' || !closed.properties || 'additionalProperties' in closed
  return isOpen ? closed : { ...closed, additionalProperties: false }
}

const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  // Compiled once, because many responses share these schemas.
  inlineRefs: false,
  formats: {
    binary: true,
    'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/,
    email: true,
    password: true,
    uri: (text) => URL.canParse(text),
  },
})
ajv.addSchema(close(description) as object, 'document')

const escaped = (key: string) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))
const pointer = (...keys: string[]) => `document#/${keys.map(escaped).join('/')}`

const validators = new Map<string, ValidateFunction>()
function validatorOf(at: string): ValidateFunction {
  let validate = validators.get(at)
  if (!validate) {
    validate = ajv.compile({ $ref: at })
    validators.set(at, validate)
  }
  return validate
}

/** Paths with their regular expressions. A fixed path precedes one with parameters. The phone app omits the prefix for `auth`. */
const patterns = Object.keys(description.paths)
  .sort((one, other) => one.split('{').length - other.split('{').length)
  .map((path) => {
    const pattern = path.replaceAll(/\{\w+\}/g, '[^/]+').replace('/api/v3/auth/', '(?:/api/v3)?/auth/')
    return { path, pattern: new RegExp(`^${pattern}/?$`) }
  })

const addressOf = (path: string) => `/api/v3/${path.replaceAll(/:(\w+)/g, '{$1}')}`

const quotes = new Map<string, string>(
  [...routes, ...coinRoutes].flatMap(({ method, path, quote }) =>
    quote ? [[`${method} ${addressOf(path)}`, addressOf(quote.path)] as const] : [],
  ),
)

function findOperation({ method, path }: Exchange): { path: string; verb: string } | undefined {
  const [address = '', query] = path.split('?', 2)
  const found = patterns.find(({ pattern }) => pattern.test(address))?.path
  if (found === undefined) return undefined
  const isDryRun = new URLSearchParams(query).get('dry_run') === 'true'
  const quote = isDryRun ? quotes.get(`${method} ${found}`) : undefined
  return quote ? { path: quote, verb: 'post' } : { path: found, verb: method === 'HEAD' ? 'get' : method.toLowerCase() }
}

function findResponse(path: string, method: string, status: string): string[] | undefined {
  const found = description.paths[path]?.[method]?.responses[status]
  if (!found) return undefined
  if (!('$ref' in found)) return ['paths', path, method, 'responses', status]
  return String(found.$ref).slice(2).split('/')
}

const at = (keys: string[]) =>
  keys.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], description) as Described

const toldHeaders = ['ETag', 'Idempotency-Replayed', 'Retry-After', 'WWW-Authenticate']

const readJson = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function complaintOfRefusal({ method, status, text }: Exchange): string | undefined {
  // The document describes only the status.
  if (method === 'HEAD') return undefined
  const { error, detail } = (readJson(text)?.value ?? {}) as {
    error?: { type?: string; message?: string }
    detail?: string
  }
  const isKnown = Object.values(statuses).some((each) => each.status === status && each.type === error?.type)
  return isKnown && detail === error?.message ? undefined : 'it is at no described address, and no refusal'
}

function complaintOfBody(keys: string[], { content }: Described, { text, headers }: Exchange): string | undefined {
  if (!content) return text === '' ? undefined : 'it has a body, and none is described'
  const type = (headers.get('content-type') ?? '').split(';')[0]!.trim()
  const described = Object.keys(content).find((each) => each === type || each === '*/*')
  if (!described) return `its type is ${type || 'unknown'}`
  if (described !== 'application/json') return undefined
  const json = readJson(text)
  if (!json) return 'it is no JSON'
  const validate = validatorOf(pointer(...keys, 'content', described, 'schema'))
  return validate(json.value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'body', separator: '\n' })
}

export function complaintOfDescription(exchange: Exchange): string | undefined {
  const { method, status, headers } = exchange
  const address = exchange.path.split('?', 1)[0]!
  if (method === 'OPTIONS' || address === '/graphql') return undefined
  const found = findOperation(exchange)
  if (!found) {
    // HTML pages are not part of the API.
    return headers.get('content-type')?.includes('json') ? complaintOfRefusal(exchange) : undefined
  }
  const { path, verb } = found
  if (!description.paths[path]![verb])
    return status === 405 ? complaintOfRefusal(exchange) : 'its method is not described'
  const keys = findResponse(path, verb, String(status))
  if (!keys) return `its status ${status} is not described`
  const response = at(keys)
  const untold = toldHeaders.find((name) => headers.has(name) && !response.headers?.[name])
  if (untold) return `its header ${untold} is not described`
  return method === 'HEAD' ? undefined : complaintOfBody(keys, response, exchange)
}

export function complaintOfCall({ headers, body }: Pick<ReceivedCall, 'headers' | 'body'>): string | undefined {
  const value = JSON.parse(body) as { type: string }
  const described = webhooks[value.type]
  if (!described) return `its type ${value.type} is not described`
  const missing = described.parameters.find(({ name, required }) => required && !headers[name])
  if (missing) return `it has no header ${missing.name}`
  const keys = [value.type, WEBHOOK_ADDRESS, 'post', 'requestBody', 'content', 'application/json', 'schema']
  const validate = validatorOf(pointer(...webhookAddress, ...keys))
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'body', separator: '\n' })
}

/** Throws an Error that lists the differences from the document. */
export function assertDescribed(exchange: Exchange): void {
  const complaint = complaintOfDescription(exchange)
  if (complaint === undefined) return
  const { method, path, status, text } = exchange
  throw new Error(`${method} ${path} → ${status}: ${complaint}\n${text.slice(0, 2000)}`)
}
