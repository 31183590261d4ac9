/** Calls webhooks. Calls are signed according to Standard Webhooks 1.0 and are sent only to public addresses. */
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { type IncomingHttpHeaders, type IncomingMessage, request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { buildConnector } from 'undici'
import { noopTracer, type Tracer } from '../../telemetry/telemetry-types.ts'
import { isInternalAddress, isInternalHost } from './webhook-url.ts'

/** Returns the IP addresses of a host name. */
export type Resolve = (host: string) => Promise<string[]>

/** Error of a connection whose target is an internal address. */
export class InternalAddressError extends Error {
  override readonly name = 'InternalAddressError'
}

const DNS_TIMEOUT_MS = 3_000

/** Resolves a host name by DNS. Unlike `lookup`, it blocks no thread of the process while a name server hangs. */
export const resolveByDns: Resolve = async (host) => {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 })
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length) return addresses
  throw answers.find((answer) => answer.status === 'rejected')?.reason
}

/** Resolves a host name as the operating system does, including its hosts file. */
export const resolveBySystem: Resolve = async (host) =>
  (await systemLookup(host, { all: true })).map(({ address }) => address)

interface GuardOptions {
  allowInternal: boolean
  resolve: Resolve
  /** Maximum time until the connection is open, in milliseconds. */
  timeout: number
}

/** Returns a function that opens sockets. Rejects internal addresses with InternalAddressError unless allowed. */
export function createGuardedConnector({ allowInternal, resolve, timeout }: GuardOptions): buildConnector.connector {
  const lookup: LookupFunction = (host, { all }, callback) => {
    resolve(host)
      .then((addresses) => {
        if (!allowInternal && addresses.some(isInternalAddress)) throw new InternalAddressError()
        return addresses.map((address) => ({ address, family: isIP(address) }))
      })
      .then(
        (found) => (all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family)),
        (error: NodeJS.ErrnoException) => callback(error, '', 0),
      )
  }
  const open = buildConnector({ lookup, timeout, allowH2: false, maxCachedSessions: 0 })

  return (options, callback) => {
    if (!allowInternal && isInternalHost(options.hostname)) return callback(new InternalAddressError(), null)
    open(options, (...[error, socket]) => {
      if (error) return callback(error, null)
      if (!allowInternal && isInternalAddress(socket.remoteAddress ?? '')) {
        socket.destroy()
        return callback(new InternalAddressError(), null)
      }
      callback(null, socket)
    })
  }
}

export const INTERNAL = 'The webhook URL leads to an internal address, which is never called.'
const ONLY_HTTPS = 'The webhook URL must start with https://.'

const sentences: Record<string, string> = {
  ENOTFOUND: 'The host name has no address.',
  ENODATA: 'The host name has no address.',
  EAI_AGAIN: 'The host name could not be looked up.',
  ESERVFAIL: 'The host name could not be looked up.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset.',
  EPIPE: 'The connection was reset.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
  UND_ERR_CONNECT_TIMEOUT: 'No connection came about in time.',
  ETIMEDOUT: 'No connection came about in time.',
  HPE_HEADER_OVERFLOW: 'The headers of the response are too large.',
}

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** Describes the error of a call that failed, without internal addresses. `timeout` in milliseconds. */
function failureOf(error: unknown, timeout: number): string {
  if (error instanceof InternalAddressError) return INTERNAL
  if (error instanceof Error && error.name === 'TimeoutError')
    return `The receiver did not respond within ${timeout / 1_000} seconds.`
  const code = codeOf(error)
  if (code === undefined) return 'The webhook call failed.'
  if (/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL)/.test(code)) {
    return `The TLS connection or certificate of the receiver is invalid (${code}).`
  }
  if (code === 'ECONNRESET' && error instanceof Error && error.message === 'socket hang up')
    return 'The connection was closed before a response arrived.'
  const sentence = sentences[code]
  if (sentence) return sentence
  return code.startsWith('HPE_') ? 'The response is not valid HTTP.' : `The webhook call failed (${code}).`
}

