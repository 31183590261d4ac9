/** What operators see of this process, as it is configured. What is not asked for is not even loaded. */
import type { Log } from '../../domain/ports/log.ts'
import { silentTelemetry, type Telemetry } from '../../domain/telemetry.ts'
import type { HttpHandler, RequestTelemetry } from '../http/http-server.ts'
import type { SupervisorLink } from '../workers/supervisor-link.ts'
import type { Watched } from './collect.ts'
import type { MetricsAccess } from './metrics-handler.ts'
import { createRequestTelemetry, type RequestLogOptions } from './request-telemetry.ts'
import type { TracingOptions } from './tracing.ts'

/** The telemetry of a process. */
export interface RunningTelemetry extends Telemetry {
  /** Follows requests, and logs one line for each. */
  requests(options: RequestLogOptions): RequestTelemetry
  /** What answers `/metrics`, if anything does: to be asked before all others. */
  createHandlers(parts: {
    watched: Watched
    access: MetricsAccess
    log: Log
    /** Below one, `/metrics` has those of all its workers. */
    supervisor?: Pick<SupervisorLink, 'tellMetrics' | 'askMetrics'> | undefined
  }): HttpHandler[]
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
  /** The name of this process below a supervisor. */
  worker?: string | undefined
}

async function openMetrics(version: string, worker: string | undefined) {
  const { createMetrics } = await import('./metrics.ts')
  const { createMetricsHandler } = await import('./metrics-handler.ts')
  return { metrics: createMetrics(version, worker), createMetricsHandler }
}

/** Opens what is asked for. */
export async function openTelemetry({
  hasMetrics,
  tracing: wanted,
  version,
  worker,
}: TelemetryOptions): Promise<RunningTelemetry> {
  const shown = hasMetrics ? await openMetrics(version, worker) : undefined
  const tracing = wanted && (await (await import('./tracing.ts')).openTracing(wanted, version))
  const { watch, follow } = createRequestTelemetry(shown?.metrics, tracing)
  return {
    meter: shown?.metrics.meter ?? silentTelemetry.meter,
    tracer: tracing?.tracer ?? silentTelemetry.tracer,
    watch,
    requests: follow,
    createHandlers({ watched, access, log, supervisor }) {
      if (!shown) return []
      const { text, list } = shown.metrics.createScrape(watched, log)
      supervisor?.tellMetrics(list)
      return [shown.createMetricsHandler({ access, watch, scrape: supervisor?.askMetrics ?? text })]
    },
    close: tracing?.close ?? (async () => undefined),
  }
}
