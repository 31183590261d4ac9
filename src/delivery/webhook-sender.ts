/** Calls receivers of webhooks: signed after Standard Webhooks 1.0, and never anything but the internet outside. */
import { Webhook } from 'standardwebhooks'
import { Client } from 'undici'
import type { WebhookCall, WebhookSender } from '../domain/ports/webhooks.ts'
import { isInternalHost } from '../domain/store/internal-address.ts'
import { blindTracer, type Tracer } from '../domain/telemetry.ts'
import { createGuardedConnector, type Resolve, resolveByDns, resolveBySystem } from './guarded-connector.ts'
import { failureOf, failureOfStatus, INTERNAL, ONLY_HTTPS } from './webhook-failure.ts'

/** Milliseconds for the whole attempt: name, connection, request and answer. */
const TIMEOUT_MS = 15_000
/** Bytes of an answer that are read. */
const MAX_RESPONSE_BYTES = 64 * 1024
/** Characters of an answer that are kept. */
const MAX_EXCERPT = 1_000
/** Shorter texts are in too many answers by chance. */
const MIN_SECRET_LENGTH = 6

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

/** The start of an answer as it may be kept: text that PostgreSQL can hold, without what the call must keep to itself. */
function excerptOf(bytes: Uint8Array, secrets: readonly string[]): string {
  let text = new TextDecoder().decode(bytes)
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue
    text = text.replaceAll(secret, '[removed]').replaceAll(JSON.stringify(secret).slice(1, -1), '[removed]')
  }
  return Array.from(text.replaceAll('\0', '\uFFFD')).slice(0, MAX_EXCERPT).join('')
}

/** Reads at most `MAX_RESPONSE_BYTES` bytes. An answer that breaks off or is slow counts as far as it came: its status is known. */
async function readStart(body: AsyncIterable<Buffer>): Promise<Buffer> {
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
 * Calls receivers, each over a connection of its own: no redirects, 64 KiB of an answer at most, and of that the first
 * characters, with what must not be kept taken out.
 */
export function createWebhookSender({
  allowInsecure,
  resolve,
  timeout = TIMEOUT_MS,
  tracer = blindTracer,
}: WebhookSenderOptions): WebhookSender {
  const connect = createGuardedConnector({
    allowInternal: allowInsecure,
    resolve: resolve ?? (allowInsecure ? resolveBySystem : resolveByDns),
    timeout,
  })

  /** A connection of its own for each call: none is shared, kept or found broken. */
  async function post(call: WebhookCall, url: URL) {
    const client = new Client(url.origin, { connect, headersTimeout: 0, bodyTimeout: 0 })
    try {
      const { statusCode, headers, body } = await client.request({
        method: 'POST',
        path: url.pathname + url.search,
        headers: headersOf(call, tracer.origin()),
        body: call.body,
        signal: AbortSignal.timeout(timeout),
      })
      // It fails when it is cut, and nobody waits for that.
      body.on('error', () => undefined)
      return { statusCode, retryAfter: parseRetryAfter(headers['retry-after']), bytes: await readStart(body) }
    } finally {
      client.destroy().catch(() => undefined)
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
