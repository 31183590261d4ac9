/** What operators see of this process, as it is configured. What is not asked for is not even loaded. */
import type { Log } from '../../domain/ports.ts'
import { silentTelemetry, type Telemetry } from '../../domain/telemetry.ts'
import type { HttpHandler, RequestTelemetry } from '../http/http-server.ts'
import type { Watched } from './collect.ts'
import type { MetricsAccess } from './metrics-handler.ts'

/** The telemetry of a process. */
export interface RunningTelemetry extends Telemetry {
  /** Follows requests; undefined when nobody wants to know. */
  requests: RequestTelemetry | undefined
  /** What answers `/metrics`, if anything does: to be asked before all others. */
  createHandlers(parts: { watched: Watched; access: MetricsAccess; log: Log }): HttpHandler[]
}

/** What is asked for. */
export interface TelemetryOptions {
  hasMetrics: boolean
  /** Of the service. */
  version: string
}

/** Opens what is asked for. */
export async function openTelemetry({ hasMetrics, version }: TelemetryOptions): Promise<RunningTelemetry> {
  if (!hasMetrics) return { ...silentTelemetry, requests: undefined, createHandlers: () => [] }
  const { createMetrics } = await import('./metrics.ts')
  const { createMetricsHandler } = await import('./metrics-handler.ts')
  const { createRequestTelemetry } = await import('./request-telemetry.ts')
  const metrics = createMetrics(version)
  const requests = createRequestTelemetry(metrics)
  const { watch } = requests
  return {
    meter: metrics.meter,
    watch,
    requests,
    createHandlers: ({ watched, access, log }) => [
      createMetricsHandler({ access, watch, scrape: metrics.createScrape(watched, log) }),
    ],
  }
}
