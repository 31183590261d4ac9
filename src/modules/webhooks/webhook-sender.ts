/** Calls receivers of webhooks: signed after Standard Webhooks 1.0, and only at public addresses. */
import { type IncomingHttpHeaders, type IncomingMessage, request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { noopTracer, type Tracer } from '../../telemetry/telemetry-types.ts'
import { createGuardedConnector, type Resolve, resolveByDns, resolveBySystem } from './guarded-connector.ts'
import { isInternalHost } from './internal-address.ts'
import { failureOf, failureOfStatus, INTERNAL, ONLY_HTTPS } from './webhook-failure.ts'
import type { WebhookCall, WebhookSender } from './webhook-types.ts'

/** Milliseconds for the whole attempt: name, connection, request and answer. */
const TIMEOUT_MS = 15_000
/** Bytes of an answer that are read. */
const MAX_RESPONSE_BYTES = 64 * 1024
/** Characters of an answer that are kept. */
const MAX_EXCERPT = 1_000
/** Shorter texts are in too many answers by chance. */
const MIN_SECRET_LENGTH = 6
const REMOVED = '[removed]'

/** Where calls may go, and how long one may take. */
export interface WebhookSenderOptions {
  /** Development: http, and receivers on this machine or site. */
  allowInsecure: boolean
  /** Addresses of a host name. Default: by DNS alone, or, with `allowInsecure`, as the machine does. */
  resolve?: Resolve
  /** Milliseconds for the whole attempt. */
  timeout?: number
  /** Nobody follows calls when it is missing. */
  tracer?: Tracer
}

/** Seconds, from either form of the header. */
export function parseRetryAfter(header: string | string[] | undefined, now = Date.now()): number | undefined {
  const text = String(header ?? '').trim()
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const time = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - now) / 1_000))
}

/** Secrets as they are and as JSON writes them, by how they begin; of those that begin alike the longest is first. */
function byBeginning(secrets: readonly string[]): Map<string, string[]> {
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

/**
 * The start of an answer as it may be kept: text that PostgreSQL can hold, without what the call must keep to itself, also where the
 * answer breaks off in it. No more of it is looked at than is kept, however many secrets there are.
 */
function excerptOf(bytes: Uint8Array, secrets: readonly string[]): string {
  // What was cut within a character is left out.
  const text = new TextDecoder().decode(bytes, { stream: true })
  const known = byBeginning(secrets)
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

/** Reads at most `MAX_RESPONSE_BYTES` bytes. Returns what was received if the response is cut short or too slow. */
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
    // What was read is all there is.
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
 * Calls receivers, each over its own connection. Follows no redirects and reads at most 64 KiB of a response. Keeps the first
 * characters of it and removes secrets from them.
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

  /** Sends a call over its own connection and reads the start of the final response. Interim responses (1xx) are skipped. */
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
        // A switch of protocols that was not requested. Node.js hands the socket over, and no body follows.
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
