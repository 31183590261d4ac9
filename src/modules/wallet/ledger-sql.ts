/** SQL parts of statements that move money: transfers and their entries, transfer IDs, commit charges, and account locks. */
import type { Entry } from '../../db/prisma/client.ts'
import { numeric } from '../../db/sql.ts'
import { NIL_UUID } from '../../shared/ids.ts'

/** One entry of a transfer. `wallet` (a user UUID) and `amount` are SQL expressions. A positive amount credits the account. */
export type EntryLine = { currency: Entry['currency']; amount: string } & (
  | { wallet: string }
  | { book: NonNullable<Entry['book']> }
)

/** SQL parts of a statement that posts transfers. */
export interface TransferParts {
  /** CTE or join with one row per transfer to post. */
  from: string
  /** SQL expression of the transfer's UUID. Defaults to the column `transfer_id`. */
  id?: string
  /** SQL expression of the transfer's reference. The unique index on it prevents a second transfer with the same reference. */
  reference: string
  /** SQL expression of the reason that an administrator entered. Optional. */
  reason?: string
  /** SQL condition that must be true to post the transfer. Optional. */
  when?: string
  /**
   * The entries of each transfer in order, or a query with the columns `position, wallet_id, book, currency, amount`. The amounts must add
   * up to zero in each currency.
   */
  lines: readonly EntryLine[] | string
  /** True to omit entries with amount 0, which a CHECK constraint of the table would reject. */
  omitsZeros?: boolean
}

/** Returns one SQL row. Every value has a cast, because PostgreSQL treats a column of untyped nulls as text. */
const valueSql = (line: EntryLine, index: number) => {
  const [wallet, book] = 'wallet' in line ? [line.wallet, 'null'] : ['null', `'${line.book}'`]
  return `(${index + 1}, ${wallet}::uuid, ${book}::book, '${line.currency}'::currency, ${line.amount})`
}

const whereSql = (...conditions: (string | false | undefined)[]) => {
  const given = conditions.filter(Boolean)
  return given.length ? `where ${given.join(' and ')}` : ''
}

/** Returns the CTEs that post transfers. `inserted_transfers (id)` has one row per posted transfer. */
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

/**
 * SQL condition: true if a new `uuidv7()` is greater than the ID of the wallet's latest transfer. Within a session, each `uuidv7()` is
 * greater than the previous one.
 */
const isPastSql = (wallet: string) => `uuidv7() > coalesce((
  select e.transfer_id from entries e where e.wallet_id = ${wallet}.user_id order by e.transfer_id desc limit 1), '${NIL_UUID}'::uuid)`

/**
 * Returns the SQL of the ID for a wallet's next transfer. `wallet` is the alias of a locked row. Wallet statements are sorted by these IDs,
 * so they are created under the row lock (decision 21). Usually `uuidv7()` is enough. If the latest transfer ID is ahead of the clock,
 * `next_transfer_ids` continues from that ID. That function also sees transfers that were committed while the statement waited for the
 * lock.
 */
export const nextTransferSql = (wallet: string) =>
  `case when ${isPastSql(wallet)} then uuidv7() else (next_transfer_ids(${wallet}.user_id))[1] end`

/** Returns the CTE `new_transfer (transfer_id)`: an ID for one transfer between all wallets that the CTE `from` has locked. */
export const newTransferSql = (from: string) => `
  new_transfer as materialized (
    select ${nextTransferSql(from)} as transfer_id from ${from} order by transfer_id desc limit 1
  )`

/**
 * Returns SQL that splits a payment: points first, then currency units. `points` is the balance of points. Parameters and results are SQL
 * expressions. `quoteOf` does the same in TypeScript. `test/unit/wallet/points-first.test.ts` compares both.
 */
export const pointsFirstSql = (points: string, amount: string) => {
  const inPoints = `least(${points}, ${amount})`
  return { points: inPoints, num: `(${amount} - ${inPoints})` }
}

/** SQL parts of a statement that charges for commits. */
export interface ChargeParts {
  /** Name of a CTE with one row per payer whose commit is allowed: `(payer, fee, gas, …)`. */
  from: string
}

/** Parameters of a statement that charges for commits. */
export const charged = { fee: numeric, gas: numeric }

const total = pointsFirstSql('w.points', 'due.fee + due.gas')
/** Points and currency units each pay the fee first, then the gas. */
const fee = pointsFirstSql('charge.points', 'charge.fee')

/**
 * Returns the CTEs that charge wallets for commits, points first. The same statement must insert the commits: if a wallet cannot pay,
 * `charge` has no row and later CTEs have no effect. Columns of `charge`: `points, num, sequence, commit_id, transfer_id`, and the columns
 * of `from`.
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
 * SQL joins and row locks for a statement that writes for several callers. For each account it locks the wallet, which pays, and the user,
 * which new rows reference. It skips accounts that another transaction has locked, so no caller waits for another account.
 */
export const heldAccountSql = {
  /** Returns the join. `user` is the SQL expression of the user's UUID. */
  join: (user: string) => `join wallets held on held.user_id = ${user} join users named on named.id = ${user}`,
  locks: 'for no key update of held skip locked for key share of named skip locked',
}
