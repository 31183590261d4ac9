/**
 * Reads ledger sums by kind of transfer. They come from the ledger, so they survive restarts and are equal in every
 * process. A process reads each transfer once, because transfers never change.
 */

import type { Database } from '../db/database-types.ts'
import { bigint, boolean, int, numeric, orNull, statement, text, uuid } from '../db/sql.ts'
import { NIL_UUID } from '../shared/ids.ts'
import { fromUnits, toUnits } from '../shared/money.ts'
import type { Sample } from './metric-table.ts'
import { PATIENCE_MS } from './metrics.sql.ts'

/**
 * Age after which a transfer is settled, in seconds. Longer than any transaction, so no older transfer can still
 * commit.
 */
const SETTLED_SECONDS = 60

/**
 * Returns sums over a page of transfers after `after`, sorted by ID and therefore by time. A row without book and
 * currency counts transfers. A row without a book sums wallet entries. `last`: the last transfer among the page's
 * settled or other transfers. `size`: number of transfers in the page.
 */
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
      /** Sum of positive entries. */
      moved: numeric,
      /** Sum of all entries. */
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

/** Number of transfers that one statement reads, which takes 200 ms on a busy machine. */
const PAGE = 5_000

/** Known kinds of transfers: the first part of a transfer's reference. Others count as `other`. */
const kinds = [
  'sign-up',
  'commit',
  'refund',
  'order',
  'order-refund',
  'withdrawal',
  'withdrawal-refund',
  'deposit',
  'deposit-freeze',
  'deposit-release',
  'deposit-collection',
  'deposit-write-off',
  'grant',
  'forfeit',
] as const
const currencies = ['NUM', 'POINTS'] as const
const books = [
  'REVENUE',
  'GAS',
  'PROMOTION',
  'DEPOSITS',
  'TOKENS',
  'SHORTFALL',
  'FORFEITED',
  'IN_TRANSIT',
  'TREASURY',
  'WITHDRAWALS',
] as const

const known: ReadonlySet<string> = new Set(kinds)

/** Sums by label, in units of 10^-18. */
interface Totals {
  transfers: Map<string, bigint>
  moved: Map<string, bigint>
  books: Map<string, bigint>
}

const emptyTotals = (): Totals => ({
  transfers: new Map([...kinds, 'other'].map((kind) => [kind, 0n])),
  moved: new Map(kinds.flatMap((kind) => currencies.map((currency) => [`${kind} ${currency}`, 0n]))),
  books: new Map(books.flatMap((book) => currencies.map((currency) => [`${book} ${currency}`, 0n]))),
})

const copyOf = ({ transfers, moved, books }: Totals): Totals => ({
  transfers: new Map(transfers),
  moved: new Map(moved),
  books: new Map(books),
})

const increase = (sums: Map<string, bigint>, label: string, by: bigint) => sums.set(label, (sums.get(label) ?? 0n) + by)

const readPage = (database: Pick<Database, 'query'>, after: string) =>
  database.query(readTransfers, { after, limit: PAGE })
type Row = Awaited<ReturnType<typeof readPage>>[number]

function add(totals: Totals, row: Row) {
  const kind = known.has(row.kind) ? row.kind : 'other'
  increase(totals.transfers, kind, BigInt(row.transfers))
  if (row.currency === null) return
  increase(totals.moved, `${kind} ${row.currency}`, toUnits(row.moved))
  if (row.book !== null) increase(totals.books, `${row.book} ${row.currency}`, toUnits(row.sum))
}

/** Converts an amount to a number for display. The result is not exact. */
const shown = (units: bigint) => Number(fromUnits(units))

function samplesOf({ transfers, moved, books }: Totals): Sample[] {
  const split = (label: string) => label.split(' ') as [string, string]
  return [
    ...[...transfers].map(
      ([kind, count]): Sample => ({ name: 'annal_transfers_total', labels: { kind }, value: Number(count) }),
    ),
    ...[...moved].map(([label, units]): Sample => {
      const [kind, currency] = split(label)
      return { name: 'annal_money_moved_units_total', labels: { kind, currency }, value: shown(units) }
    }),
    ...[...books].map(([label, units]): Sample => {
      const [book, currency] = split(label)
      return { name: 'annal_ledger_balance_units', labels: { book, currency }, value: shown(units) }
    }),
  ]
}

/**
 * Creates the reader of ledger metrics. It keeps the sums of settled transfers and reads only newer ones. For a large
 * ledger, the first read may take several calls. Each call continues where `signal` stopped the previous one. Make
 * one call at a time. Throws UNAVAILABLE.
 */
export function createLedgerReader(database: Pick<Database, 'query'>) {
  const settled = emptyTotals()
  let settledTo = NIL_UUID

  /** Adds settled rows to the totals and returns the others. */
  function take(rows: readonly Row[]): Row[] {
    for (const row of rows) if (row.is_settled) add(settled, row)
    settledTo = rows.find((row) => row.is_settled)?.last ?? settledTo
    return rows.filter((row) => !row.is_settled)
  }

  return async (signal: AbortSignal): Promise<Sample[]> => {
    const recent: Row[] = []
    for (let after = settledTo, isWhole = false; !isWhole; ) {
      const rows = await readPage(database, after)
      // After the abort, another call may already be reading.
      signal.throwIfAborted()
      const rest = take(rows)
      recent.push(...rest)
      after = rest[0]?.last ?? settledTo
      isWhole = (rows[0]?.size ?? 0) < PAGE
    }
    const now = copyOf(settled)
    for (const row of recent) add(now, row)
    return samplesOf(now)
  }
}
