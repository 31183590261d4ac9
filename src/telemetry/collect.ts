/** What is read while `/metrics` is: from this process, from the database by one statement, from the books, from the chain. */

import type { Query } from '../db/sql.ts'
import { unavailable } from '../shared/errors.ts'
import { fromUnits } from '../shared/money.ts'
import { createBooks } from './ledger-metrics.ts'
import { type MetricName, type MetricRow, type MetricSource, metricTable } from './metric-table.ts'
import { readState } from './metrics.sql.ts'
import type { Sample } from './registry.ts'
import type { PoolLoad, WatchedRelay, WatchedServices } from './telemetry-types.ts'

/** Everything whose state is shown. */
export interface Watched extends WatchedServices {
  database: {
    query: Query
    load(): PoolLoad
    /** Reads that Prisma had to answer since the start, by what was read. */
    readonly fallbacks: ReadonlyMap<string, number>
    /** How often this process stood still since the start. */
    standstills(): number
  }
  relay: WatchedRelay
}

/** What each source says now. Each raises what keeps it from telling; `signal` ends it. */
export type Sources = Readonly<Record<MetricSource, (signal: AbortSignal) => Promise<Sample[]>>>

const MS = 1_000
const relayStates = ['stopped', 'starting', 'working', 'standby', 'waiting'] as const

/** A number for showing; no amount is ever made from it again. */
const coins = (wei: bigint) => Number(fromUnits(wei))

function poolSamples({ size, open, inUse, waiting, lists }: PoolLoad): Sample[] {
  return [
    { name: 'annal_pool_size', value: size },
    { name: 'annal_pool_kept_from_lists', value: size - lists.places },
    { name: 'annal_pool_open', value: open },
    { name: 'annal_pool_in_use', value: inUse },
    { name: 'annal_pool_waiting', value: waiting },
  ]
}

const queueSamples = (queues: WatchedServices['queues']) =>
  Object.entries(queues).flatMap(([queue, load]): Sample[] => {
    const { places, running, waiting, refused } = load()
    const labels = { queue }
    return [
      { name: 'annal_queue_places', labels, value: places },
      { name: 'annal_queue_running', labels, value: running },
      { name: 'annal_queue_waiting', labels, value: waiting },
      { name: 'annal_queue_refused_total', labels, value: refused },
    ]
  })

function relaySamples(relay: WatchedRelay): Sample[] {
  const { state, headNumber, stepAge, nextBaseFee, maxFeePerGas, lanes } = relay.status()
  return [
    ...relayStates.map(
      (each): Sample => ({ name: 'annal_relay_state', labels: { state: each }, value: each === state ? 1 : 0 }),
    ),
    ...(stepAge === null ? [] : [{ name: 'annal_relay_step_age_seconds', value: stepAge / MS } as const]),
    ...(headNumber === null ? [] : [{ name: 'annal_relay_head', value: headNumber } as const]),
    ...(nextBaseFee === null ? [] : [{ name: 'annal_relay_base_fee_wei', value: Number(nextBaseFee) } as const]),
    { name: 'annal_relay_max_fee_wei', value: Number(maxFeePerGas) },
    ...lanes.flatMap(({ address: account, isHeld, inFlight }): Sample[] => [
      { name: 'annal_relay_lane_held', labels: { account }, value: isHeld ? 1 : 0 },
      { name: 'annal_relay_in_flight', labels: { account }, value: inFlight },
    ]),
  ]
}

/** `feesPaid`: wei that transactions of this process cost. */
function processSamples({ database, queues, uploadBytes, streams, relay }: Watched, feesPaid: bigint): Sample[] {
  const load = database.load()
  return [
    ...poolSamples(load),
    ...queueSamples({ lists: () => load.lists, ...queues }),
    ...[...database.fallbacks].map(
      ([read, value]): Sample => ({ name: 'annal_read_fallbacks_total', labels: { read }, value }),
    ),
    { name: 'annal_standstills_total', value: database.standstills() },
    { name: 'annal_uploads_running_bytes', value: uploadBytes() },
    { name: 'annal_streams', value: streams() },
    ...relaySamples(relay),
    { name: 'annal_relay_fees_paid_coins_total', value: coins(feesPaid) },
  ]
}

async function readDatabase({ database, overdue }: Watched): Promise<Sample[]> {
  const [rows, late] = await Promise.all([database.query(readState), overdue()])
  const states = rows.map(({ metric, label, state, value }) => {
    const name = metric as MetricName
    const { labels }: MetricRow = metricTable[name]
    const given = [label, state]
    return { name, labels: Object.fromEntries(labels.map((each, index) => [each, given[index]!])), value }
  })
  const due = late.map(
    ({ sweep, seconds }): Sample => ({ name: 'annal_retention_overdue_seconds', labels: { sweep }, value: seconds }),
  )
  return [...states, ...due]
}

async function readBalances({ balances }: WatchedRelay, signal: AbortSignal): Promise<Sample[]> {
  const found = await balances(signal)
  return [...found].map(([account, wei]) => ({
    name: 'annal_relay_balance_coins',
    labels: { account },
    value: coins(wei),
  }))
}

/** `feesPaid`: wei that transactions of this process cost until now. */
export function createSources(watched: Watched, feesPaid: () => bigint): Sources {
  const books = createBooks(watched.database)
  return {
    process: async () => processSamples(watched, feesPaid()),
    database: () => readDatabase(watched),
    books,
    chain: (signal) => readBalances(watched.relay, signal),
  }
}

/** Raises UNAVAILABLE when `work` takes longer than so many milliseconds; its signal says so then. */
export async function within<T>(milliseconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    ending.abort()
    late.reject(unavailable('A source of metrics'))
  }, milliseconds)
  try {
    return await Promise.race([work(ending.signal), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
