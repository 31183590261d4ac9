/**
 * The CTEs of a statement that refund money of a paid order. The platform and the owner of the app return their shares in proportion. If the
 * owner's wallet has already spent its share, the platform's revenue pays the rest. So the buyer gets the whole refund and no balance falls below
 * zero. These CTEs also number the events of the refund, because a statement can update a wallet's row only once.
 */
import { newTransferSql, postTransferSql } from '../wallet/ledger-sql.ts'

/** What is given back, and who is told. */
export interface RefundParts {
  /**
   * The part that names the refund: `(id, transfer_id, buyer_id, owner_id)`, the order, its charge and whose money it is;
   * `points` and `num`, what the buyer gets; of each the amount `…_before`, given back earlier, and `…_paid`. Empty when nothing
   * is given back.
   */
  from: string
  /** SQL expression: what the transfer is called, once and for all. */
  reference: string
  /** SQL expressions of what the record of it tells. */
  record: { id: string; reason: string; refundedBy: string }
  /** The part whose `owner_id` names a feed once for each event in it. */
  news: string
}

/**
 * What of the refund the platform gives back: its share of all that was given back by now, less its share of what was given
 * back before. So the rounding of parts never adds up to more or less than the whole.
 */
const platformShareSql = (currency: 'points' | 'num') => {
  const shareOf = (amount: string) => `round(earned.${currency} * (${amount}) / nullif(r.${currency}_paid, 0), 18)`
  const before = `r.${currency}_before`
  return `coalesce(${shareOf(`${before} + r.${currency}`)} - ${shareOf(before)}, 0)`
}

/**
 * The parts that give money back. `updated_wallets` tells the positions before the events, `(user_id, before)`;
 * `inserted_transfers (id)` and `inserted_refunds (id)` the refund.
 */
export const refundSql = ({ from, reference, record, news }: RefundParts) => `
  split as materialized (
    select r.*, ${platformShareSql('points')} as points_share, ${platformShareSql('num')} as num_share
    from ${from} r, lateral (
      select coalesce(sum(amount) filter (where currency = 'POINTS'), 0) as points,
        coalesce(sum(amount) filter (where currency = 'NUM'), 0) as num
      from entries where transfer_id = r.transfer_id and book = 'REVENUE'
    ) as earned
  ),
  changes as materialized (
    select user_id, sum(num) as num, sum(points) as points, sum(events)::int as events from (
      select owner_id as user_id, 0 as num, 0 as points, 1 as events from ${news}
      union all
      select buyer_id, num, points, 0 from split
      union all
      select owner_id, num_share - num, points_share - points, 0 from split
    ) as change group by user_id
  ),
  locked_wallets as materialized (
    select user_id from wallets where user_id in (select user_id from changes) order by user_id for no key update
  ),
  ${newTransferSql('locked_wallets')},
  updated_wallets as (
    update wallets w set num = greatest(w.num + changes.num, 0), points = greatest(w.points + changes.points, 0),
      event_sequence = w.event_sequence + changes.events
    from changes join locked_wallets on locked_wallets.user_id = changes.user_id where w.user_id = changes.user_id
    returning w.user_id, old.event_sequence as before, new.num - old.num as num, new.points - old.points as points,
      new.num - old.num - changes.num as lacking_num, new.points - old.points - changes.points as lacking_points
  ),
  ${postTransferSql({
    from: 'split, new_transfer',
    id: 'new_transfer.transfer_id',
    reference,
    lines: `select row_number() over (order by wallet_id, book, currency), wallet_id, book, currency, sum(amount) from (
        select user_id as wallet_id, null::book as book, 'NUM'::currency as currency, num as amount
          from updated_wallets
        union all select user_id, null, 'POINTS', points from updated_wallets
        union all select null, 'REVENUE', 'NUM', -num_share from split
        union all select null, 'REVENUE', 'POINTS', -points_share from split
        union all select null, 'REVENUE', 'NUM', -lacking_num from updated_wallets
        union all select null, 'REVENUE', 'POINTS', -lacking_points from updated_wallets
      ) as change group by wallet_id, book, currency having sum(amount) <> 0`,
  })},
  inserted_refunds as (
    insert into refunds (id, order_id, transfer_id, points, num, points_before, num_before, reason, refunded_by)
    select ${record.id}, split.id, new_transfer.transfer_id, points, num, points_before, num_before, ${record.reason}, ${record.refundedBy}
    from split, new_transfer returning id
  )`
