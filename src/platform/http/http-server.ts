/** The HTTP server: hands each request to the first handler that matches its path, and drains before it closes. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { type AddressInfo, createServer as createListener, type Server as Listener } from 'node:net'
import type { Duplex } from 'node:stream'
import { DomainError, type ErrorCode } from '../../domain/errors.ts'
import type { Log } from '../../domain/ports/log.ts'
import { systemReason } from '../system-reason.ts'
import { BoundedRequest } from './bounded-request.ts'
import { createDropLogger, mostConnections } from './most-connections.ts'
import { cutSlowReaders, type SlowReaderOptions, slowReaderDefaults } from './slow-readers.ts'

/** What answers some of the paths. */
export interface HttpHandler {
  /** Whether a request for a path, without its query, is this door's. */
  matches(path: string, req: IncomingMessage): boolean
  handle(req: IncomingMessage, res: ServerResponse): unknown
  /** Ends answers that would go on for ever. */
  drain?(): void
}

/** Time limits of a request, in milliseconds. */
export interface RequestTimeouts {
  /** For the whole request. */
  request: number
  headers: number
  /** Interval between two checks of all connections. */
  checkEvery: number
}

const requestTimeouts: RequestTimeouts = { request: 300_000, headers: 30_000, checkEvery: 30_000 }
const KEEP_ALIVE_TIMEOUT_MS = 72_000
const CLOSE_IDLE_EVERY_MS = 50

/** Milliseconds in which a refused caller may go on sending, to nowhere: whoever is cut off at once never reads why. */
const LINGER_MS = 30_000

/** The HTTP server of the process. */
export interface HttpServer {
  /**
   * Listens at a port and returns it. The host `localhost` means both loopback addresses, IPv4 and IPv6. May be called again for another port: each
   * has its own queue of connections. Raises an Error that names `variable` when the port is taken.
   */
  listen(port: number, host: string, variable?: string): Promise<number>
  /** From now on each answer ends its connection, so that callers have none left by the time of `drain`. */
  endConnections(): void
  /** Takes no new requests, waits for those under way at most `milliseconds`, then closes. */
  drain(milliseconds: number): Promise<void>
}

/** A year, in seconds. */
const HSTS_AGE_SECONDS = 31_536_000

/**
 * On every answer. Images and data are shown on pages of other origins, so they may be loaded from there; what is private
 * asks for credentials that no browser sends by itself. Links in mails carry secrets, so no address is passed on.
 */
const securityHeaders = (isSecure: boolean): [string, string][] => [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ...(isSecure ? [['Strict-Transport-Security', `max-age=${HSTS_AGE_SECONDS}`] as [string, string]] : []),
]

/** An error as it is sent. */
export interface ErrorAnswer {
  status: number
  headers: Record<string, string>
  body: object
}

/** A request that the server answers without a handler, because it could not be parsed or did not arrive in time. */
export interface RejectedRequest {
  requestId: string
  status: number
  code: ErrorCode
  /** The response of the request, if its headers arrived. */
  answer: ServerResponse | undefined
}

/** Follows requests for metrics, traces and the log. */
export interface RequestTelemetry {
  /** Calls `answer` and follows the request to the end of its response. Returns the result of `answer`. */
  serve(req: IncomingMessage, res: ServerResponse, answer: () => unknown): unknown
  /** Sets the code with which the server itself answers a request. */
  refused(res: ServerResponse, code: ErrorCode): void
  rejected(request: RejectedRequest): void
}

const followingNothing: RequestTelemetry = {
  serve: (_req, _res, answer) => answer(),
  refused() {},
  rejected() {},
}

/** A caller's own request ID is logged, so it is used only if it is a UUID or 32 hex digits. Other text may be a misplaced secret. */
const SAFE_REQUEST_ID = /^[\da-f]{8}(-?)([\da-f]{4}\1){3}[\da-f]{12}$/i

const requestIdOf = ({ headers }: IncomingMessage) => {
  const given = headers['x-request-id']
  return typeof given === 'string' && SAFE_REQUEST_ID.test(given) ? given : randomUUID()
}

