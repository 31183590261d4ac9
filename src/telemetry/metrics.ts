/** Prometheus metrics of a process. Counts events, and reads the other metrics for each scrape. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Query } from '../db/sql.ts'
import { shareRunning } from '../shared/async.ts'
import { type ErrorCode, unavailable } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import { fromUnits } from '../shared/money.ts'
import { createLedgerReader } from './ledger-metrics.ts'
import type { Sample } from './metric-table.ts'
import { type MetricName, type MetricRow, type MetricSource, metricSources, metricTable } from './metric-table.ts'
import { readState } from './metrics.sql.ts'
import type { Api, Meter, PoolLoad, QueueLoad, WatchedRelay, WatchedServices } from './telemetry-types.ts'

export interface Watched extends WatchedServices {
  database: {
    query: Query
    load(): PoolLoad
    /** Number of reads that Prisma executed, by `Model.method`. */
    readonly fallbacks: ReadonlyMap<string, number>
    stalls(): number
  }
  relay: WatchedRelay
}

type ReadSource = (signal: AbortSignal) => Promise<Sample[]>

/** Timeout of a source, in milliseconds. Prometheus waits 10 s for all of them. */
const SOURCE_MS = 3_000
const MS = 1_000
const relayStates = ['stopped', 'starting', 'working', 'standby', 'waiting'] as const

const sample = (name: MetricName, value: number | null, labels?: Sample['labels']): Sample[] =>
  value === null ? [] : [{ name, value, ...(labels && { labels }) }]

const queueSamples = ([queue, load]: [string, () => QueueLoad]) => {
  const { slots, running, waiting, refused } = load()
  return [
    ...sample('annal_queue_capacity', slots, { queue }),
    ...sample('annal_queue_running', running, { queue }),
    ...sample('annal_queue_waiting', waiting, { queue }),
    ...sample('annal_queue_rejected_total', refused, { queue }),
  ]
}

function relaySamples(relay: WatchedRelay): Sample[] {
  const { state, headNumber, stepAge, nextBaseFee, maxFeePerGas, lanes } = relay.status()
  return [
    ...relayStates.flatMap((each) => sample('annal_relay_state', Number(each === state), { state: each })),
    ...sample('annal_relay_step_age_seconds', stepAge === null ? null : stepAge / MS),
    ...sample('annal_relay_head', headNumber),
    ...sample('annal_relay_base_fee_wei', nextBaseFee === null ? null : Number(nextBaseFee)),
    ...sample('annal_relay_max_fee_wei', Number(maxFeePerGas)),
    ...lanes.flatMap(({ address: account, isHeld, inFlight }) => [
      ...sample('annal_relay_lane_held', Number(isHeld), { account }),
      ...sample('annal_relay_in_flight', inFlight, { account }),
    ]),
  ]
}

function processSamples({ database, queues, relay }: Watched): Sample[] {
  const { size, open, inUse, waiting, lists } = database.load()
  return [
    ...sample('annal_pool_size', size),
    ...sample('annal_pool_reserved', size - lists.slots),
    ...sample('annal_pool_open', open),
    ...sample('annal_pool_in_use', inUse),
    ...sample('annal_pool_waiting', waiting),
    ...Object.entries({ lists: () => lists, ...queues }).flatMap(queueSamples),
    ...[...database.fallbacks].flatMap(([read, value]) => sample('annal_read_fallbacks_total', value, { read })),
    ...sample('annal_process_stalls_total', database.stalls()),
    ...relaySamples(relay),
  ]
}

async function readDatabase({ database, overdue }: Watched): Promise<Sample[]> {
  const [rows, late] = await Promise.all([database.query(readState), overdue()])
  const states = rows.flatMap(({ metric, label, state, value }) => {
    const { labels }: MetricRow = metricTable[metric as MetricName]
    const given = [label, state]
    return sample(metric as MetricName, value, Object.fromEntries(labels.map((each, at) => [each, given[at]!])))
  })
  return [
    ...states,
    ...late.flatMap(({ job, seconds }) => sample('annal_retention_overdue_seconds', seconds, { batch_job: job })),
  ]
}

