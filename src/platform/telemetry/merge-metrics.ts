import { AggregatorRegistry } from 'prom-client'

/** Metrics of several processes, each with a label of its own, as one text in the format of Prometheus. */
export const mergeMetrics = (lists: readonly (readonly object[])[]): Promise<string> =>
  // Their labels keep them apart, so that nothing is summed or averaged.
  AggregatorRegistry.aggregate(lists.map((list) => list.map((metric) => ({ ...metric, aggregator: 'sum' })))).metrics()
