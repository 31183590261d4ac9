/**
 * The parts of a writing statement that give the money of a paid order back: a transfer that mirrors the payment's, entry
 * by entry. What an owner's wallet has spent already is paid from the platform's revenue, so that the buyer gets all of
 * it and no balance falls below zero. Points go back to the grants that they came from, as far as those are still valid.
 * The feeds that tell of it lie in the same wallets and get their positions here: a statement updates a row once.
 */
import { overdueSql, useGrantsSql } from '../wallet/points-sql.ts'
import { postTransferSql } from '../wallet/post-transfer-sql.ts'
import { newTransferSql } from '../wallet/transfer-sql.ts'

/** What is given back, and who is told. */
export interface RefundParts {
  /** The part that names the payment, as `(id, transfer_id)`, the order and its transfer; empty when nothing is given back. */
  from: string
  /** The part whose `owner_id` names a feed once for each event in it. */
  news: string
}

/**
 * The parts that give a payment back. `updated_wallets` tells the positions before the events, `(user_id, before)`;
 * `inserted_transfers (id)` the refund.
 */
export const refundSql = ({ from, news }: RefundParts) => `
  changes as materialized (
    select user_id, sum(num) as num, sum(points) as points, sum(events)::int as events from (
      select owner_id as user_id, 0 as num, 0 as points, 1 as events from ${news}
      union all
      select e.wallet_id, case e.currency when 'NUM' then -e.amount else 0 end,
        case e.currency when 'POINTS' then -e.amount else 0 end, 0
      from entries e join ${from} on e.transfer_id = ${from}.transfer_id where e.wallet_id is not null
    ) as change group by user_id
  ),
  locked_wallets as materialized (
    select user_id from wallets where user_id in (select user_id from changes) order by user_id for update
  ),
  ${newTransferSql('locked_wallets')},
  updated_wallets as (
    update wallets w set num = greatest(w.num + changes.num, 0), points = greatest(w.points + changes.points, ${overdueSql('w')}),
      event_sequence = w.event_sequence + changes.events
    from changes join locked_wallets on locked_wallets.user_id = changes.user_id where w.user_id = changes.user_id
    returning w.user_id, old.event_sequence as before, new.num - old.num as num, new.points - old.points as points,
      ${useGrantsSql({
        wallet: 'w',
        change: 'new.points - old.points',
        transfer: '(select transfer_id from new_transfer)',
        undone: `(select transfer_id from ${from})`,
      })},
      new.num - old.num - changes.num as lacking_num, new.points - old.points - changes.points as lacking_points
  ),
  ${postTransferSql({
    from: `${from}, new_transfer`,
    id: 'new_transfer.transfer_id',
    reference: `'order-refund:' || ${from}.id`,
    lines: `select row_number() over (order by wallet_id, book, currency), wallet_id, book, currency, sum(amount) from (
        select user_id as wallet_id, null::book as book, 'NUM'::currency as currency, num as amount
          from updated_wallets
        union all select user_id, null, 'POINTS', points from updated_wallets
        union all select null, e.book, e.currency, -e.amount
          from entries e join ${from} on e.transfer_id = ${from}.transfer_id where e.book is not null
        union all select null, 'REVENUE', 'NUM', -lacking_num from updated_wallets
        union all select null, 'REVENUE', 'POINTS', -lacking_points from updated_wallets
      ) as change group by wallet_id, book, currency having sum(amount) <> 0`,
  })}`
