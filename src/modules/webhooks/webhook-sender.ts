/** Calls webhooks. Calls are signed according to Standard Webhooks 1.0 and are sent only to public addresses. */
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { type IncomingMessage, request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import ipaddr from 'ipaddr.js'
import { Webhook } from 'standardwebhooks'
import { buildConnector } from 'undici'
import { trimEnd } from '../../shared/text.ts'
import { noopTracer, type Tracer } from '../../telemetry/telemetry-types.ts'

export type Resolve = (host: string) => Promise<string[]>

export class InternalAddressError extends Error {
  override readonly name = 'InternalAddressError'
}

const DNS_TIMEOUT_MS = 3_000

/** Resolves a host name by DNS. Unlike `lookup`, it blocks no thread of the process while a name server hangs. */
export const resolveByDns: Resolve = async (host) => {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 })
  const results = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  if (addresses.length) return addresses
  throw results.find((result) => result.status === 'rejected')?.reason
}

/** Resolves a host name as the operating system does, including its hosts file. */
export const resolveBySystem: Resolve = async (host) =>
  (await systemLookup(host, { all: true })).map(({ address }) => address)

/**
 * Returns a function that opens sockets. It rejects internal addresses with InternalAddressError unless allowed.
 * `timeout`: time until the connection is open, in milliseconds.
 */
export function createGuardedConnector(allowInternal: boolean, resolve: Resolve, timeout: number) {
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

  const connect: buildConnector.connector = (options, callback) => {
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
  return connect
}

export const INTERNAL = 'The webhook URL leads to an internal address, which is never called.'
const ONLY_HTTPS = 'The webhook URL must start with https://.'

const sentences: Record<string, string> = {
  ENOTFOUND: 'The host name has no address.',
  ENODATA: 'The host name has no address.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset.',
  UND_ERR_CONNECT_TIMEOUT: 'The connection timed out.',
  ETIMEDOUT: 'The connection timed out.',
}

/** Describes the error of a call that failed, without internal addresses. `timeout` in milliseconds. */
function failureOf(error: unknown, timeout: number): string {
  const { name, message, code }: NodeJS.ErrnoException = error instanceof Error ? error : new Error()
  if (error instanceof InternalAddressError) return INTERNAL
  if (name === 'TimeoutError') return `The receiver did not respond within ${timeout / 1_000} seconds.`
  if (typeof code !== 'string') return 'The webhook call failed.'
  if (/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL)/.test(code))
    return `The TLS connection or certificate of the receiver is invalid (${code}).`
  if (message === 'socket hang up') return 'The connection was closed before a response arrived.'
  if (code.startsWith('HPE_')) return `The response is not valid HTTP (${code}).`
  return sentences[code] ?? `The webhook call failed (${code}).`
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

/** Parses a `Retry-After` header with seconds or a date. Returns the delay in seconds. */
export function parseRetryAfter(header: string | string[] | undefined, now = Date.now()): number | undefined {
  const text = String(header ?? '').trim()
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const time = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - now) / 1_000))
}

/** Groups secrets, plain and JSON-escaped, by their first characters. Each group starts with its longest secret. */
function groupByPrefix(secrets: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  const long = secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH)
  const forms = new Set(long.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))
  for (const form of [...forms].sort((one, other) => other.length - one.length)) {
    const prefix = form.slice(0, MIN_SECRET_LENGTH)
    groups.set(prefix, [...(groups.get(prefix) ?? []), form])
  }
  return groups
}

/** Returns the start of a response without secrets, even truncated ones. Replaces NUL, which PostgreSQL rejects. */
function excerptOf(bytes: Uint8Array, secrets: readonly string[]): string {
  // With `stream`, the decoder omits a character that is truncated at the end.
  const text = new TextDecoder().decode(bytes, { stream: true })
  const known = groupByPrefix(secrets)
  const characters: string[] = []
  for (let at = 0; at < text.length && characters.length < MAX_EXCERPT; ) {
    const candidates = known.get(text.slice(at, at + MIN_SECRET_LENGTH))
    const isCut = (form: string) => form.length > text.length - at && form.startsWith(text.slice(at))
    const secret = candidates?.find((form) => text.startsWith(form, at) || isCut(form))
    const character = String.fromCodePoint(text.codePointAt(at)!)
    if (secret === undefined) characters.push(character === '\0' ? '\uFFFD' : character)
    else characters.push(...REMOVED)
    at += secret?.length ?? character.length
  }
  return characters.slice(0, MAX_EXCERPT).join('')
}

type Body = AsyncIterable<Buffer> | readonly Buffer[]

