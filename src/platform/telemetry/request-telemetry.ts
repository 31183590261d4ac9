/** Follows each request from its headers to the end of its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorCode } from '../../domain/errors.ts'
import type { Door, RequestWatch } from '../../domain/telemetry.ts'
import type { RequestTelemetry } from '../http/http-server.ts'
import type { Metrics } from './metrics.ts'
import type { FollowedRequest, Tracing } from './tracing.ts'

interface Watching {
  startedAt: number
  door: Door
  operation: string
  code: ErrorCode | 'OK'
}

const WATCHING = Symbol('watching')

/** What is watched of a request stays with its answer, and goes with it: see `newNodeContext`. */
interface WatchedAnswer {
  [WATCHING]?: Watching
}

const watchingOf = (answer: WatchedAnswer) => answer[WATCHING]

/** Asked every second by machines: nobody wants to follow these. */
const UNFOLLOWED = /^\/(healthz|readyz|metrics)\b/

const isStream = (res: ServerResponse) => String(res.getHeader('content-type') ?? '').startsWith('text/event-stream')

const ROUTE = /^[A-Z]+ (\/.*)$/

/** What a span tells of a request: by its route, never by its path, which may hold a secret. */
const factsOf = (method: string, { door, operation, code }: Watching, status: number | undefined) => {
  const route = door === 'graphql' ? '/graphql' : ROUTE.exec(operation)?.[1]
  return {
    'http.request.method': method,
    ...(route && { 'http.route': route }),
    ...(status !== undefined && { 'http.response.status_code': status }),
    'annal.code': code,
  }
}

/** What follows requests for those who want to know, and what the doors tell of them. */
export function createRequestTelemetry(
  metrics: Pick<Metrics, 'requestBegan' | 'requestEnded'> | undefined,
  tracing: Pick<Tracing, 'begin'> | undefined,
): RequestTelemetry & { watch: RequestWatch } {
  function end(req: IncomingMessage, res: ServerResponse, request: Watching, followed: FollowedRequest | undefined) {
    const { startedAt, ...asked } = request
    const status = res.writableFinished ? res.statusCode : undefined
    const milliseconds = performance.now() - startedAt
    metrics?.requestEnded({ ...asked, status, milliseconds, isStream: isStream(res) })
    if (!followed) return
    const method = req.method ?? 'other'
    const facts = factsOf(method, request, status)
    const name = facts['http.route'] ? `${method} ${facts['http.route']}` : method
    followed.end(name, facts, (status ?? 0) >= 500 || request.code === 'INTERNAL')
  }

  return {
    serve(req, res: ServerResponse & WatchedAnswer, answer) {
      const request: Watching = { startedAt: performance.now(), door: 'none', operation: 'other', code: 'OK' }
      const followed = UNFOLLOWED.test(req.url ?? '') ? undefined : tracing?.begin(req.method ?? 'other', req.headers)
      res[WATCHING] = request
      metrics?.requestBegan()
      res.once('close', () => end(req, res, request, followed))
      return followed ? followed.run(answer) : answer()
    },
    watch: {
      asked(answer, door, operation) {
        Object.assign(watchingOf(answer) ?? {}, { door, operation })
      },
      refused(answer, code) {
        const request = watchingOf(answer)
        if (request?.code === 'OK') request.code = code
      },
    },
  }
}
