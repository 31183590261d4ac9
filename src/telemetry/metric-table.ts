/**
 * All metrics of the service. `npm run generate` lists them in docs/reference/metrics.md and adds missing panels to the
 * dashboard. prom-client adds the default metrics of the process (`process_…`, `nodejs_…`).
 */

export const metricSources = ['process', 'database', 'ledger', 'chain'] as const
export type MetricSource = (typeof metricSources)[number]

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One sentence for operators, with the unit. */
  readonly help: string
  readonly labels: readonly string[]
  readonly buckets?: readonly number[]
  /** Source that is read for each scrape. Undefined: the process counts events. */
  readonly source?: MetricSource | undefined
  /** Label values that start at 0, so that Prometheus sees the first increase. */
  readonly initial?: readonly Readonly<Record<string, string>>[]
}

const metricsOf = <const Source extends MetricSource | undefined>(source: Source) => ({
  counter: <const Labels extends string[]>(help: string, ...labels: Labels) =>
    ({ type: 'counter', source, help, labels }) as const,
  gauge: <const Labels extends string[]>(help: string, ...labels: Labels) =>
    ({ type: 'gauge', source, help, labels }) as const,
  histogram: <const Labels extends string[]>(buckets: readonly number[], help: string, ...labels: Labels) =>
    ({ type: 'histogram', help, labels, buckets }) as const,
})

/** Events of this process. */
const event = metricsOf(undefined)
const process = metricsOf('process')
const database = metricsOf('database')
const ledger = metricsOf('ledger')
const chain = metricsOf('chain')
const REQUEST_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const WEBHOOK_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]

