/** SQL parts of statements that move money: transfers with their entries, transfer IDs, the charge of a commit, and account locks. */
import type { Entry } from '../../db/prisma/client.ts'
import { numeric } from '../../db/sql.ts'
import { NIL_UUID } from '../../shared/ids.ts'

/** One entry of a transfer. `wallet` and `amount` are SQL expressions: the user's UUID, and the amount that the account gains. */
export type EntryLine = { currency: Entry['currency']; amount: string } & (
  | { wallet: string }
  | { book: NonNullable<Entry['book']> }
)

/** Parts of the SQL that posts transfers with their entries. */
export interface TransferParts {
  /** CTE or join with one row for each transfer. It has no row if nothing happened. */
  from: string
  /** SQL expression of the transfer's UUID. Default: the column `transfer_id`. */
  id?: string
  /** SQL expression of the transfer's reference. The unique index prevents a second transfer with this reference. */
  reference: string
  /** SQL expression of the reason that an administrator gave. Omit for no reason. */
  reason?: string
  /** SQL condition for posting the transfer. Omit to post it always. */
  when?: string
  /**
   * The entries of each transfer in the order of their positions, or a query with the columns `position, wallet_id, book, currency, amount`. The
   * amounts add up to zero in each currency.
   */
  lines: readonly EntryLine[] | string
  /** True to omit entries of 0. Otherwise the table's CHECK rejects them. */
  omitsZeros?: boolean
}

/** Each value has a cast, because PostgreSQL treats a column of untyped nulls as text. */
const valueSql = (line: EntryLine, index: number) => {
  const [wallet, book] = 'wallet' in line ? [line.wallet, 'null'] : ['null', `'${line.book}'`]
  return `(${index + 1}, ${wallet}::uuid, ${book}::book, '${line.currency}'::currency, ${line.amount})`
}

const whereSql = (...conditions: (string | false | undefined)[]) => {
  const given = conditions.filter(Boolean)
  return given.length ? `where ${given.join(' and ')}` : ''
}

/** The CTEs that post transfers. `inserted_transfers (id)` has a row for each posted transfer. */
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

/** Within a session, each `uuidv7()` is greater than the one before. */
const isPastSql = (wallet: string) => `uuidv7() > coalesce((
  select e.transfer_id from entries e where e.wallet_id = ${wallet}.user_id order by e.transfer_id desc limit 1), '${NIL_UUID}'::uuid)`

/**
 * Returns the SQL of the ID of a wallet's next transfer. `wallet` is the alias of a locked row. A wallet's statement is sorted by these IDs, so the
 * database makes them under the row lock (decision 21). Usually `uuidv7()` is enough. If the wallet has a transfer whose ID is ahead of the clock, the
 * function `next_transfer_ids` continues from that ID. The function also sees the transfers that were written while the statement waited for the lock.
 */
export const nextTransferSql = (wallet: string) =>
  `case when ${isPastSql(wallet)} then uuidv7() else (next_transfer_ids(${wallet}.user_id))[1] end`

/** The CTE `new_transfer (transfer_id)`: the ID of one transfer of all wallets that the CTE `from` has locked. */
export const newTransferSql = (from: string) => `
  new_transfer as materialized (
    select ${nextTransferSql(from)} as transfer_id from ${from} order by transfer_id desc limit 1
  )`

/**
 * Returns the SQL of how an amount is paid: points first, then currency units. `points` is the balance of points. Both parameters and both results
 * are SQL expressions. `quoteOf` does the same in TypeScript, and `test/unit/wallet/points-first.test.ts` compares the two.
 */
export const pointsFirstSql = (points: string, amount: string) => {
  const inPoints = `least(${points}, ${amount})`
  return { points: inPoints, num: `(${amount} - ${inPoints})` }
}

/** Parts of the SQL that charges commits. */
export interface ChargeParts {
  /** CTE with one row for each payer whose commit is allowed: `(payer, fee, gas, …)`. */
  from: string
}

/** Parameters of a statement that charges commits. */
export const charged = { fee: numeric, gas: numeric }

const total = pointsFirstSql('w.points', 'due.fee + due.gas')
/** Each currency pays the fee first, then gas. */
const fee = pointsFirstSql('charge.points', 'charge.fee')

/**
 * The CTEs that charge wallets for commits, points first. They are in one statement with the commits: a wallet that cannot pay has no row in `charge`,
 * and the CTEs after it do nothing for it. Columns of `charge`: `points, num, sequence, commit_id, transfer_id`, and the columns of `from`.
 */
export const chargeSql = ({ from }: ChargeParts) => `
  charge as (
    update wallets w set
      points = w.points - ${total.points},
      num = w.num - ${total.num},
      event_sequence = w.event_sequence + 1
    from ${from} due
    where w.user_id = due.payer and w.closed_at is null and w.points + w.num >= due.fee + due.gas
    returning old.points - new.points as points, old.num - new.num as num, new.event_sequence as sequence,
      uuidv7() as commit_id, ${nextTransferSql('w')} as transfer_id, due.*
  ),
  ${postTransferSql({
    from: 'charge',
    reference: `'commit:' || commit_id`,
    omitsZeros: true,
    lines: [
      { wallet: 'charge.payer', currency: 'POINTS', amount: '-charge.points' },
      { wallet: 'charge.payer', currency: 'NUM', amount: '-charge.num' },
      { book: 'REVENUE', currency: 'POINTS', amount: fee.points },
      { book: 'REVENUE', currency: 'NUM', amount: fee.num },
      { book: 'GAS', currency: 'POINTS', amount: `charge.points - ${fee.points}` },
      { book: 'GAS', currency: 'NUM', amount: `charge.num - ${fee.num}` },
    ],
  })}`

/**
 * Joins and locks of a statement that writes for several callers. It locks each account's wallet, which pays, and its user, which new rows reference.
 * Accounts that another transaction has locked are skipped, so no caller waits for another account.
 */
export const heldAccountSql = {
  /** `user` is the SQL of the UUID. */
  join: (user: string) => `join wallets held on held.user_id = ${user} join users named on named.id = ${user}`,
  locks: 'for no key update of held skip locked for key share of named skip locked',
}