/** What answers requests, and how errors are told that nobody else sees. */
export interface HttpServerOptions {
  handlers: HttpHandler[]
  /** The error body of the service, for requests that no door ever sees. */
  presentError: (error: DomainError) => ErrorAnswer
  log: Log
  /** Where callers reach the service, if that is known. */
  publicUrl?: string | undefined
  slowReaders?: SlowReaderOptions
  /** Connections that are open at one port at most; above them one is closed as it comes. */
  connections?: number
  telemetry?: RequestTelemetry | undefined
  timeouts?: RequestTimeouts
}

/** The addresses of `localhost`. Node listens at only one of them, and a client may prefer the other. */
const LOOPBACK = { ipv4: '127.0.0.1', ipv6: '::1' } as const

/** Error codes of a machine without IPv6. */
const withoutIpv6 = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

const starting = () => new DomainError('UNAVAILABLE', 'The service is starting.', { retryAfter: 2 })

/** A cache that takes the answer to one caller's broken request for that of the address would show it to everybody. */
const keptByNobody = { 'Cache-Control': 'no-store' }

/** What Node's parser refuses by itself. Everything else it finds is no HTTP. */
const parserErrors: Record<string, ConstructorParameters<typeof DomainError>> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers of the request are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PAYLOAD_TOO_LARGE', 'The chunk extensions of the request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
}
const noHttp: ConstructorParameters<typeof DomainError> = ['PARSE_ERROR', 'The request is not valid HTTP.']

