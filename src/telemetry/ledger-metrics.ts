/** Ledger sums by kind of transfer. Transfers never change, so a process reads each transfer once. */

import type { Database } from '../db/database-types.ts'
import { bigint, boolean, int, numeric, orNull, statement, text, uuid } from '../db/sql.ts'
import { NIL_UUID } from '../shared/ids.ts'
import { fromUnits, toUnits } from '../shared/money.ts'
import { type MetricName, type MetricRow, metricTable, type Sample } from './metric-table.ts'
import { PATIENCE_MS } from './metrics.sql.ts'

/** Age after which a transfer is settled, in seconds. It exceeds any transaction, so no older transfer can appear. */
const SETTLED_SECONDS = 60

/** A row without book and currency counts transfers. `moved` sums positive entries. `last` is the page's last (un)settled transfer. */
const readTransfers = statement(
  'metrics_ledger',
  {
    patience: PATIENCE_MS,
    parameters: { after: uuid, limit: int },
    columns: {
      is_settled: boolean,
      kind: text,
      book: orNull(text),
      currency: orNull(text),
      moved: numeric,
      sum: numeric,
      transfers: bigint,
      last: uuid,
      size: int,
    },
  },
  `with boundary as materialized (select uuidv7(interval '-${SETTLED_SECONDS} seconds') as id),
   page as materialized (
     select t.id, split_part(t.reference, ':', 1) as kind, t.id < boundary.id as is_settled
     from transfers t, boundary where t.id > $after order by t.id limit $limit
   ),
   ends as (
     select is_settled, (array_agg(id order by id desc))[1] as last, (select count(*) from page)::int as size
     from page group by is_settled
   ),
   sums as (
     select is_settled, kind, null as book, null as currency, 0 as moved, 0 as sum, count(*) as transfers from page group by 1, 2
     union all
     select p.is_settled, p.kind, e.book::text, e.currency::text, coalesce(sum(e.amount) filter (where e.amount > 0), 0), sum(e.amount), 0
     from page p join entries e on e.transfer_id = p.id group by 1, 2, 3, 4
   )
   select is_settled, kind, book, currency, moved, sum, transfers, last, size from sums join ends using (is_settled)`,
)

/** Transfers per statement, which takes 200 ms on a busy machine. */
const PAGE = 5_000

/** First parts of transfer references. Other kinds count as `other`. */
const kinds = [
  ...['sign-up', 'commit', 'refund', 'order', 'order-refund', 'withdrawal', 'withdrawal-refund'],
  ...['deposit', 'deposit-freeze', 'deposit-release', 'deposit-collection', 'deposit-write-off', 'grant', 'forfeit'],
  'other',
]
const currencies = ['NUM', 'POINTS']
const books = [
  ...['REVENUE', 'GAS', 'PROMOTION', 'DEPOSITS', 'TOKENS', 'SHORTFALL', 'FORFEITED', 'IN_TRANSIT', 'TREASURY'],
  'WITHDRAWALS',
]

/** Numbers of transfers, and sums in units of 10^-18, by metric and labels. */
type Totals = Map<string, bigint>

const keyOf = (name: MetricName, ...labels: string[]) => [name, ...labels].join(' ')

const allKeys = [
  ...kinds.map((kind) => keyOf('annal_transfers_total', kind)),
  ...kinds.flatMap((kind) => currencies.map((currency) => keyOf('annal_money_moved_units_total', kind, currency))),
  ...books.flatMap((book) => currencies.map((currency) => keyOf('annal_ledger_balance_units', book, currency))),
]

const readPage = (database: Pick<Database, 'query'>, after: string) =>
  database.query(readTransfers, { after, limit: PAGE })
type Row = Awaited<ReturnType<typeof readPage>>[number]

function add(totals: Totals, { kind: name, book, currency, moved, sum, transfers }: Row) {
  const increase = (key: string, by: bigint) => totals.set(key, (totals.get(key) ?? 0n) + by)
  const kind = kinds.includes(name) ? name : 'other'
  increase(keyOf('annal_transfers_total', kind), BigInt(transfers))
  if (currency === null) return
  increase(keyOf('annal_money_moved_units_total', kind, currency), toUnits(moved))
  if (book !== null) increase(keyOf('annal_ledger_balance_units', book, currency), toUnits(sum))
}

function sampleOf([key, total]: [string, bigint]): Sample {
  const [name, ...values] = key.split(' ') as [MetricName, ...string[]]
  const { labels }: MetricRow = metricTable[name]
  // The conversion of an amount to a number is not exact.
  const value = Number(name === 'annal_transfers_total' ? total : fromUnits(total))
  return { name, labels: Object.fromEntries(labels.map((label, index) => [label, values[index]!])), value }
}

/** Reads only new transfers. A call continues where the previous call was aborted. Make one call at a time. Throws UNAVAILABLE. */
export function createLedgerReader(database: Pick<Database, 'query'>) {
  const settled: Totals = new Map(allKeys.map((key) => [key, 0n]))
  let settledTo = NIL_UUID

  return async (signal: AbortSignal): Promise<Sample[]> => {
    const recent: Row[] = []
    for (let after = settledTo, isWhole = false; !isWhole; ) {
      const rows = await readPage(database, after)
      // After an abort, a later call may already read transfers.
      signal.throwIfAborted()
      for (const row of rows) {
        if (row.is_settled) add(settled, row)
        else recent.push(row)
      }
      settledTo = rows.find((row) => row.is_settled)?.last ?? settledTo
      after = rows.find((row) => !row.is_settled)?.last ?? settledTo
      isWhole = (rows[0]?.size ?? 0) < PAGE
    }
    const totals = new Map(settled)
    for (const row of recent) add(totals, row)
    return [...totals].map(sampleOf)
  }
}
