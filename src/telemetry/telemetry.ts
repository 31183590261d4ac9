/** What operators see of this process, as it is configured. What is not asked for is not even loaded. */
import type { FastifyInstance } from 'fastify'
import type { RequestTelemetry } from '../http/http-server.ts'
import type { Log } from '../shared/log.ts'
import type { Watched } from './collect.ts'
import type { MetricsAccess } from './metrics-handler.ts'
import { createRequestTelemetry, type RequestLogOptions } from './request-telemetry.ts'
import { silentTelemetry, type Telemetry } from './telemetry-types.ts'
import type { TracingOptions } from './tracing.ts'

/** The telemetry of a process. */
export interface RunningTelemetry extends Telemetry {
  /** Follows requests, and logs one line for each. */
  requests(options: RequestLogOptions): RequestTelemetry
  /** Adds `/metrics`, if metrics are on. */
  addRoutes(app: FastifyInstance, parts: { watched: Watched; access: MetricsAccess; log: Log }): void
  /** Sends what is left to be sent. Raises nothing. */
  close(): Promise<void>
}

/** What is asked for. */
export interface TelemetryOptions {
  hasMetrics: boolean
  /** Undefined when no traces are wanted. */
  tracing: TracingOptions | undefined
  /** Of the service. */
  version: string
}

async function openMetrics(version: string) {
  const { createMetrics } = await import('./metrics.ts')
  const { addMetrics } = await import('./metrics-handler.ts')
  return { metrics: createMetrics(version), addMetrics }
}

/** Opens what is asked for. */
export async function openTelemetry({
  hasMetrics,
  tracing: wanted,
  version,
}: TelemetryOptions): Promise<RunningTelemetry> {
  const shown = hasMetrics ? await openMetrics(version) : undefined
  const tracing = wanted && (await (await import('./tracing.ts')).openTracing(wanted, version))
  const { watch, follow } = createRequestTelemetry(shown?.metrics, tracing)
  return {
    meter: shown?.metrics.meter ?? silentTelemetry.meter,
    tracer: tracing?.tracer ?? silentTelemetry.tracer,
    watch,
    requests: follow,
    addRoutes(app, { watched, access, log }) {
      if (!shown) return
      shown.addMetrics(app, { access, watch, scrape: shown.metrics.createScrape(watched, log) })
    },
    close: tracing?.close ?? (async () => undefined),
  }
}
