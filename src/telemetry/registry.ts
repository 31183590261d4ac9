/** The metrics of the table as prom-client's, by name. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type MetricName, type MetricRow, type MetricSource, metricTable } from './metric-table.ts'

type NamesOf<Type extends MetricRow['type']> = {
  [Name in MetricName]: (typeof metricTable)[Name]['type'] extends Type ? Name : never
}[MetricName]

/** What a metric is set to, and for which labels. */
export interface Sample {
  readonly name: MetricName
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** The metrics of one process. */
export interface MetricRegistry {
  counter(name: NamesOf<'counter'>): Counter
  gauge(name: NamesOf<'gauge'>): Gauge
  histogram(name: NamesOf<'histogram'>): Histogram
  /** What a source says now takes the place of what it said before; without samples its metrics are missing. */
  replace(source: MetricSource, samples: readonly Sample[]): void
  /** In the text format of Prometheus. */
  text(): Promise<string>
}

const makeMetric = (name: string, { type, help, labels, buckets }: MetricRow, registry: Registry) => {
  const options = { name, help, labelNames: labels, registers: [registry] }
  if (type === 'histogram') return new Histogram({ ...options, ...(buckets && { buckets: [...buckets] }) })
  return type === 'counter' ? new Counter(options) : new Gauge(options)
}

/** Creates the metrics of the table, and the default metrics of the process. */
export function createRegistry(): MetricRegistry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const rows: [string, MetricRow][] = Object.entries(metricTable)
  const metrics = new Map(rows.map(([name, row]) => [name, makeMetric(name, row, registry)]))

  return {
    counter: (name) => metrics.get(name) as Counter,
    gauge: (name) => metrics.get(name) as Gauge,
    histogram: (name) => metrics.get(name) as Histogram,
    replace(source, samples) {
      for (const [name, row] of rows) {
        if (row.source !== source) continue
        const metric = metrics.get(name)!
        metric.reset()
        // Without labels it would tell 0 of what is not known.
        if (row.labels.length === 0) metric.remove()
      }
      for (const { name, labels = {}, value } of samples) {
        const metric = metrics.get(name)
        if (metric instanceof Gauge) metric.set(labels, value)
        else if (metric instanceof Counter) metric.inc(labels, value)
      }
    },
    text: () => registry.metrics(),
  }
}
