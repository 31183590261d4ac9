/** The HTTP server (node:http with Fastify as its router), and functions that send responses. */
import { createHash, randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { type AddressInfo, createServer as createListener, type Server as Listener } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { DomainError, type ErrorCode } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import { systemReason } from '../shared/operator-errors.ts'
import {
  abortByReset,
  closeSlowReaders,
  createDropLogger,
  discardRest,
  maxConnections,
  type SlowReaderOptions,
  slowReaderDefaults,
} from './connections.ts'
import { presentError } from './error-status.ts'

type AddRoutes = (app: FastifyInstance) => void

/** Time limits for receiving a request and its headers, and the interval of checking them, in milliseconds. */
const requestTimeouts = { request: 300_000, headers: 30_000, checkEvery: 30_000 }
const KEEP_ALIVE_TIMEOUT_MS = 72_000
const CLOSE_IDLE_EVERY_MS = 50

/** Maximum characters of a path parameter. A CID in base 2 has 289. */
const MAX_PARAM_LENGTH = 512

export type HttpServer = ReturnType<typeof createHttpServer>

/** Mailed links contain secrets, so Referer is off. `@fastify/helmet` skips some responses (security-headers.test.ts). */
const securityHeaders = (isSecure: boolean) => ({
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  ...(isSecure && { 'Strict-Transport-Security': 'max-age=31536000' }),
})

export interface RequestTelemetry {
  /** Calls `handle`, records the request when its response ends, and returns the result of `handle`. */
  serve(req: IncomingMessage, res: ServerResponse, handle: () => unknown): unknown
  refused(res: ServerResponse, code: ErrorCode): void
  /** Records a request that timed out or could not be parsed. `response` is set if its headers arrived. */
  rejected(request: { requestId: string; status: number; code: ErrorCode; response: ServerResponse | undefined }): void
}

const noopTelemetry: RequestTelemetry = {
  serve: (_req, _res, handle) => handle(),
  refused() {},
  rejected() {},
}

/** A caller may choose a UUID as request ID. It is logged, and any other text could be a secret. */
const SAFE_REQUEST_ID = /^[\da-f]{8}(-?)([\da-f]{4}\1){3}[\da-f]{12}$/i

const requestIdOf = ({ headers }: IncomingMessage) => {
  const given = headers['x-request-id']
  return typeof given === 'string' && SAFE_REQUEST_ID.test(given) ? given : randomUUID()
}

interface HttpServerOptions {
  log: Log
  publicUrl?: string | undefined
  slowReaders?: SlowReaderOptions
  connections?: number
  telemetry?: RequestTelemetry | undefined
  timeouts?: typeof requestTimeouts
}

/** Error codes of a machine without IPv6. */
const NO_IPV6 = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']

/** Prevents a cache from sending the response to a malformed request to other callers. */
const notCached = { 'Cache-Control': 'no-store' }

const parserErrors: Record<string, ConstructorParameters<typeof DomainError>> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers of the request are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PAYLOAD_TOO_LARGE', 'The chunk extensions of the request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
}
const notHttp: ConstructorParameters<typeof DomainError> = ['PARSE_ERROR', 'The request is not valid HTTP.']

