/**
 * Every metric of the service, once: what `/metrics` shows, `docs/metrics.md` tells and dashboard and alerts go by. Besides
 * these there are those of the process, which prom-client names (`process_…`, `nodejs_…`).
 */

/** A metric as it is declared. */
export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One sentence for operators, with the unit. */
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[]
  /**
   * Where it is read from while it is scraped; what that cannot tell within its time is missing from the answer. Counted as it
   * happens, in this process, when left out.
   */
  readonly source?: MetricSource
}

/** What is asked while `/metrics` is: this process, the database (once), the books (once), the chain (once). */
export const metricSources = ['process', 'database', 'books', 'chain'] as const
/** One of them. */
export type MetricSource = (typeof metricSources)[number]

/** Seconds. */
const REQUEST_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Seconds. */
const WEBHOOK_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]

/** By name, in the order in which they are told. */
export const metricTable = {
  annal_build_info: { type: 'gauge', labels: ['version'], help: 'Always 1; the version that runs.' },
  annal_scrape_source_up: {
    type: 'gauge',
    labels: ['source'],
    help: 'Whether a source answered in time: process, database, books or chain. The metrics of one that did not are missing.',
  },
  annal_scrape_source_seconds: { type: 'gauge', labels: ['source'], help: 'Seconds that a source took.' },

  annal_requests_total: {
    type: 'counter',
    labels: ['door', 'operation', 'status', 'code'],
    help: 'Requests that ended, by HTTP status (aborted: the caller left before the answer) and by the code of the refusal (OK: none).',
  },
  annal_request_duration_seconds: {
    type: 'histogram',
    labels: ['door', 'operation'],
    buckets: REQUEST_SECONDS,
    help: 'Seconds from the headers of a request to the end of its answer; streams are not in it.',
  },
  annal_requests_in_flight: {
    type: 'gauge',
    labels: [],
    help: 'Requests that are being answered, streams among them.',
  },

  annal_limit_refusals_total: { type: 'counter', labels: ['limit'], help: 'Refusals by a limit, by its name.' },
  annal_queue_places: {
    type: 'gauge',
    source: 'process',
    labels: ['queue'],
    help: 'How many a queue of this process lets in at once.',
  },
  annal_queue_running: { type: 'gauge', source: 'process', labels: ['queue'], help: 'How many are in.' },
  annal_queue_waiting: { type: 'gauge', source: 'process', labels: ['queue'], help: 'How many wait to be let in.' },
  annal_queue_refused_total: {
    type: 'counter',
    source: 'process',
    labels: ['queue'],
    help: 'How many were turned away: the queue was full, or they waited too long.',
  },

  annal_pool_size: {
    type: 'gauge',
    source: 'process',
    labels: [],
    help: 'Connections to the database that this process may have.',
  },
  annal_pool_kept_from_lists: {
    type: 'gauge',
    source: 'process',
    labels: [],
    help: 'Connections that lists never take.',
  },
  annal_pool_open: { type: 'gauge', source: 'process', labels: [], help: 'Connections that are open.' },
  annal_pool_in_use: { type: 'gauge', source: 'process', labels: [], help: 'Connections that somebody holds.' },
  annal_pool_waiting: { type: 'gauge', source: 'process', labels: [], help: 'Who waits for a connection.' },
  annal_read_fallbacks_total: {
    type: 'counter',
    source: 'process',
    labels: ['read'],
    help: 'Reads that were left to Prisma, which is slower: a fault of ours.',
  },
  annal_standstills_total: {
    type: 'counter',
    source: 'process',
    labels: [],
    help: 'How often this process stood still for longer than anybody waits, as when it is frozen.',
  },

  annal_processes: {
    type: 'gauge',
    source: 'database',
    labels: ['role'],
    help: 'Processes of the installation that live and have a role; 0 of one that nobody has.',
  },
  annal_upload_bytes_total: { type: 'counter', labels: [], help: 'Bytes of files that came in.' },
  annal_uploads_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Files that requests announced: taken, or refused.',
  },
  annal_uploads_running_bytes: {
    type: 'gauge',
    source: 'process',
    labels: [],
    help: 'Bytes of files whose requests are under way, not yet paid for.',
  },
  annal_streams: {
    type: 'gauge',
    source: 'process',
    labels: [],
    help: 'Event streams and subscriptions that are open.',
  },

  annal_webhook_attempts_total: {
    type: 'counter',
    labels: ['outcome', 'status'],
    help: 'Attempts to deliver a webhook, but for test events: delivered, failed (tried again) or given-up; by class of the HTTP status (none: no answer).',
  },
  annal_webhook_attempt_duration_seconds: {
    type: 'histogram',
    labels: [],
    buckets: WEBHOOK_SECONDS,
    help: 'Seconds that an attempt took.',
  },
  annal_webhooks_disabled: {
    type: 'gauge',
    source: 'database',
    labels: [],
    help: 'Network apps whose receiver says that it is gone (410).',
  },
  annal_mails_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Mails: sent, refused (the recipient is unknown) or failed (tried again).',
  },

  annal_jobs: {
    type: 'gauge',
    source: 'database',
    labels: ['queue', 'state'],
    help: 'Background jobs that wait (created), wait for another try (retry) or are carried out (active).',
  },
  annal_jobs_oldest_seconds: {
    type: 'gauge',
    source: 'database',
    labels: ['queue'],
    help: 'Age of the oldest job that waits for its first or another try; 0 without one.',
  },
  annal_jobs_overdue_seconds: {
    type: 'gauge',
    source: 'database',
    labels: ['queue'],
    help: 'How long the job that is due for longest has waited for somebody to carry it out; 0 without one.',
  },
  annal_jobs_dead: {
    type: 'gauge',
    source: 'database',
    labels: ['queue'],
    help: 'Jobs that were given up and are kept for an operator.',
  },
  annal_setbacks: {
    type: 'gauge',
    source: 'database',
    labels: ['sweep'],
    help: 'Items that a sweep could not deal with and tries ever more rarely.',
  },
  annal_swept_total: {
    type: 'counter',
    labels: ['sweep'],
    help: 'Items that sweeps of this process dealt with: rows that were forgotten because they were old, and histories of deleted assets.',
  },
  annal_retention_overdue_seconds: {
    type: 'gauge',
    source: 'database',
    labels: ['sweep'],
    help: 'For how long the oldest row is due to be forgotten, but for those that a sweep could not deal with; 0 without one. Sweeps come every hour.',
  },
  annal_withdrawals_waiting_seconds: {
    type: 'gauge',
    source: 'database',
    labels: [],
    help: 'Seconds that the oldest withdrawal is due and not signed for, or signed for and taken by no node, because the treasury is short of coins or the chain away; 0 when none is.',
  },
  annal_deposits: {
    type: 'gauge',
    source: 'database',
    labels: ['status'],
    help: 'Deposits that are pending (not deep enough to count) or frozen (credited, and the chain has lost them).',
  },
  annal_deposits_set_aside: {
    type: 'gauge',
    source: 'database',
    labels: [],
    help: 'Deposits that count and could not be credited yet.',
  },
  annal_coin_moves_waiting: {
    type: 'gauge',
    source: 'database',
    labels: [],
    help: 'Moves of coins that the chain had lost and that wait until what it has at their addresses is credited, as the mover of coins saw it last.',
  },
  annal_deposits_shortfall_units: {
    type: 'gauge',
    source: 'database',
    labels: [],
    help: 'Currency units that wallets owe for frozen deposits, because they had spent them.',
  },

  annal_relay_commits: {
    type: 'gauge',
    source: 'database',
    labels: ['state'],
    help: 'Commits on their way to the chain: accepted, ready (signed by their author), signed (a nonce is taken), broadcast, included (not yet final).',
  },
  annal_relay_lag_seconds: {
    type: 'gauge',
    source: 'database',
    labels: [],
    help: 'Age of the oldest commit that is not in a block; 0 without one.',
  },
  annal_relay_commits_failing: {
    type: 'gauge',
    source: 'database',
    labels: [],
    help: 'Accepted commits that could not be made ready and are tried ever more rarely.',
  },
  annal_relay_state: {
    type: 'gauge',
    source: 'process',
    labels: ['state'],
    help: '1 for what the relay of this process does: stopped, starting, working, standby (another process has the lanes) or waiting.',
  },
  annal_relay_step_age_seconds: {
    type: 'gauge',
    source: 'process',
    labels: [],
    help: 'Seconds since the relay of this process last came through a step without trouble.',
  },
  annal_relay_lane_held: {
    type: 'gauge',
    source: 'process',
    labels: ['account'],
    help: 'Whether this process works the lane of a relay account.',
  },
  annal_relay_in_flight: {
    type: 'gauge',
    source: 'process',
    labels: ['account'],
    help: 'Transactions of a relay account that are signed and not in the chain, as the process that works its lane last saw them.',
  },
  annal_relay_head: {
    type: 'gauge',
    source: 'process',
    labels: [],
    help: 'Number of the newest block that the relay of this process saw.',
  },
  annal_relay_base_fee_wei: {
    type: 'gauge',
    source: 'process',
    labels: [],
    help: 'Base fee of the next block, in wei a unit of gas, when the relay last looked.',
  },
  annal_relay_max_fee_wei: {
    type: 'gauge',
    source: 'process',
    labels: [],
    help: 'Most that the relay offers (CHAIN_MAX_FEE_GWEI), in wei a unit of gas.',
  },
  annal_relay_fees_paid_coins_total: {
    type: 'counter',
    source: 'process',
    labels: [],
    help: 'What included transactions of this process cost, in coins of the chain (10^18 wei).',
  },
  annal_relay_balance_coins: {
    type: 'gauge',
    source: 'chain',
    labels: ['account'],
    help: 'Coins of a relay account (10^18 wei).',
  },

  annal_transfers_total: {
    type: 'counter',
    source: 'books',
    labels: ['kind'],
    help: 'Transfers in the books, by kind.',
  },
  annal_money_moved_units_total: {
    type: 'counter',
    source: 'books',
    labels: ['kind', 'currency'],
    help: 'What transfers of a kind moved, in currency units: the sum of their entries above zero.',
  },
  annal_book_units: {
    type: 'gauge',
    source: 'books',
    labels: ['book', 'currency'],
    help: 'What stands in a book of the platform, in currency units; below zero for what was given out.',
  },
} as const satisfies Record<string, MetricRow>

/** The name of a metric. */
export type MetricName = keyof typeof metricTable