/** Describes why a response is a failure. Returns undefined for status 2xx. */
function failureOfStatus(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status < 200) return `The receiver responded with ${status}, but no protocol switch was requested.`
  if (status >= 300 && status < 400) return `The receiver responded with ${status}. Redirects are not followed.`
  return `The receiver responded with ${status}.`
}

/** Timeout of a whole attempt in milliseconds: DNS, connection, request and response. */
const TIMEOUT_MS = 15_000
const MAX_RESPONSE_BYTES = 64 * 1024
/** Maximum number of stored characters of a response. */
const MAX_EXCERPT = 1_000
/** Minimum length of a text that is removed from responses. Shorter texts occur by chance. */
const MIN_SECRET_LENGTH = 6
const REMOVED = '[removed]'

export interface WebhookSenderOptions {
  /** Allows http and internal addresses, for development. */
  allowInsecure: boolean
  /** Resolver of host names. Default: DNS, or the operating system's resolver with `allowInsecure`. */
  resolve?: Resolve
  /** Timeout of an attempt, in milliseconds. */
  timeout?: number
  tracer?: Tracer
}

/** Parses a `Retry-After` header with seconds or a date. Returns the delay in seconds. */
export function parseRetryAfter(header: string | string[] | undefined, now = Date.now()): number | undefined {
  const text = String(header ?? '').trim()
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const time = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - now) / 1_000))
}

/** Groups secrets, plain and JSON-escaped, by their first characters. Each group starts with its longest secret. */
function groupByPrefix(secrets: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const given = secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH)
  const forms = new Set(given.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))
  for (const form of [...forms].sort((one, other) => other.length - one.length)) {
    const beginning = form.slice(0, MIN_SECRET_LENGTH)
    const alike = found.get(beginning)
    if (alike) alike.push(form)
    else found.set(beginning, [form])
  }
  return found
}

/** Returns the start of a response without secrets, even truncated ones. Replaces NUL, which PostgreSQL rejects. */
function excerptOf(bytes: Uint8Array, secrets: readonly string[]): string {
  // With `stream`, the decoder omits a character that is truncated at the end.
  const text = new TextDecoder().decode(bytes, { stream: true })
  const known = groupByPrefix(secrets)
  const kept: string[] = []
  for (let at = 0; at < text.length && kept.length < MAX_EXCERPT; ) {
    const candidates = known.get(text.slice(at, at + MIN_SECRET_LENGTH))
    const isCut = (form: string) => form.length > text.length - at && form.startsWith(text.slice(at))
    const secret = candidates?.find((form) => text.startsWith(form, at) || isCut(form))
    const character = String.fromCodePoint(text.codePointAt(at)!)
    if (secret === undefined) kept.push(character === '\0' ? '\uFFFD' : character)
    else kept.push(...REMOVED)
    at += secret?.length ?? character.length
  }
  return kept.slice(0, MAX_EXCERPT).join('')
}

interface FinalResponse {
  statusCode: number
  headers: IncomingHttpHeaders
  body: AsyncIterable<Buffer> | readonly Buffer[]
}

const finalOf = ({ statusCode = 0, headers }: IncomingMessage, body: FinalResponse['body']): FinalResponse => ({
  statusCode,
  headers,
  body,
})

/** Reads at most `MAX_RESPONSE_BYTES` of a response. Returns the received bytes if it is truncated or too slow. */
async function readStart(body: FinalResponse['body']): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      chunks.push(chunk.subarray(0, MAX_RESPONSE_BYTES - size))
      size += chunk.length
      if (size >= MAX_RESPONSE_BYTES) break
    }
  } catch {
    // The response is truncated, so return the received bytes.
  }
  return Buffer.concat(chunks)
}

const headersOf = ({ id, at, body, secrets }: WebhookCall, traceparent: string | null) => ({
  'content-type': 'application/json',
  'user-agent': 'Annal-Webhooks/1.0',
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  ...(traceparent !== null && { traceparent }),
  'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
})

/**
 * Creates a webhook sender, which opens a connection for each call. The sender follows no redirects, reads at most 64 KiB
 * of a response, and returns the first characters of the response without secrets.
 */
