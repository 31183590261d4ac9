/** What operators see of this process, as it is configured. What is not asked for is not even loaded. */
import type { Log } from '../../domain/ports/log.ts'
import { silentTelemetry, type Telemetry } from '../../domain/telemetry.ts'
import type { HttpHandler, RequestTelemetry } from '../http/http-server.ts'
import type { Watched } from './collect.ts'
import type { MetricsAccess } from './metrics-handler.ts'
import { createRequestTelemetry, type RequestLogOptions } from './request-telemetry.ts'
import type { TracingOptions } from './tracing.ts'

/** The telemetry of a process. */
export interface RunningTelemetry extends Telemetry {
  /** Follows requests, and logs one line for each. */
  requests(options: RequestLogOptions): RequestTelemetry
  /** What answers `/metrics`, if anything does: to be asked before all others. */
  createHandlers(parts: { watched: Watched; access: MetricsAccess; log: Log }): HttpHandler[]
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
  const { createMetricsHandler } = await import('./metrics-handler.ts')
  return { metrics: createMetrics(version), createMetricsHandler }
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
    createHandlers({ watched, access, log }) {
      if (!shown) return []
      return [shown.createMetricsHandler({ access, watch, scrape: shown.metrics.createScrape(watched, log) })]
    },
    close: tracing?.close ?? (async () => undefined),
  }
}
