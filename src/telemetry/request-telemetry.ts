/** Follows each request from its headers to the end of its response: metrics, a span and one log line. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestTelemetry } from '../http/http-server.ts'
import type { ErrorCode } from '../shared/errors.ts'
import { toId } from '../shared/ids.ts'
import type { Log } from '../shared/log.ts'
import { withoutRedaction } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Api, RequestWatch } from './telemetry-types.ts'
import type { FollowedRequest, Tracing } from './tracing.ts'

interface Watching {
  startedAt: number
  api: Api
  operation: string
  operationName: string | undefined
  userId: string | undefined
  code: ErrorCode | 'OK'
  /** Set when the HTTP server answers in place of the handler. */
  status: number | undefined
}

const WATCHING = Symbol('watching')

/** State of a request. It is stored in the response, so that it is released with it: see `newNodeContext`. */
interface WatchedAnswer {
  [WATCHING]?: Watching
}

const watchingOf = (answer: WatchedAnswer) => answer[WATCHING]

/** Paths that machines poll every second. Their requests have no trace and are logged at `debug`. */
const PROBE = /^\/(healthz|readyz|metrics)\/?(\?|$)/

const isStream = (res: ServerResponse) => String(res.getHeader('content-type') ?? '').startsWith('text/event-stream')

const ROUTE = /^[A-Z]+ (\/.*)$/

/** Returns the pattern of the route. A path may contain a secret. */
const routeOf = ({ api, operation }: Watching) =>
  api === 'graphql' ? '/graphql' : api === 'none' ? undefined : ROUTE.exec(operation)?.[1]

const factsOf = (method: string, request: Watching, status: number | undefined) => {
  const route = routeOf(request)
  return {
    'http.request.method': method,
    ...(route && { 'http.route': route }),
    ...(status !== undefined && { 'http.response.status_code': status }),
    'annal.code': request.code,
  }
}

/** Maximum length of a client's operation name in the log. */
const MAX_NAME = 64

/** Duration with two decimals, in milliseconds. */
const rounded = (milliseconds: number) => Math.round(milliseconds * 100) / 100

/** Where request lines go. */
export interface RequestLogOptions {
  log: Log
}

/** Writes one line per request. The fields are described in docs/operations.md. */
function createRequestLog({ log }: RequestLogOptions) {
  const lines = withoutRedaction(log)
  return (req: IncomingMessage, res: ServerResponse, request: Watching, milliseconds: number) => {
    const { api, code, userId } = request
    const status = request.status ?? (res.headersSent ? res.statusCode : undefined)
    const isAborted = request.status === undefined && !res.writableFinished && !isStream(res)
    const isProbe = PROBE.test(req.url ?? '') && (status === undefined || status < 400 || status === 503)
    lines[isProbe ? 'debug' : 'info'](
      {
        requestId: res.getHeader('X-Request-Id'),
        method: req.method,
        route: routeOf(request) ?? 'other',
        operation: api === 'graphql' ? request.operation : undefined,
        operationName: request.operationName?.slice(0, MAX_NAME),
        status,
        durationMs: rounded(milliseconds),
        user: userId && toId('user', userId),
        code: code === 'OK' ? undefined : code,
        aborted: isAborted || undefined,
      },
      'Request completed',
    )
  }
}

/** Creates the telemetry of requests. Handlers report to `watch`. The HTTP server reports to the result of `follow`. */
export function createRequestTelemetry(
  metrics?: Pick<Metrics, 'requestBegan' | 'requestEnded'>,
  tracing?: Pick<Tracing, 'begin'>,
): { watch: RequestWatch; follow(options: RequestLogOptions): RequestTelemetry } {
  function end(req: IncomingMessage, res: ServerResponse, request: Watching, followed: FollowedRequest | undefined) {
    const { startedAt, api, operation, code } = request
    const status = request.status ?? (res.writableFinished ? res.statusCode : undefined)
    const milliseconds = performance.now() - startedAt
    metrics?.requestEnded({ api, operation, code, status, milliseconds, isStream: isStream(res) })
    if (followed) {
      const method = req.method ?? 'other'
      const facts = factsOf(method, request, status)
      const name = facts['http.route'] ? `${method} ${facts['http.route']}` : method
      followed.end(name, facts, (status ?? 0) >= 500 || code === 'INTERNAL')
    }
    return milliseconds
  }

  const watch: RequestWatch = {
    asked(answer, api, operation, operationName) {
      const request = watchingOf(answer)
      if (!request) return
      request.api = api
      request.operation = operation
      request.operationName = operationName
    },
    identified(answer, userId) {
      const request = watchingOf(answer)
      if (request) request.userId = userId
    },
    refused(answer, code) {
      const request = watchingOf(answer)
      if (request?.code === 'OK') request.code = code
    },
  }

  return {
    watch,
    follow(options) {
      const logRequest = createRequestLog(options)
      return {
        serve(req, res: ServerResponse & WatchedAnswer, answer) {
          const request: Watching = {
            startedAt: performance.now(),
            api: 'none',
            operation: 'other',
            operationName: undefined,
            userId: undefined,
            code: 'OK',
            status: undefined,
          }
          const followed = PROBE.test(req.url ?? '') ? undefined : tracing?.begin(req.method ?? 'other', req.headers)
          res[WATCHING] = request
          metrics?.requestBegan()
          res.once('close', () => logRequest(req, res, request, end(req, res, request, followed)))
          return followed ? followed.run(answer) : answer()
        },
        refused: watch.refused,
        rejected({ requestId, status, code, answer }) {
          const request = answer && watchingOf(answer as WatchedAnswer)
          if (!request) return options.log.info({ requestId, status, code }, 'Request rejected')
          request.code = code
          request.status = status
        },
      }
    },
  }
}