/** Metrics by name, in the order of the documentation. */
export const metricTable = {
  annal_build_info: event.gauge('Always 1. The label is the running version.', 'version'),
  annal_scrape_source_up: event.gauge('1 if a metrics source responded in time. Otherwise 0.', 'source'),
  annal_scrape_source_seconds: event.gauge('Duration of reading a metrics source, in seconds.', 'source'),

  annal_requests_total: event.counter(
    'Completed requests, by HTTP status (aborted: the client disconnected before the response) and error code (OK: none).',
    'api',
    'operation',
    'status',
    'code',
  ),
  annal_request_duration_seconds: event.histogram(
    REQUEST_SECONDS,
    'Seconds from the headers of a request to the end of its response. Streams are not included.',
    'api',
    'operation',
  ),
  annal_requests_in_flight: event.gauge('Requests in progress, including streams.'),

  annal_limit_rejections_total: event.counter('Requests rejected by a limit, by name of the limit.', 'limit'),
  annal_queue_capacity: process.gauge('Maximum number of concurrent operations of a queue of this process.', 'queue'),
  annal_queue_running: process.gauge('Running operations of a queue of this process.', 'queue'),
  annal_queue_waiting: process.gauge('Waiting operations of a queue of this process.', 'queue'),
  annal_queue_rejected_total: process.counter('Operations that a full or slow queue rejected.', 'queue'),

  annal_pool_size: process.gauge('Maximum number of database connections of this process.'),
  annal_pool_reserved: process.gauge('Database connections that lists never use.'),
  annal_pool_open: process.gauge('Open database connections.'),
  annal_pool_in_use: process.gauge('Database connections in use.'),
  annal_pool_waiting: process.gauge('Operations that wait for a database connection.'),
  annal_read_fallbacks_total: process.counter('Reads that the read compiler does not support: bugs.', 'read'),
  annal_process_stalls_total: process.counter('Times that this process was frozen for several seconds.'),

  annal_processes: database.gauge('Running processes of the installation, by role.', 'role'),
  annal_upload_bytes_total: event.counter('Bytes of uploaded files.'),
  annal_uploads_total: {
    ...event.counter('Files in requests: accepted or rejected.', 'outcome'),
    initial: [{ outcome: 'accepted' }, { outcome: 'rejected' }],
  },
  annal_upload_in_progress_bytes: process.gauge('Bytes of files whose requests are in progress.'),
  annal_streams: process.gauge('Open event streams and subscriptions.'),

  annal_webhook_attempts_total: {
    ...event.counter('Webhook delivery attempts, by outcome and class of the HTTP status.', 'outcome', 'status'),
    initial: [{ outcome: 'delivered', status: '2xx' }],
  },
  annal_webhook_attempt_duration_seconds: event.histogram(WEBHOOK_SECONDS, 'Seconds of a webhook delivery attempt.'),
  annal_webhooks_disabled: database.gauge('Network apps whose webhook is disabled because the receiver returned 410.'),
  annal_mails_total: {
    ...event.counter('Mails: sent, rejected (unknown recipient) or failed (will be retried).', 'outcome'),
    initial: [{ outcome: 'sent' }, { outcome: 'rejected' }, { outcome: 'failed' }],
  },

  annal_jobs: database.gauge('Background jobs by state: created, retry (both waiting) or active.', 'queue', 'state'),
  annal_jobs_oldest_seconds: database.gauge('Age of the oldest waiting job, in seconds. 0 if none waits.', 'queue'),
  annal_jobs_overdue_seconds: database.gauge('Longest delay of a due job, in seconds. 0 if none is due.', 'queue'),
  annal_jobs_dead: database.gauge('Dead-letter jobs: abandoned jobs that are kept for an operator.', 'queue'),
  annal_batch_failures: database.gauge('Items that a batch job could not process and retries.', 'batch_job'),
  annal_batch_items_total: event.counter('Items that batch jobs of this process processed.', 'batch_job'),
  annal_retention_overdue_seconds: database.gauge(
    'Delay of the deletion of the oldest expired row, in seconds. Rows that failed are excluded. 0 if no row is overdue.',
    'batch_job',
  ),
  annal_withdrawals_waiting_seconds: database.gauge('Longest delay of a due withdrawal, in seconds. 0 if none is due.'),
  annal_deposits: database.gauge('Deposits that are pending, or frozen by a reorg after they were credited.', 'status'),
  annal_deposits_uncredited: database.gauge('Confirmed deposits that could not be credited yet.'),
  annal_suspended_transfers: database.gauge('Coin transfers that wait for deposits to return after a reorg.'),
  annal_deposits_shortfall_units: database.gauge('Currency units that wallets owe for spent frozen deposits.'),

  annal_relay_commits: database.gauge(
    'Commits on their way to the chain: accepted, ready (signed by the author), signed (nonce reserved), broadcast, included (not final).',
    'state',
  ),
  annal_relay_lag_seconds: database.gauge('Age of the oldest commit that is in no block, in seconds. 0 if none.'),
  annal_relay_commits_failing: database.gauge('Accepted commits that could not be signed and are retried.'),
  annal_relay_state: process.gauge('1 for the state of the relay of this process.', 'state'),
  annal_relay_step_age_seconds: process.gauge('Seconds since the last successful step of the relay of this process.'),
  annal_relay_lane_held: process.gauge('1 if this process holds the lane of a relay account.', 'account'),
  annal_relay_in_flight: process.gauge('Signed transactions of a relay account that are not in a block.', 'account'),
  annal_relay_head: process.gauge('Number of the newest block that the relay of this process has seen.'),
  annal_relay_base_fee_wei: process.gauge('Base fee of the next block, in wei per unit of gas.'),
  annal_relay_max_fee_wei: process.gauge('Maximum fee of the relay (CHAIN_MAX_FEE_GWEI), in wei per unit of gas.'),
  annal_relay_fees_paid_coins_total: event.counter('Fees of included transactions, in coins (10^18 wei).'),
  annal_relay_balance_coins: chain.gauge('Balance of a relay account, in coins (10^18 wei).', 'account'),

  annal_transfers_total: ledger.counter('Transfers in the ledger, by kind.', 'kind'),
  annal_money_moved_units_total: ledger.counter('Currency units moved by transfers of a kind.', 'kind', 'currency'),
  annal_ledger_balance_units: ledger.gauge('Currency units of a ledger account of the platform.', 'book', 'currency'),
} as const satisfies Record<string, MetricRow>

export type MetricName = keyof typeof metricTable

export type NamesOf<Type extends MetricRow['type']> = {
  [Name in MetricName]: (typeof metricTable)[Name]['type'] extends Type ? Name : never
}[MetricName]

export type LabelsOf<Name extends MetricName> = Record<(typeof metricTable)[Name]['labels'][number], string>

export interface Sample {
  readonly name: MetricName
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}