/** Reads at most `MAX_RESPONSE_BYTES` of a response. Returns the received bytes if it is truncated or too slow. */
async function readStart(body: Body): Promise<Buffer> {
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

interface SenderOptions {
  /** Allows http and internal addresses, for development. */
  allowInsecure: boolean
  resolve?: Resolve
  /** Timeout of an attempt, in milliseconds. */
  timeout?: number
  tracer?: Tracer
}

export type WebhookSender = ReturnType<typeof createWebhookSender>

/** Creates a webhook sender, which opens a connection for each call and follows no redirects. */
export function createWebhookSender({ timeout = TIMEOUT_MS, tracer = noopTracer, ...options }: SenderOptions) {
  const { allowInsecure, resolve = allowInsecure ? resolveBySystem : resolveByDns } = options
  const connect = createGuardedConnector(allowInsecure, resolve, timeout)

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
      const [{ statusCode = 0, headers }, body] = await new Promise<[IncomingMessage, Body]>((resolve, reject) => {
        outgoing.once('response', (response) => resolve([response, response]))
        // After an unrequested protocol switch, no response body follows.
        outgoing.once('upgrade', (response, socket) => {
          socket.destroy()
          resolve([response, []])
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
    /** Makes one attempt. Returns an outcome even if the receiver fails. */
    async send(call: WebhookCall): Promise<WebhookOutcome> {
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

export interface WebhookCall {
  url: string
  /** ID of the event, which is the same in each attempt. */
  id: string
  /** Time of the call. Receivers reject a call with a wrong time. */
  at: Date
  /** JSON, the same in each attempt. */
  body: string
  /** Secrets that sign the call. There are two during a secret rotation. */
  secrets: readonly string[]
  /** Texts to remove from the response before it is stored. */
  redacted: readonly string[]
}

export interface WebhookOutcome {
  /** HTTP status of the response. Omitted if there was no response. */
  statusCode?: number | undefined
  /** Reason of the failure, as a sentence. Omitted if the receiver accepted the event (2xx). */
  failure?: string | undefined
  response: string
  /** Delay before the next attempt that the receiver requested, in seconds. */
  retryAfter?: number | undefined
  /** In milliseconds. */
  duration: number
  /** Error that prevented the call. */
  cause?: unknown
}

/** Outcomes not yet stored in the database, by UUID of the delivery. `before`: number of previous attempts. */
export type UnsavedOutcomes = Map<string, { before: number; outcome: WebhookOutcome }>

/** Public IPv6 addresses, without those that embed an IPv4 address (mapped, compatible, NAT64). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** Addresses of cloud metadata services that look public: Azure. */
const CLOUD = new Set(['168.63.129.16'])

/** Returns true unless the text is a public IP address. */
export function isInternalAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return true
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv6) {
    if (address.isIPv4MappedAddress()) return isInternalAddress(address.toIPv4Address().toString())
    return !address.match(GLOBAL_IPV6) || address.range() !== 'unicast'
  }
  return address.range() !== 'unicast' || CLOUD.has(address.toString())
}

/** Matches local host names: RFC 6761, 6762 and 8375, ICANN's `.internal`, and common names of routers. */
const INTERNAL_NAME =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|localnet|home\.arpa|in-addr\.arpa|ip6\.arpa|onion|test|invalid)$/
/** Matches public host names of cloud metadata services. */
const METADATA_NAME = /^(metadata|instance-data|metadata-service)\./

/** Returns true if a host is internal. `host`: address or name, normalized by the WHATWG URL parser. */
export function isInternalHost(host: string): boolean {
  const name = trimEnd(host.replace(/^\[(.*)\]$/, '$1'), '.')
  if (ipaddr.isValid(name)) return isInternalAddress(name)
  // A name without a dot is internal, because the DNS search list of the machine completes it.
  return !name.includes('.') || INTERNAL_NAME.test(name) || METADATA_NAME.test(name)
}

const MAX_URL_LENGTH = 2048
/** Lowest permitted port other than 443. Lower ports belong to other services, such as SSH or SMTP. */
const FIRST_FREE_PORT = 1024

/**
 * Returns the problem of a webhook URL as a sentence, or undefined if it is valid. `allowInsecure`: allows http and
 * internal addresses, for development.
 */
export function webhookUrlProblem(url: string, { allowInsecure }: { allowInsecure: boolean }): string | undefined {
  if (url.length > MAX_URL_LENGTH) return `Ensure this field has no more than ${MAX_URL_LENGTH} characters.`
  // URL parsers remove or change white space and control characters.
  if (/[\s\p{Cc}\p{Cf}\\]/u.test(url) || !URL.canParse(url)) return 'Enter a valid URL.'
  const { protocol, hostname, port, username, password } = new URL(url)
  if (protocol !== 'https:' && !(allowInsecure && protocol === 'http:')) return 'Enter a URL that starts with https://.'
  if (username || password) return 'A webhook URL must not contain credentials.'
  if (allowInsecure) return port === '0' ? 'A webhook URL must not use port 0.' : undefined
  if (isInternalHost(hostname)) return 'A webhook URL must not lead to an internal address.'
  // The URL parser removes the default port.
  if (port && Number(port) < FIRST_FREE_PORT) return `Use port 443, or a port from ${FIRST_FREE_PORT} on.`
  return undefined
}