/** A host and perhaps a port, or nothing. Others would end up in addresses that nobody can read. */
const isHost = (host: string | undefined) =>
  host === '' || (host !== undefined && /^[^\s/?#@\\]+$/.test(host) && URL.canParse(`http://${host}`))

const HOST = /^host$/i

/** One header at most: a proxy may go by another one than we (RFC 9112, section 3.2). */
const hasTwoHosts = ({ rawHeaders }: IncomingMessage) =>
  rawHeaders.filter((name, index) => index % 2 === 0 && HOST.test(name)).length > 1

/** Whose service it is that is asked is known to us: what a request says of it is looked at, and counts for nothing. */
const isAddressed = (req: IncomingMessage) =>
  !hasTwoHosts(req) && (isHost(req.headers.host) || (req.headers.host === undefined && req.httpVersion === '1.0'))

/** The target of a request, as senders to a proxy write it. */
const ABSOLUTE = /^https?:\/\/[^/?#]+/i

/**
 * What is asked for as path and query, in whichever form (RFC 9112, section 3.2): everybody behind this goes by them alone. Undefined for
 * what names nothing here.
 */
function targetOf({ method, url = '/' }: IncomingMessage): string | undefined {
  if (url.startsWith('/') || (url === '*' && method === 'OPTIONS')) return url
  if (!ABSOLUTE.test(url)) return undefined
  const target = url.replace(ABSOLUTE, '')
  return target.startsWith('/') ? target : `/${target}`
}

/** As far as it can be seen: the method of a request that could not be read. */
const asksForHead = ({ rawPacket }: { rawPacket?: Buffer }) => rawPacket?.subarray(0, 5).toString('latin1') === 'HEAD '

/** The response that a connection is working on. */
const currentAnswer = (socket: Duplex) => (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage

/**
 * Sends an error response on a connection whose request could not be read, unless a response to it has begun. Requests before it
 * are answered first: otherwise their caller would take the error for the response to one of them. Calls `sent` with the request ID
 * and, if the headers of the request arrived, its response.
 */
function answerBare(
  socket: Duplex,
  answer: ErrorAnswer,
  isHead: boolean,
  sent: (requestId: string, res: ServerResponse | undefined) => void,
) {
  const current = currentAnswer(socket)
  if (!socket.writable) return void socket.destroy()
  if (current?.req.complete) return void current.once('close', () => answerBare(socket, answer, isHead, sent))
  if (current?.headersSent) return void socket.destroy()
  const { status, headers, body } = answer
  const text = JSON.stringify(body)
  const requestId = current ? String(current.getHeader('X-Request-Id')) : randomUUID()
  const lines = Object.entries({
    ...headers,
    ...keptByNobody,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'X-Request-Id': requestId,
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${isHead ? '' : text}`)
  sent(requestId, current ?? undefined)
}

/**
 * What is left of a body that nobody wants any more is read to nowhere, for a while; nothing of one in too many pieces. A connection that
 * ends with its answer (`Connection: close`, HTTP/1.0, a drain) is half closed until then: Node would close it at once, and what
 * the caller still sends would have the answer thrown away.
 */
function drainRest(req: IncomingMessage, res: ServerResponse) {
  // Whoever reads it refuses it; one that nobody reads has no other end.
  req.once('excess', () => {
    if (res.headersSent) req.socket.destroy()
  })
  // Before Node, who ends the connection when it hears of it.
  res.prependOnceListener('finish', () => {
    if (req.complete) return
    req.resume()
    const { socket } = req
    const close = socket.destroySoon
    let ends = false
    socket.destroySoon = () => {
      ends = true
      socket.end()
    }
    const timer = setTimeout(() => socket.destroy(), LINGER_MS)
    const forget = () => {
      clearTimeout(timer)
      socket.off('close', forget)
      socket.destroySoon = close
      if (ends) close.call(socket)
    }
    // Once it is answered, a request is not told when its connection ends.
    req.once('close', forget)
    socket.once('close', forget)
  })
}

/**
 * Whoever reads by HTTP/1.0, as nginx does unless it is told otherwise, takes the end of the connection for that of an answer whose length is not told. So
 * one that is broken off ends its connection with a reset, which nobody takes for its end.
 */
function breakOffLoudly({ httpVersion, socket }: IncomingMessage, res: ServerResponse) {
  if (httpVersion !== '1.0') return
  const { destroy } = socket
  socket.destroy = (error) => {
    socket.destroy = destroy
    return res.headersSent && !res.writableFinished ? socket.resetAndDestroy() : destroy.call(socket, error)
  }
  res.once('finish', () => {
    socket.destroy = destroy
  })
}

/**
 * Of an answer that waits behind another one on its connection, keeps what was written before its head in front of it: Node puts the head of one
 * whose body is bytes before all that waits, and so a `100 Continue` between the two.
 */
function keepHeadBehind(res: ServerResponse) {
  const { writeHead } = res
  res.writeHead = ((...given: Parameters<typeof writeHead>) => {
    writeHead.apply(res, given)
    res.flushHeaders()
    return res
  }) as typeof writeHead
}

/**
 * A server that listens to nothing yet. Paths that nothing answers are told that the service is starting; what an answer
 * raises cuts the connection and is logged.
 */
export function createHttpServer({
  handlers,
  presentError,
  log,
  publicUrl,
  slowReaders = slowReaderDefaults,
  connections = mostConnections(),
  telemetry = followingNothing,
  timeouts = requestTimeouts,
}: HttpServerOptions): HttpServer {
  const headers = securityHeaders(publicUrl?.startsWith('https://') ?? false)
  let endsConnections = false
  const answer = (req: IncomingMessage, res: ServerResponse, path: string, isHttp: boolean): unknown => {
    const handler = handlers.find((candidate) => candidate.matches(path, req))
    if (handler && isHttp) return handler.handle(req, res)
    const error = isHttp ? starting() : new DomainError(...noHttp)
    telemetry.refused(res, error.code)
    const { status, headers, body } = presentError(error)
    const text = JSON.stringify(body)
    const length = Buffer.byteLength(text)
    const type = 'application/json'
    const told = { ...keptByNobody, ...headers }
    return res
      .writeHead(status, { 'Content-Type': type, 'Content-Length': length, Connection: 'close', ...told })
      .end(text)
  }
  const serve = (req: IncomingMessage, res: ServerResponse) => {
    // The parser goes on with what it has read when the connection is cut.
    if (req.socket.destroyed) return
    const target = targetOf(req)
    const url = target ?? '/'
    req.url = url
    const isHttp = target !== undefined && isAddressed(req)
    const end = url.indexOf('?')
    const path = end < 0 ? url : url.slice(0, end)
    res.setHeader('X-Request-Id', requestIdOf(req))
    for (const [name, value] of headers) res.setHeader(name, value)
    if (endsConnections) res.setHeader('Connection', 'close')
    drainRest(req, res)
    breakOffLoudly(req, res)
    void Promise.resolve(telemetry.serve(req, res, () => answer(req, res, path, isHttp))).catch((error: unknown) => {
      log.error({ err: error, requestId: res.getHeader('X-Request-Id') }, 'Request handler failed; connection closed')
      res.destroy()
    })
  }
  const server = createServer(
    {
      requestTimeout: timeouts.request,
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: timeouts.checkEvery,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      noDelay: true,
      IncomingMessage: BoundedRequest,
      // Node would answer without a body.
      requireHostHeader: false,
    },
    serve,
  )
  cutSlowReaders(server, log, slowReaders)
  // Whoever watches requests hears of those with an expectation as of all others.
  const receive = (req: IncomingMessage, res: ServerResponse) => void server.emit('request', req, res)
  // A caller who asks first is told to send once somebody reads, and not when the request is refused.
  server.on('checkContinue', (req, res) => {
    req.once('resume', () => {
      if (res.headersSent) return
      res.writeContinue()
      if (!res.socket) keepHeadBehind(res)
    })
    receive(req, res)
  })
  // Nobody need keep to an expectation that is not known.
  server.on('checkExpectation', receive)
  const unreadable = new WeakSet<Duplex>()
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Whatever comes after it is not read either, and told again each time.
    if (unreadable.has(socket) && socket.writable) return
    unreadable.add(socket)
    const refusal = new DomainError(...(parserErrors[error.code ?? ''] ?? noHttp))
    const answer = presentError(refusal)
    const allHeaders = { ...Object.fromEntries(headers), ...answer.headers }
    const { status } = answer
    const isHead = asksForHead(error as { rawPacket?: Buffer })
    answerBare(socket, { ...answer, headers: allHeaders }, isHead, (requestId, res) =>
      telemetry.rejected({ requestId, status, code: refusal.code, answer: res }),
    )
  })

  const listeners: Listener[] = []
  const nextListener = () =>
    listeners.length === 0 ? server : createListener({ noDelay: true }, (socket) => server.emit('connection', socket))

  const logDrop = createDropLogger(log, connections)
  const bounded = (listener: Listener) => Object.assign(listener, { maxConnections: connections }).on('drop', logDrop)

  const listenAt = (port: number, address: string, variable: string) =>
    new Promise<number>((resolve, reject) => {
      const listener = bounded(nextListener())
      listener.once('error', (error: NodeJS.ErrnoException) => {
        const taken = `Port ${port} of ${address} is taken by another program. Stop it, or choose another with ${variable}=<port>.`
        const other = `Nobody can listen at port ${port} of ${address}: ${systemReason(error)}. Set HOST to an address of this machine, and ${variable} to a port that this user may take.`
        reject(new Error(error.code === 'EADDRINUSE' ? taken : other, { cause: error }))
      })
      listener.listen(port, address, () => resolve((listener.address() as AddressInfo).port))
      listeners.push(listener)
    })

  return {
    async listen(port, host, variable = 'PORT') {
      if (host !== 'localhost') return listenAt(port, host, variable)
      const taken = await listenAt(port, LOOPBACK.ipv4, variable)
      await listenAt(taken, LOOPBACK.ipv6, variable).catch((error: Error) => {
        const { code = '' } = error.cause as NodeJS.ErrnoException
        // The system chose the port for IPv4 alone. Another program may have it for IPv6.
        const isOthers = port === 0 && code === 'EADDRINUSE'
        if (!withoutIpv6.has(code) && !isOthers) throw error
      })
      return taken
    },
    endConnections() {
      endsConnections = true
    },
    async drain(milliseconds) {
      endsConnections = true
      const closed = Promise.all(listeners.map((each) => new Promise<void>((resolve) => each.close(() => resolve()))))
      for (const handler of handlers) handler.drain?.()
      // A connection whose last answer is done would be kept open for the next request.
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS)
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), milliseconds)
      await closed
      clearInterval(idle)
      clearTimeout(timer)
    },
  }
}
