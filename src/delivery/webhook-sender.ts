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
