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

export function createHttpServer({ doors, log }: { doors: Door[]; log: Log }): HttpServer {
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
