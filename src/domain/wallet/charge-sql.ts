/**
 * The parts of a writing statement that charge a wallet for a commit. They stand in one statement with the effect, so
 * that both happen or neither: a wallet that cannot pay yields no row, and everything after it does nothing.
 */
import { numeric } from '../sql.ts'
import { pointsFirstSql } from './points-sql.ts'
import { postTransferSql } from './post-transfer-sql.ts'
import { nextTransferSql } from './transfer-sql.ts'

/** Whom a commit is charged to, and what must hold first. */
export interface ChargeParts {
  /** The part that has a row for each payer once the effect is allowed: `(payer, fee, gas, …)`, of each payer one. */
  from: string
}

/** Parameters of a statement with these parts. */
export const charged = { fee: numeric, gas: numeric }

const total = pointsFirstSql('w.points', 'due.fee + due.gas')
/** What was taken of each pays the fee first, then gas. */
const fee = pointsFirstSql('charge.points', 'charge.fee')

/**
 * Points are spent first. `charge` tells what was taken, a position in the payer's feed, and what the commit and its
 * transfer are called, beside what it was given: `(points, num, sequence, commit_id, transfer_id, payer, …)`.
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