const readBalances = async ({ balances }: WatchedRelay, signal: AbortSignal): Promise<Sample[]> =>
  [...(await balances(signal))].flatMap(([account, wei]) =>
    sample('annal_relay_balance_coins', Number(fromUnits(wei)), { account }),
  )

/** After the timeout, throws UNAVAILABLE and aborts the signal of `work`. */
export function withTimeout<T>(milliseconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(milliseconds)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(unavailable('A source of metrics')))
  })
  return Promise.race([work(signal), late])
}

const createMetric = (name: string, { type, help, labels, buckets, initial = [] }: MetricRow, registry: Registry) => {
  const options = { name, help, labelNames: labels, registers: [registry] }
  if (type === 'histogram') return new Histogram({ ...options, ...(buckets && { buckets: [...buckets] }) })
  if (type === 'gauge') return new Gauge(options)
  const counter = new Counter(options)
  for (const labels of initial) counter.inc(labels, 0)
  return counter
}

interface EndedRequest {
  api: Api
  operation: string
  /** HTTP status. Undefined if the client disconnected before the response. */
  status: number | undefined
  code: ErrorCode | 'OK'
  milliseconds: number
  /** True for a stream. Streams have no duration. */
  isStream: boolean
}

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics(version: string) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const rows: [string, MetricRow][] = Object.entries(metricTable)
  const metrics = new Map(rows.map(([name, row]) => [name, createMetric(name, row, registry)]))
  const gaugeOf = (name: MetricName) => metrics.get(name) as Gauge
  const reads = new Map<MetricName, () => number>()

  const meter: Meter = {
    count: (name, labels, by = 1) => (metrics.get(name) as Counter).inc(labels, by),
    observe: (name, labels, value) => (metrics.get(name) as Histogram).observe(labels, value),
    gauge: (name, read) => void reads.set(name, read),
  }
  gaugeOf('annal_build_info').set({ version }, 1)
  const inFlight = gaugeOf('annal_requests_in_flight')

  /** Without samples, the metrics of the source are missing. */
  function replace(source: MetricSource, samples: readonly Sample[]) {
    for (const [name, row] of rows) {
      if (row.source !== source) continue
      const metric = metrics.get(name)!
      metric.reset()
      // A metric without labels would report 0 after the reset.
      if (row.labels.length === 0) metric.remove()
    }
    for (const { name, labels = {}, value } of samples) {
      const metric = metrics.get(name)
      if (metric instanceof Gauge) metric.set(labels, value)
      else if (metric instanceof Counter) metric.inc(labels, value)
    }
  }

  return {
    meter,
    requestBegan: () => inFlight.inc(),
    requestEnded({ api, operation, status, code, milliseconds, isStream }: EndedRequest) {
      inFlight.dec()
      const outcome = { status: status === undefined ? 'aborted' : String(status), code }
      meter.count('annal_requests_total', { api, operation, ...outcome })
      if (!isStream) meter.observe('annal_request_duration_seconds', { api, operation }, milliseconds / MS)
    },
    text: () => registry.metrics(),
    /** Returns a function that reads all sources and returns Prometheus's text format. */
    createScrape(watched: Watched, log: Log): () => Promise<string> {
      const sources: Record<MetricSource, ReadSource> = {
        process: async () => [
          ...processSamples(watched),
          ...[...reads].flatMap(([name, read]) => sample(name, read())),
        ],
        database: () => readDatabase(watched),
        ledger: createLedgerReader(watched.database),
        chain: (signal) => readBalances(watched.relay, signal),
      }
      const up = gaugeOf('annal_scrape_source_up')
      const seconds = gaugeOf('annal_scrape_source_seconds')

      async function read(source: MetricSource) {
        const start = performance.now()
        let samples: readonly Sample[] | undefined
        try {
          samples = await withTimeout(SOURCE_MS, sources[source])
        } catch (error) {
          log.warn({ err: error, source }, 'Metrics source failed; its metrics are missing')
        }
        replace(source, samples ?? [])
        up.set({ source }, samples ? 1 : 0)
        seconds.set({ source }, (performance.now() - start) / MS)
      }
      const readAll = shareRunning(() => Promise.all(metricSources.map(read)))
      return () => readAll().then(() => registry.metrics())
    },
  }
}