const isHost = (host: string | undefined) =>
  host === '' || (host !== undefined && /^[^\s/?#@\\]+$/.test(host) && URL.canParse(`http://${host}`))

/** A proxy and this server could choose different ones of several Host headers (RFC 9112). */
const hasTwoHosts = ({ rawHeaders }: IncomingMessage) =>
  rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length > 1

const isAddressed = (req: IncomingMessage) =>
  !hasTwoHosts(req) && (isHost(req.headers.host) || (req.headers.host === undefined && req.httpVersion === '1.0'))

/** Clients of proxies send scheme and host in the request target. */
const ABSOLUTE = /^https?:\/\/[^/?#]+/i

/** Returns path and query of a request target (RFC 9112, section 3.2), or undefined without a path. */
function targetOf({ method, url = '/' }: IncomingMessage): string | undefined {
  if (url.startsWith('/') || (url === '*' && method === 'OPTIONS')) return url
  if (!ABSOLUTE.test(url)) return undefined
  const target = url.replace(ABSOLUTE, '')
  return target.startsWith('/') ? target : `/${target}`
}

const UNENCODED_SCHEME = /^([^?]*)\/ipfs:\/\//i

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

export function createHttpServer(options: HttpServerOptions) {
  const { log, publicUrl, slowReaders = slowReaderDefaults, telemetry = noopTelemetry } = options
  const { connections = maxConnections(), timeouts = requestTimeouts } = options
  const headers = securityHeaders(publicUrl?.startsWith('https://') ?? false)
  const headerList = Object.entries(headers)
  let app: FastifyInstance | undefined
  let route: RequestListener = (_req, res) =>
    refuse(res, new DomainError('UNAVAILABLE', 'The service is starting.', { retryAfter: 2 }))
  let endsConnections = false

  function present(error: DomainError) {
    const { status, headers, body } = presentError(error)
    const text = JSON.stringify(body)
    const described = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
    return { status, text, headers: { ...described, Connection: 'close', ...notCached, ...headers } }
  }

  function refuse(res: ServerResponse, error: DomainError) {
    telemetry.refused(res, error.code)
    const { status, headers, text } = present(error)
    res.writeHead(status, headers).end(text)
  }

  const receive = (req: IncomingMessage, res: ServerResponse) => {
    // The HTTP parser processes its buffered bytes even after the connection is destroyed.
    if (req.socket.destroyed) return
    const target = targetOf(req)
    req.url = target ?? '/'
    res.setHeader('X-Request-Id', requestIdOf(req))
    for (const [name, value] of headerList) res.setHeader(name, value)
    if (endsConnections) res.setHeader('Connection', 'close')
    if (hasBody(req)) discardRest(req, res)
    if (req.httpVersion === '1.0') abortByReset(req, res)
    const isHttp = target !== undefined && isAddressed(req)
    telemetry.serve(req, res, () => (isHttp ? route(req, res) : refuse(res, new DomainError(...notHttp))))
  }

  const server = createServer(
    {
      requestTimeout: timeouts.request,
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: timeouts.checkEvery,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      noDelay: true,
      // Node's own check of the Host header would respond without an error body.
      requireHostHeader: false,
    },
    receive,
  )
  const { currentResponse } = closeSlowReaders(server, log, slowReaders)
  const emitRequest: RequestListener = (req, res) => void server.emit('request', req, res)
  // Sends 100 Continue when a handler starts to read the body. A rejected request gets no 100 Continue.
  server.on('checkContinue', (req, res) => {
    req.once('resume', () => {
      if (!res.headersSent) res.writeContinue()
    })
    emitRequest(req, res)
  })
  // RFC 9110 allows a server to ignore an unknown value of the `Expect` header.
  server.on('checkExpectation', emitRequest)

  /** Sends previous responses first. Otherwise, the client would treat the error as the response to one of them. */
  function rejectUnreadable(socket: Duplex, error: DomainError, isHead: boolean) {
    const current = currentResponse(socket)
    if (!socket.writable) return void socket.destroy()
    if (current?.req.complete) return void current.once('close', () => rejectUnreadable(socket, error, isHead))
    if (current?.headersSent) return void socket.destroy()
    const { status, text, headers: errorHeaders } = present(error)
    const requestId = current ? String(current.getHeader('X-Request-Id')) : randomUUID()
    const allHeaders = { ...headers, ...errorHeaders, 'X-Request-Id': requestId }
    const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${isHead ? '' : text}`)
    telemetry.rejected({ requestId, status, code: error.code, response: current })
  }
  const unreadable = new WeakSet<Duplex>()
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    // After an error, the HTTP parser reports the same connection again for each further byte.
    if (unreadable.has(socket) && socket.writable) return
    unreadable.add(socket)
    const isHead = error.rawPacket?.subarray(0, 5).toString('latin1') === 'HEAD '
    rejectUnreadable(socket, new DomainError(...(parserErrors[error.code ?? ''] ?? notHttp)), isHead)
  })

  async function createRouter(addRoutes: AddRoutes): Promise<FastifyInstance> {
    // Commands import functions of this file without loading Fastify.
    const { fastify } = await import('fastify')
    const router = fastify({
      serverFactory: () => server,
      clientErrorHandler: () => undefined,
      exposeHeadRoutes: false,
      // During a graceful shutdown, requests on open connections still get their responses.
      return503OnClosing: false,
      routerOptions: {
        ignoreTrailingSlash: true,
        maxParamLength: MAX_PARAM_LENGTH,
        querystringParser: (text) => text as never,
      },
      rewriteUrl: ({ url = '/' }) => (url.includes('://') ? url.replace(UNENCODED_SCHEME, '$1/') : url),
      // Fastify calls this for a path that cannot be decoded, or that has a parameter that is too long.
      frameworkErrors(_error, { raw: req }, { raw: res }) {
        req.url = '/not-found'
        router.routing(req, res)
      },
    })
    router.removeAllContentTypeParsers()
    router.addContentTypeParser('*', (_request, _payload, done) => done(null))
    addRoutes(router)
    await router.ready()
    return router
  }

  const listeners: Listener[] = []
  const logDrop = createDropLogger(log, connections)
  const listenAt = (port: number, address: string, variable: string) =>
    new Promise<number>((resolve, reject) => {
      const isFirst = listeners.length === 0
      const next = isFirst ? server : createListener({ noDelay: true }, (socket) => server.emit('connection', socket))
      const listener = Object.assign(next, { maxConnections: connections }).on('drop', logDrop)
      listener.once('error', (error: NodeJS.ErrnoException) => {
        const inUse = `Another program uses port ${port} of ${address}. Stop it, or set ${variable} to another port.`
        const other = `Annal cannot listen on port ${port} of ${address}: ${systemReason(error)}. Set HOST to an address of this machine, and ${variable} to a port that this user may use.`
        reject(new Error(error.code === 'EADDRINUSE' ? inUse : other, { cause: error }))
      })
      listener.listen(port, address, () => resolve((listener.address() as AddressInfo).port))
      listeners.push(listener)
    })

  return {
    /** `localhost` means both loopback addresses. Throws an Error that names the environment variable `variable`. */
    async listen(port: number, host: string, variable = 'PORT'): Promise<number> {
      if (host !== 'localhost') return listenAt(port, host, variable)
      // For `localhost`, Node would listen on only one of the two loopback addresses.
      const boundPort = await listenAt(port, '127.0.0.1', variable)
      await listenAt(boundPort, '::1', variable).catch((error: Error) => {
        const { code = '' } = error.cause as NodeJS.ErrnoException
        // For port 0, the system chose a free port for IPv4 only. Another program may use that port for IPv6.
        if (!NO_IPV6.includes(code) && !(port === 0 && code === 'EADDRINUSE')) throw error
      })
      return boundPort
    },
    async serve(addRoutes: AddRoutes): Promise<void> {
      app = await createRouter(addRoutes)
      route = app.routing
    },
    /** Closes each connection after its next response, so that `drain` finds no idle connections. */
    endConnections(): void {
      endsConnections = true
    },
    /** Stops accepting connections, waits at most `milliseconds` for open requests, then closes the server. */
    async drain(milliseconds: number): Promise<void> {
      endsConnections = true
      const closed = Promise.all(listeners.map((each) => new Promise<void>((resolve) => each.close(() => resolve()))))
      // A connection is not idle immediately after its response, so idle connections are closed repeatedly.
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), milliseconds)
      await Promise.all([app?.close(), closed])
      clearInterval(idle)
      clearTimeout(timer)
    },
  }
}

/** Adds a route whose handler reads the request and writes the response. If the handler throws, the connection is closed. */
export function addRawRoute(
  app: FastifyInstance,
  url: string,
  handle: (req: IncomingMessage, res: ServerResponse) => Promise<unknown>,
  logOf: (res: ServerResponse) => () => Log,
): void {
  app.all(url, {
    // A hook with a third parameter makes Fastify wait for a call of `_done`, which never happens.
    onRequest({ raw: req }, reply, _done) {
      const { raw: res } = reply.hijack()
      handle(req, res).catch((error: unknown) => {
        logOf(res)().error({ err: error }, 'Request handler failed; connection closed')
        res.destroy()
      })
    },
    handler: () => undefined,
  })
}

/** CORS headers that permit calls from any origin. This is safe because the API reads credentials only from headers. */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, Idempotency-Replayed, Retry-After, X-Request-Id',
}

export const uncachedHeaders = { 'Cache-Control': 'private, no-cache' }

/** Sends JSON text as bytes. For a string, Fastify would add a charset to the Content-Type. */
export const sendJsonText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.headers({ ...corsHeaders, 'Content-Type': 'application/json', ...uncachedHeaders }).send(Buffer.from(text))

export const sendJson = (reply: FastifyReply, body: object): FastifyReply => sendJsonText(reply, JSON.stringify(body))

export const sendPage = (
  reply: FastifyReply,
  { status, headers, html }: { status: number; headers: Record<string, string>; html: string },
): FastifyReply => reply.code(status).headers(headers).send(html)

/** Streams a body. Throws the error of a part. The caller must then abort the connection, so that the body looks incomplete. */
export async function sendParts(
  req: IncomingMessage,
  res: ServerResponse,
  parts: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  await pipeline(Readable.from(parts, { highWaterMark: 1 }), res).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  })
}

export function sendDownload(
  req: IncomingMessage,
  res: ServerResponse,
  { name, mediaType, content }: { name: string; mediaType: string; content: AsyncIterable<string | Uint8Array> },
): Promise<void> {
  res.writeHead(200, {
    ...corsHeaders,
    'Content-Type': mediaType,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'no-store',
  })
  return sendParts(req, res, content)
}

/** Returns whether `If-None-Match` contains this entity tag, by weak comparison (RFC 9110). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  const bare = (tag: string) => tag.trim().replace(/^W\//, '')
  return header?.split(',').some((tag) => tag.trim() === '*' || bare(tag) === bare(etag)) ?? false
}

/** Compresses a static file once. `@fastify/compress` would compress each response, such as 9 MB of scripts. */
export async function prepareFile(bytes: Buffer) {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { bytes, zipped: await promisify(gzip)(bytes), etag }
}

const ACCEPTS_GZIP = /(?:^|,)\s*gzip\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)/i

export function sendStaticFile(
  req: IncomingMessage,
  res: ServerResponse,
  { bytes, zipped, etag }: Awaited<ReturnType<typeof prepareFile>>,
  { Vary, ...headers }: OutgoingHttpHeaders,
): void {
  const common = { ...headers, ETag: etag, Vary: [Vary, 'Accept-Encoding'].filter(Boolean).join(', ') }
  if (matchesEtag(req.headers['if-none-match'], etag)) {
    res.writeHead(304, common).end()
    return
  }
  const isZipped = ACCEPTS_GZIP.test(String(req.headers['accept-encoding'] ?? ''))
  const body = isZipped ? zipped : bytes
  res.writeHead(200, { ...common, ...(isZipped && { 'Content-Encoding': 'gzip' }), 'Content-Length': body.length })
  res.end(req.method === 'HEAD' ? undefined : body)
}
