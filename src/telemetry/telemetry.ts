/** Opens the configured metrics, traces and request log. Libraries of disabled parts are not loaded. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { RequestTelemetry } from '../http/http-server.ts'
import type { Log } from '../shared/log.ts'
import { sha256 } from '../shared/secrets.ts'
import type { Watched } from './metrics.ts'
import { createRequestTelemetry } from './request-telemetry.ts'
import { noopTelemetry, type RequestWatch, type Telemetry } from './telemetry-types.ts'
import type { TracingOptions } from './tracing.ts'

/** The telemetry of a process. */
export interface RunningTelemetry extends Telemetry {
  /** Creates the request telemetry. It logs one line for each request. */
  requests(log: Log): RequestTelemetry
  /** Adds the route `/metrics` if metrics are enabled. */
  addRoutes(app: FastifyInstance, parts: { watched: Watched; access: MetricsAccess; log: Log }): void
  /** Sends the remaining spans. Never throws. */
  close(): Promise<void>
}

export interface TelemetryOptions {
  hasMetrics: boolean
  /** Undefined if tracing is disabled. */
  tracing: TracingOptions | undefined
  /** Version of the service. */
  version: string
}

/** Opens the telemetry of a process. */
export async function openTelemetry({
  hasMetrics,
  tracing: tracingOptions,
  version,
}: TelemetryOptions): Promise<RunningTelemetry> {
  const metrics = hasMetrics ? (await import('./metrics.ts')).createMetrics(version) : undefined
  const tracing = tracingOptions && (await (await import('./tracing.ts')).openTracing(tracingOptions, version))
  const { watch, follow } = createRequestTelemetry(metrics, tracing)
  return {
    meter: metrics?.meter ?? noopTelemetry.meter,
    tracer: tracing?.tracer ?? noopTelemetry.tracer,
    watch,
    requests: follow,
    addRoutes(app, { watched, access, log }) {
      if (metrics) addMetrics(app, { access, watch, scrape: metrics.createScrape(watched, log) })
    },
    close: tracing?.close ?? (async () => undefined),
  }
}

/** Access rules of `/metrics`. */
export interface MetricsAccess {
  /** Bearer token, required on every port if set. */
  token: string | undefined
  /** Internal port for operators. It requires a token only if one is set. */
  port: number | undefined
}

/** Compares two tokens in constant time. */
const isSame = (sent: string, token: string) => timingSafeEqual(sha256(sent), sha256(token))

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8'
const BEARER = /^bearer\s+(\S+)\s*$/i

/** Checks access to `/metrics`. If a token is set, every port requires it. Otherwise only the internal port serves metrics. */
function authorize({ token, port }: MetricsAccess, req: IncomingMessage): 'allowed' | 'unauthorized' | 'hidden' {
  if (token === undefined) return port !== undefined && req.socket.localPort === port ? 'allowed' : 'hidden'
  const sent = BEARER.exec(req.headers.authorization ?? '')?.[1]
  return sent !== undefined && isSame(sent, token) ? 'allowed' : 'unauthorized'
}

/** Adds the route `/metrics`. It needs no database and is not rate-limited. Callers without access get the response of an unknown route. */
export function addMetrics(
  app: FastifyInstance,
  {
    access: granted,
    watch,
    scrape,
  }: {
    access: MetricsAccess
    watch: RequestWatch
    /** Returns the metrics in Prometheus's text format. */
    scrape(): Promise<string>
  },
): void {
  app.all('/metrics', async ({ raw: req }, reply) => {
    const access = authorize(granted, req)
    if (access === 'hidden') return reply.callNotFound()
    watch.asked(reply.raw, 'operator', 'GET /metrics')
    reply.headers({ 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' })
    if (access === 'unauthorized') {
      watch.refused(reply.raw, 'AUTHENTICATION_FAILED')
      reply.code(401).header('WWW-Authenticate', 'Bearer')
      return reply.send('Send METRICS_TOKEN as "Authorization: Bearer <token>".\n')
    }
    if (req.method === 'GET' || req.method === 'HEAD') return reply.type(TEXT_FORMAT).send(await scrape())
    watch.refused(reply.raw, 'METHOD_NOT_ALLOWED')
    return reply.code(405).header('Allow', 'GET, HEAD').send('Metrics are read by GET.\n')
  })
}
