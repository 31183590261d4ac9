/** Counts and shows what happens in this process, for Prometheus. */
import type { ErrorCode } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import { createSources, type Watched, within } from './collect.ts'
import { type MetricSource, metricSources } from './metric-table.ts'
import { createRegistry, type Sample } from './registry.ts'
import type { Door, Meter } from './telemetry-types.ts'

/** Milliseconds that a source may take: less than Prometheus waits for the whole (10 s). */
const SOURCE_MS = 3_000
const MS = 1_000

/** A request that is over. */
export interface EndedRequest {
  door: Door
  operation: string
  /** Undefined when the caller left before the answer was sent. */
  status: number | undefined
  code: ErrorCode | 'OK'
  milliseconds: number
  /** Whether its answer went on for as long as somebody read. */
  isStream: boolean
}

/** What this process has counted, and what can be asked. */
export interface Metrics {
  meter: Meter
  requestBegan(): void
  requestEnded(request: EndedRequest): void
  /** Returns a function that reads all sources and renders the metrics in Prometheus's text format. */
  createScrape(watched: Watched, log: Log): () => Promise<string>
}

const classOf = (status: number | undefined) => (status === undefined ? 'none' : `${Math.floor(status / 100)}xx`)

/** Creates the metrics of this process. `version` is the version of the service. */
export function createMetrics(version: string): Metrics {
  const registry = createRegistry()
  const requests = registry.counter('annal_requests_total')
  const durations = registry.histogram('annal_request_duration_seconds')
  const inFlight = registry.gauge('annal_requests_in_flight')
  const limits = registry.counter('annal_limit_refusals_total')
  const uploads = registry.counter('annal_uploads_total')
  const uploadBytes = registry.counter('annal_upload_bytes_total')
  const attempts = registry.counter('annal_webhook_attempts_total')
  const attemptDurations = registry.histogram('annal_webhook_attempt_duration_seconds')
  const mails = registry.counter('annal_mails_total')
  const sweeps = registry.counter('annal_swept_total')
  let feesPaid = 0n

  registry.gauge('annal_build_info').set({ version }, 1)
  // What has not happened yet is 0, not missing: the first time is a rise then.
  for (const outcome of ['taken', 'refused']) uploads.inc({ outcome }, 0)
  for (const outcome of ['sent', 'refused', 'failed']) mails.inc({ outcome }, 0)
  attempts.inc({ outcome: 'delivered', status: '2xx' }, 0)

  const meter: Meter = {
    limitRefused: (limit) => limits.inc({ limit }),
    fileTaken(bytes) {
      uploads.inc({ outcome: 'taken' })
      uploadBytes.inc(bytes)
    },
    fileRefused: () => uploads.inc({ outcome: 'refused' }),
    webhookAttempted(outcome, statusCode, milliseconds) {
      attempts.inc({ outcome, status: classOf(statusCode) })
      attemptDurations.observe(milliseconds / MS)
    },
    mailTried: (outcome) => mails.inc({ outcome }),
    feePaid(wei) {
      feesPaid += wei
    },
    swept: (sweep, count) => sweeps.inc({ sweep }, count),
  }

  return {
    meter,
    requestBegan: () => inFlight.inc(),
    requestEnded({ door, operation, status, code, milliseconds, isStream }) {
      inFlight.dec()
      requests.inc({ door, operation, status: status === undefined ? 'aborted' : String(status), code })
      if (!isStream) durations.observe({ door, operation }, milliseconds / MS)
    },
    createScrape(watched, log) {
      const sources = createSources(watched, () => feesPaid)
      const up = registry.gauge('annal_scrape_source_up')
      const seconds = registry.gauge('annal_scrape_source_seconds')

      async function read(source: MetricSource) {
        const start = performance.now()
        let samples: readonly Sample[] | undefined
        try {
          samples = await within(SOURCE_MS, sources[source])
        } catch (error) {
          log.warn({ err: error, source }, 'Metrics source failed; its metrics are missing')
        }
        registry.replace(source, samples ?? [])
        up.set({ source }, samples ? 1 : 0)
        seconds.set({ source }, (performance.now() - start) / MS)
      }
      // Concurrent scrapes share one read.
      let running: Promise<unknown> | undefined
      const look = () => {
        running ??= Promise.all(metricSources.map(read)).finally(() => {
          running = undefined
        })
        return running
      }
      return () => look().then(registry.text)
    },
  }
}
