/** Metrics, traces and request log. Libraries of disabled parts are not loaded. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { RequestTelemetry } from '../http/http-server.ts'
import type { ErrorCode } from '../shared/errors.ts'
import { sha256, toId } from '../shared/ids.ts'
import type { Log } from '../shared/log.ts'
import { withoutRedaction } from './log.ts'
import type { Metrics, Watched } from './metrics.ts'
import { type Api, noopTelemetry, type RequestWatch } from './telemetry-types.ts'
import type { Tracing, TracingOptions } from './tracing.ts'

interface TelemetryOptions {
  hasMetrics: boolean
  tracing: TracingOptions | undefined
  version: string
}

export async function openTelemetry({ hasMetrics, tracing: options, version }: TelemetryOptions) {
  const metrics = hasMetrics ? (await import('./metrics.ts')).createMetrics(version) : undefined
  const tracing = options && (await (await import('./tracing.ts')).openTracing(options, version))
  const { watch, follow } = createRequestTelemetry(metrics, tracing)
  return {
    meter: metrics?.meter ?? noopTelemetry.meter,
    tracer: tracing?.tracer ?? noopTelemetry.tracer,
    watch,
    requests: follow,
    addRoutes(app: FastifyInstance, { watched, access, log }: { watched: Watched; access: MetricsAccess; log: Log }) {
      if (metrics) addMetrics(app, { access, watch, scrape: metrics.createScrape(watched, log) })
    },
    close: tracing?.close ?? (async () => undefined),
  }
}

export interface MetricsAccess {
  /** Bearer token, required on every port if set. */
  token: string | undefined
  /** Internal port for operators. It requires a token only if one is set. */
  port: number | undefined
}

const isSame = (sent: string, token: string) => timingSafeEqual(sha256(sent), sha256(token))
const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8'
const BEARER = /^bearer\s+(\S+)\s*$/i

/** If a token is set, all ports require it. Otherwise only the internal port is open. */
function authorize({ token, port }: MetricsAccess, req: IncomingMessage): 'allowed' | 'unauthorized' | 'hidden' {
  if (token === undefined) return port !== undefined && req.socket.localPort === port ? 'allowed' : 'hidden'
  const sent = BEARER.exec(req.headers.authorization ?? '')?.[1]
  return sent !== undefined && isSame(sent, token) ? 'allowed' : 'unauthorized'
}

/** Has no rate limit. Callers without access get the response of an unknown route. */
export function addMetrics(
  app: FastifyInstance,
  parts: { access: MetricsAccess; watch: RequestWatch; scrape(): Promise<string> },
): void {
  const { watch } = parts
  app.all('/metrics', async ({ raw: req }, reply) => {
    const access = authorize(parts.access, req)
    if (access === 'hidden') return reply.callNotFound()
    watch.setOperation(reply.raw, 'operator', 'GET /metrics')
    reply.headers({ 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' })
    if (access === 'unauthorized') {
      watch.refused(reply.raw, 'AUTHENTICATION_FAILED')
      reply.code(401).header('WWW-Authenticate', 'Bearer')
      return reply.send('Send METRICS_TOKEN as "Authorization: Bearer <token>".\n')
    }
    if (req.method === 'GET' || req.method === 'HEAD') return reply.type(TEXT_FORMAT).send(await parts.scrape())
    watch.refused(reply.raw, 'METHOD_NOT_ALLOWED')
    return reply.code(405).header('Allow', 'GET, HEAD').send('Read metrics with a GET request.\n')
  })
}

interface Watching {
  startedAt: number
  api: Api
  operation: string
  operationName?: string | undefined
  userId?: string
  code: ErrorCode | 'OK'
  /** HTTP status. Set if the HTTP server responds instead of the handler. */
  status?: number
}

const WATCHING = Symbol('watching')

/** A response with its request's state. The state is released together with the response: see `newNodeContext`. */
interface WatchedResponse {
  [WATCHING]?: Watching
}

const watchingOf = (response: WatchedResponse) => response[WATCHING]

/** Requests of health checks and scrapes have no trace and are logged at `debug`. */
const PROBE = /^\/(healthz|readyz|metrics)\/?(\?|$)/
const isStream = (res: ServerResponse) => String(res.getHeader('content-type') ?? '').startsWith('text/event-stream')
const ROUTE = /^[A-Z]+ (\/.*)$/

/** Unlike the route pattern, the path may contain a secret. */
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

const MAX_NAME = 64

/** Logs one line per request. docs/reference/log.md describes the fields. */
function createRequestLog(log: Log) {
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
        durationMs: Math.round(milliseconds * 100) / 100,
        user: userId && toId('user', userId),
        code: code === 'OK' ? undefined : code,
        aborted: isAborted || undefined,
      },
      'Request completed',
    )
  }
}

/** Handlers report to `watch`. The HTTP server reports to the result of `follow`. */
export function createRequestTelemetry(
  metrics?: Pick<Metrics, 'requestBegan' | 'requestEnded'>,
  tracing?: Pick<Tracing, 'begin'>,
): { watch: RequestWatch; follow(log: Log): RequestTelemetry } {
  type FollowedRequest = ReturnType<Tracing['begin']>
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
    setOperation(response, api, operation, operationName) {
      const request = watchingOf(response)
      if (request) Object.assign(request, { api, operation, operationName })
    },
    identified(response, userId) {
      const request = watchingOf(response)
      if (request) request.userId = userId
    },
    refused(response, code) {
      const request = watchingOf(response)
      if (request?.code === 'OK') request.code = code
    },
  }

  return {
    watch,
    follow(log) {
      const logRequest = createRequestLog(log)
      return {
        serve(req, res: ServerResponse & WatchedResponse, handle) {
          const request: Watching = { startedAt: performance.now(), api: 'none', operation: 'other', code: 'OK' }
          const followed = PROBE.test(req.url ?? '') ? undefined : tracing?.begin(req.method ?? 'other', req.headers)
          res[WATCHING] = request
          metrics?.requestBegan()
          res.once('close', () => logRequest(req, res, request, end(req, res, request, followed)))
          return followed ? followed.run(handle) : handle()
        },
        refused: watch.refused,
        rejected({ requestId, status, code, response }) {
          const request = response && watchingOf(response as WatchedResponse)
          if (!request) return log.info({ requestId, status, code }, 'Request rejected')
          request.code = code
          request.status = status
        },
      }
    },
  }
}
