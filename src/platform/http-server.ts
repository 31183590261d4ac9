/** The HTTP server: hands each request to the first door that knows its path, and drains before it closes. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Log } from '../domain/ports.ts'

export interface Door {
  /** Whether a path, without its query, is this door's. */
  knows(path: string): boolean
  handle(req: IncomingMessage, res: ServerResponse): unknown
  /** Ends answers that would go on for ever. */
  drain?(): void
}

/** Milliseconds: a caller that sends slowly, and one that says nothing between requests. */
const REQUEST_TIMEOUT = 300_000
const HEADERS_TIMEOUT = 30_000
const KEEP_ALIVE_TIMEOUT = 72_000
const CLOSE_IDLE_EVERY = 50

const STARTING = JSON.stringify({
  error: { type: 'service_unavailable', message: 'The service is starting.' },
  status_code: 503,
  detail: 'The service is starting.',
})

export interface HttpServer {
  /** Raises an Error with a clear sentence when the port is taken. Returns the port. */
  listen(port: number, host: string): Promise<number>
  /** Takes no new requests, waits for those under way at most `milliseconds`, then closes. */
  drain(milliseconds: number): Promise<void>
}

/** A year, in seconds. */
const HSTS_AGE = 31_536_000

/**
 * On every answer. Images and data are shown on pages of other origins, so they may be loaded from there; what is private
 * asks for credentials that no browser sends by itself. Links in mails carry secrets, so no address is passed on.
 */
const securityHeaders = (isSecure: boolean): [string, string][] => [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ...(isSecure ? [['Strict-Transport-Security', `max-age=${HSTS_AGE}`] as [string, string]] : []),
]

export interface HttpServerOptions {
  doors: Door[]
  log: Log
  /** Where callers reach the service, if that is known. */
  publicUrl?: string | undefined
}

export function createHttpServer({ doors, log, publicUrl }: HttpServerOptions): HttpServer {
  const headers = securityHeaders(publicUrl?.startsWith('https://') ?? false)
  let draining = false
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT,
      headersTimeout: HEADERS_TIMEOUT,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      noDelay: true,
    },
    (req, res) => {
      const url = req.url ?? '/'
      const end = url.indexOf('?')
      const path = end < 0 ? url : url.slice(0, end)
      res.setHeader('X-Request-Id', randomUUID())
      for (const [name, value] of headers) res.setHeader(name, value)
      if (draining) res.setHeader('Connection', 'close')
      const door = doors.find((candidate) => candidate.knows(path))
      if (!door) {
        res.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '2' }).end(STARTING)
        return
      }
      void Promise.resolve(door.handle(req, res)).catch((error: unknown) => {
        log.error({ err: error }, 'A request was dropped')
        res.destroy()
      })
    },
  )

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', (error: NodeJS.ErrnoException) => {
          const taken = `Port ${port} of ${host} is taken by another program. Stop it, or choose another with PORT=<port>.`
          reject(error.code === 'EADDRINUSE' ? new Error(taken, { cause: error }) : error)
        })
        server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
      }),
    async drain(milliseconds) {
      draining = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const door of doors) door.drain?.()
      // A connection whose last answer is done would be kept open for the next request.
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY)
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), milliseconds)
      await closed
      clearInterval(idle)
      clearTimeout(timer)
    },
  }
}
