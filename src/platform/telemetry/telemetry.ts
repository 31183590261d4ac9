/** What operators see of this process, as it is configured. What is not asked for is not even loaded. */
import type { Log } from '../../domain/ports.ts'
import { silentTelemetry, type Telemetry } from '../../domain/telemetry.ts'
import type { HttpHandler, RequestTelemetry } from '../http/http-server.ts'
import type { Watched } from './collect.ts'
import type { MetricsAccess } from './metrics-handler.ts'
import type { TracingOptions } from './tracing.ts'

/** The telemetry of a process. */
export interface RunningTelemetry extends Telemetry {
  /** Follows requests; undefined when nobody wants to know. */
  requests: RequestTelemetry | undefined
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

const silent: RunningTelemetry = {
  ...silentTelemetry,
  requests: undefined,
  createHandlers: () => [],
  close: async () => undefined,
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
  if (!hasMetrics && !wanted) return silent
  const shown = hasMetrics ? await openMetrics(version) : undefined
  const tracing = wanted && (await (await import('./tracing.ts')).openTracing(wanted, version))
  const { createRequestTelemetry } = await import('./request-telemetry.ts')
  const requests = createRequestTelemetry(shown?.metrics, tracing)
  const { watch } = requests
  return {
    meter: shown?.metrics.meter ?? silent.meter,
    tracer: tracing?.tracer ?? silent.tracer,
    watch,
    requests,
    createHandlers: ({ watched, access, log }) =>
      shown ? [shown.createMetricsHandler({ access, watch, scrape: shown.metrics.createScrape(watched, log) })] : [],
    close: tracing?.close ?? silent.close,
  }
}
