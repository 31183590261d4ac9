/**
 * The parts of a writing statement that post transfers with their entries. They stand in one statement with the update of
 * the wallets that the entries tell of, whose row locks put the transfers in order (`transfer-sql.ts`).
 */
import type { Entry } from '../../platform/prisma/client.ts'

/** One entry. `wallet` and `amount` are SQL expressions: the user's UUID, and what the account gains. */
export type EntryLine = { currency: Entry['currency']; amount: string } & (
  | { wallet: string }
  | { book: NonNullable<Entry['book']> }
)

/** Which transfers are posted, what they are called, and their entries. */
export interface TransferParts {
  /** The part or join that has a row for each transfer, and none when nothing happened. */
  from: string
  /** SQL expression: the transfer's UUID; the column `transfer_id` when left out. */
  id?: string
  /** SQL expression: what it is called, once and for all. The unique index refuses a second one. */
  reference: string
  /** SQL expression: the reason that an administrator gave; none when left out. */
  reason?: string
  /** SQL condition: whether anything moves at all; always when left out. */
  when?: string
  /**
   * The entries of each transfer in the order of their positions; or a query of them, with the columns
   * `position, wallet_id, book, currency, amount`. Their sum is zero in each currency.
   */
  lines: readonly EntryLine[] | string
  /** Whether lines may be zero and are left out then. Otherwise the table's CHECK refuses a zero. */
  omitsZeros?: boolean
}

/** Types stand with each value, because PostgreSQL would take a column without any for text. */
const valueSql = (line: EntryLine, index: number) => {
  const [wallet, book] = 'wallet' in line ? [line.wallet, 'null'] : ['null', `'${line.book}'`]
  return `(${index + 1}, ${wallet}::uuid, ${book}::book, '${line.currency}'::currency, ${line.amount})`
}

const whereSql = (...conditions: (string | false | undefined)[]) => {
  const given = conditions.filter(Boolean)
  return given.length ? `where ${given.join(' and ')}` : ''
}

/** `inserted_transfers (id)` tells what was posted. */
export const postTransferSql = ({
  from,
  id = 'transfer_id',
  reference,
  reason,
  when,
  lines,
  omitsZeros = false,
}: TransferParts): string => `
  inserted_transfers as (
    insert into transfers (id, reference${reason ? ', reason' : ''}) select ${id}, ${reference}${reason ? `, ${reason}` : ''} from ${from} ${whereSql(when)} returning id
  ),
  inserted_entries as (
    insert into entries (transfer_id, position, wallet_id, book, currency, amount)
    select ${id}, line.position, line.wallet_id, line.book, line.currency, line.amount
    from ${from}, lateral (
      ${typeof lines === 'string' ? lines : `values ${lines.map(valueSql).join(', ')}`}
    ) as line (position, wallet_id, book, currency, amount)
    ${whereSql(when, omitsZeros && 'line.amount <> 0')}
  )`
