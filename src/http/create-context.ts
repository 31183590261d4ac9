import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import ipaddr from 'ipaddr.js'
import type { AppContext, Context, Identity } from '../context.ts'
import { authenticate } from '../modules/accounts/authenticate.ts'
import { validationFailed } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import type { RequestWatch } from '../telemetry/telemetry-types.ts'
import { MAX_BODY_BYTES } from './request-body.ts'

const SECRET_HEADER = /^(token|bearer)\s+(\S+)\s*$/i
const MAX_KEY_LENGTH = 255
const noCredentials = { token: undefined, apiKey: undefined }
const credentialsOf = (headers: IncomingHttpHeaders) => ({
  // A caller with an unknown authentication scheme counts as anonymous.
  token: SECRET_HEADER.exec(headers.authorization ?? '')?.[2],
  // Some apps without an API key send an empty `x-api-key` header.
  apiKey: (headers['x-api-key'] as string | undefined) || undefined,
})

const BYTES_PER_REQUEST = 100_000

/** Returns the cost against the rate limit: 1, plus 1 per 100 KB of the body. An undeclared size counts as the maximum. */
function costOf({ headers }: IncomingMessage): number {
  const declared = headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : MAX_BODY_BYTES)
  return 1 + Math.floor(Math.min(Number(declared) || 0, MAX_BODY_BYTES) / BYTES_PER_REQUEST)
}

interface ContextOptions {
  ignoresCredentials?: boolean
  /** True if the request counts against no rate limit. Then the caller is anonymous. */
  isUncounted?: boolean
  /** Throws if the caller may not send this request. Called before the request is validated. */
  admit?: (identity: Identity) => void
}

interface Dependencies {
  shared: AppContext
  logOf(res: ServerResponse): Context['requestLog']
  watch: RequestWatch
  clientAddress(req: IncomingMessage): string
  baseUrlOf(req: IncomingMessage): string
}

export const createRequestLogs = (log: Log) => (res: ServerResponse) => () =>
  log.child({ requestId: res.getHeader('X-Request-Id') })

/** The returned function throws THROTTLED, VALIDATION_FAILED, and errors of `admit`. */
export function createRequestContexts({ shared, logOf, watch, clientAddress, baseUrlOf }: Dependencies) {
  return async (
    req: IncomingMessage,
    res: ServerResponse,
    { ignoresCredentials = false, isUncounted = false, admit }: ContextOptions = {},
  ): Promise<Context> => {
    const { headers } = req
    const credentials = ignoresCredentials ? noCredentials : credentialsOf(headers)
    const address = clientAddress(req)
    const identity: Identity = isUncounted
      ? { actor: { kind: 'anonymous', address, service: undefined }, hasStaleToken: false }
      : await authenticate(shared, { ...credentials, address })
    if (identity.actor.kind === 'user') watch.identified(res, identity.actor.id)
    if (!isUncounted) await shared.requestQuota.consume(identity.actor, costOf(req))
    admit?.(identity)
    const key = headers['idempotency-key'] as string | undefined
    if (key !== undefined && (key === '' || key.length > MAX_KEY_LENGTH)) {
      throw validationFailed({ idempotencyKey: [`Expected 1 to ${MAX_KEY_LENGTH} characters.`] })
    }
    return {
      ...{ ...shared, ...identity, baseUrl: baseUrlOf(req) },
      ...{ requestLog: logOf(res), idempotency: { key, replayed: false } },
    }
  }
}

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. Fastify's `trustProxy` would keep it. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\])(?::\d+)?$/

/** Converts an IPv4-mapped IPv6 address to IPv4. Returns undefined if the text is invalid. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, v4, v6] = WITH_PORT.exec(text) ?? []
  const bare = v4 ?? v6 ?? text
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return undefined
  const address = ipaddr.process(bare)
  // The zone ID names a network interface of this machine, so it is not part of the caller's address.
  if (address instanceof ipaddr.IPv6) delete address.zoneId
  return address
}

const networkOf = (text: string): Network =>
  ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`)

/** `trustedProxies`: IP addresses and CIDR blocks. */
export function createClientAddress({ trustedProxies }: { trustedProxies: readonly string[] }) {
  const networks = trustedProxies.map(networkOf)
  const isTrusted = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
    networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))

  /** Returns the last forwarded address that is not a trusted proxy. Callers can forge all addresses before it. */
  return ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
    const remote = socket.remoteAddress ?? ''
    const forwarded = headers['x-forwarded-for']
    if (!remote.includes(':') && (networks.length === 0 || forwarded === undefined)) return remote
    let client = parseAddress(remote)
    const hops = forwarded === undefined ? [] : String(forwarded).split(',')
    while (client && hops.length && isTrusted(client)) {
      const next = parseAddress(hops.pop()!.trim())
      // The proxy forwarded an invalid address, so the proxy itself is the last known address.
      if (!next) break
      client = next
    }
    return client?.toNormalizedString() ?? remote
  }
}

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i

/** A host name that always resolves to this machine, after normalization by `URL`. */
const LOOPBACK = /^((.+\.)?localhost|\[::1\]|127(\.\d+){3})$/

/** Without a configured URL, uses a loopback Host header, because a container's port may be mapped. Clients can forge others. */
export function createBaseUrl({ configured, fallback }: { configured: string | undefined; fallback: string }) {
  return ({ headers: { host = '' } }: Pick<IncomingMessage, 'headers'>): string => {
    if (configured !== undefined) return configured
    const url = HOST.test(host) ? URL.parse(`http://${host}`) : null
    return url && LOOPBACK.test(url.hostname) ? url.origin : fallback
  }
}