export function createWebhookSender({
  allowInsecure,
  resolve,
  timeout = TIMEOUT_MS,
  tracer = noopTracer,
}: WebhookSenderOptions): WebhookSender {
  const connect = createGuardedConnector({
    allowInternal: allowInsecure,
    resolve: resolve ?? (allowInsecure ? resolveBySystem : resolveByDns),
    timeout,
  })

  /** Sends a call over its own connection. Skips interim responses (1xx) and reads the start of the final one. */
  async function post(call: WebhookCall, url: URL) {
    const { hostname } = urlToHttpOptions(url)
    const signal = AbortSignal.timeout(timeout)
    const request = url.protocol === 'https:' ? requestByHttps : requestByHttp
    const outgoing = request(url, {
      method: 'POST',
      headers: headersOf(call, tracer.origin()),
      signal,
      createConnection(_options, connected) {
        const { host, protocol, port } = url
        connect({ hostname: hostname!, host, protocol, port }, (...[error, socket]) => connected(error, socket!))
        return undefined
      },
    })
    try {
      const { statusCode, headers, body } = await new Promise<FinalResponse>((resolve, reject) => {
        outgoing.once('response', (response) => resolve(finalOf(response, response)))
        // The receiver switched protocols without being asked, so no response body follows.
        outgoing.once('upgrade', (response, socket) => {
          socket.destroy()
          resolve(finalOf(response, []))
        })
        outgoing.on('error', (error) => reject(signal.aborted ? signal.reason : error))
        outgoing.end(call.body)
      })
      return { statusCode, retryAfter: parseRetryAfter(headers['retry-after']), bytes: await readStart(body) }
    } finally {
      outgoing.destroy()
    }
  }

  return {
    async send(call) {
      const start = performance.now()
      const done = () => Math.round(performance.now() - start)
      try {
        const url = new URL(call.url)
        if (!allowInsecure && url.protocol !== 'https:') return { failure: ONLY_HTTPS, response: '', duration: 0 }
        if (!allowInsecure && isInternalHost(url.hostname)) return { failure: INTERNAL, response: '', duration: 0 }
        const facts = { 'http.request.method': 'POST', 'server.address': url.hostname }
        const { statusCode, retryAfter, bytes } = await tracer.span('POST', { kind: 'client', facts }, () =>
          post(call, url),
        )
        const response = excerptOf(bytes, call.redacted)
        return { statusCode, failure: failureOfStatus(statusCode), response, retryAfter, duration: done() }
      } catch (error) {
        return { failure: failureOf(error, timeout), response: '', duration: done() }
      }
    },
  }
}

/** One call of a webhook. */
export interface WebhookCall {
  url: string
  /** ID of the event, which is the same in each attempt. */
  id: string
  /** Time of the call. Receivers reject a call with a wrong time. */
  at: Date
  /** Body of the call as JSON, which is the same in each attempt. */
  body: string
  /** Secrets that sign the call. There are two during a secret rotation. */
  secrets: readonly string[]
  /** Texts to remove from the response before it is stored. */
  redacted: readonly string[]
}

/** Outcome of an attempt to call a webhook. */
export interface WebhookOutcome {
  /** HTTP status of the response. Omitted if there was no response. */
  statusCode?: number
  /** Reason of the failure, as a sentence. Omitted if the receiver accepted the event (2xx). */
  failure?: string | undefined
  /** First characters of the response. */
  response: string
  /** Delay before the next attempt that the receiver requested, in seconds. */
  retryAfter?: number | undefined
  /** Duration of the attempt, in milliseconds. */
  duration: number
  /** Error that prevented the call. */
  cause?: unknown
}

/** Calls receivers of webhooks. */
export interface WebhookSender {
  /** Makes one attempt. Returns an outcome even if the receiver fails. */
  send(call: WebhookCall): Promise<WebhookOutcome>
}

/** Outcomes not yet stored in the database, by UUID of the delivery. `before`: number of previous attempts. */
export type UnsavedOutcomes = Map<string, { before: number; outcome: WebhookOutcome }>
