/**
 * The money that went through the books, by kind. It is read from the books themselves, so it is right over restarts and alike in
 * every process; each transfer is read once by a process, for transfers are never changed.
 */

import type { Database } from '../db/database-types.ts'
import { NIL_UUID } from '../shared/ids.ts'
import { fromUnits, toUnits } from '../shared/money.ts'
import { readBooks } from './metrics.sql.ts'
import type { Sample } from './registry.ts'

/** Transfers of one statement: some 200 ms on a busy machine, far from where it would be given up. */
const PAGE = 5_000

/** What references of transfers begin with; whatever else there will be is `other`. */
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
  'UNDER_WAY',
  'TREASURY',
  'WITHDRAWALS',
] as const

const known: ReadonlySet<string> = new Set(kinds)

/** Units of 10^-18 by a label or two; counts of transfers are whole. */
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

const raise = (sums: Map<string, bigint>, label: string, by: bigint) => sums.set(label, (sums.get(label) ?? 0n) + by)

const readPage = (database: Pick<Database, 'query'>, after: string) => database.query(readBooks, { after, limit: PAGE })
type Row = Awaited<ReturnType<typeof readPage>>[number]

function add(totals: Totals, row: Row) {
  const kind = known.has(row.kind) ? row.kind : 'other'
  raise(totals.transfers, kind, BigInt(row.transfers))
  if (row.currency === null) return
  raise(totals.moved, `${kind} ${row.currency}`, toUnits(row.moved))
  if (row.book !== null) raise(totals.books, `${row.book} ${row.currency}`, toUnits(row.sum))
}

/** A number for showing; no amount is ever made from it again. */
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
      return { name: 'annal_book_units', labels: { book, currency }, value: shown(units) }
    }),
  ]
}

/**
 * What the books say now. What is settled is kept and not read again; of large books the first reading may take several calls,
 * each of which goes on where the one before was stopped. One call at a time; raises when `signal` ends it, and UNAVAILABLE.
 */
export function createBooks(database: Pick<Database, 'query'>) {
  const settled = emptyTotals()
  let settledTo = NIL_UUID

  /** Keeps what is settled; returns the rest. */
  function take(rows: readonly Row[]): Row[] {
    for (const row of rows) if (row.is_settled) add(settled, row)
    settledTo = rows.find((row) => row.is_settled)?.last ?? settledTo
    return rows.filter((row) => !row.is_settled)
  }

  return async (signal: AbortSignal): Promise<Sample[]> => {
    const recent: Row[] = []
    for (let after = settledTo, isWhole = false; !isWhole; ) {
      const rows = await readPage(database, after)
      // Whoever asked has gone, and somebody else may be reading by now.
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
