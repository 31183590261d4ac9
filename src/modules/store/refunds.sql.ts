/** SQL of order refunds: the shared CTEs, and the statement for refunds by administrators. */
import { arrayOf, boolean, numeric, orNull, type RowOf, statement, text, uuid } from '../../db/sql.ts'
import { enqueueSql } from '../../jobs/queues.ts'
import { onceSql, onceTypes } from '../../shared/idempotency.ts'
import { audited, auditSql } from '../audit/audit-sql.ts'
import { eventSql } from '../events/events.sql.ts'
import { newTransferSql, postTransferSql } from '../wallet/ledger-sql.ts'
import { deliveryJobs } from '../webhooks/webhook-schedule.ts'
import { eraseArgumentsSql } from './orders.sql.ts'

/** SQL expressions of the transfer's `reference`, and of columns of the refund. */
type RefundParts = Record<'reference' | 'id' | 'reason' | 'refundedBy', string>

/**
 * SQL of the platform's part of a refund: its share of all refunds so far, minus its share of the earlier refunds. With
 * this difference, the rounded shares of partial refunds add up exactly to the share of the whole.
 */
const platformShareSql = (currency: 'points' | 'num') => {
  const shareOf = (amount: string) => `round(earned.${currency} * (${amount}) / nullif(r.${currency}_paid, 0), 18)`
  const before = `r.${currency}_before`
  return `coalesce(${shareOf(`${before} + r.${currency}`)} - ${shareOf(before)}, 0)`
}

/**
 * CTEs that refund the rows of the CTE `refund`: amounts to refund, amounts refunded before, order, buyer, app owner, and
 * `transfer_id` of the charge. The platform and the owner return their shares in proportion. If the owner has already
 * spent the share, the platform pays the rest, so that no balance becomes negative. A statement can update a wallet row
 * only once, so these CTEs also count the events of the CTE `new_events`. The unique index of `reference` prevents a
 * second refund. The CTEs `updated_wallets`, `inserted_transfers` and `inserted_refunds` have the results.
 */
export const refundSql = ({ reference, id, reason, refundedBy }: RefundParts) => `
  split as materialized (
    select r.*, ${platformShareSql('points')} as points_share, ${platformShareSql('num')} as num_share
    from refund r, lateral (
      select coalesce(sum(amount) filter (where currency = 'POINTS'), 0) as points,
        coalesce(sum(amount) filter (where currency = 'NUM'), 0) as num
      from entries where transfer_id = r.transfer_id and book = 'REVENUE'
    ) as earned
  ),
  changes as materialized (
    select user_id, sum(num) as num, sum(points) as points, sum(events)::int as events from (
      select owner_id as user_id, 0 as num, 0 as points, 1 as events from new_events
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
    select ${id}, split.id, new_transfer.transfer_id, points, num, points_before, num_before, ${reason}, ${refundedBy}
    from split, new_transfer returning id
  )`

/** CTE that inserts the events of the CTE `new_events (owner_id, type, order_id, delivery_id)`. */
export const newEventsSql = (transfer = 'null') =>
  eventSql({
    from: 'new_events join updated_wallets on updated_wallets.user_id = new_events.owner_id',
    owner: 'new_events.owner_id',
    sequence: 'updated_wallets.before + row_number() over (partition by new_events.owner_id order by new_events.type)',
    type: { sql: 'new_events.type' },
    order: 'new_events.order_id',
    delivery: 'new_events.delivery_id',
    transfer,
  })

const refundableColumns = { paid: boolean, isBuyerDeleted: boolean, points: text, num: text }
export type Refundable = RowOf<typeof refundableColumns>

/** Reads the amounts of an order that can still be refunded, and facts that can prevent a refund. */
export const findRefundable = statement(
  'refund_refundable',
  { parameters: { order: uuid }, columns: refundableColumns },
  `select o.paid_at is not null as paid, w.closed_at is not null as "isBuyerDeleted",
     (o.points_paid - o.points_refunded)::text as points, (o.num_paid - o.num_refunded)::text as num
   from orders o join wallets w on w.user_id = o.buyer_id where o.id = $order`,
)

/**
 * Refunds an amount of a paid order. The lock of the order serializes its refunds. Wallets are locked by ascending ID. A
 * complete refund ends the order and erases its arguments. Returns no row if the order is not paid, the amount is too
 * high, or the buyer's account is deleted. `subject`: the public ID of the order. `amount`: null refunds the rest.
 */
export const refundStatement = statement(
  'refund_order',
  {
    parameters: {
      ...{ refund: uuid, order: uuid, subject: text, amount: orNull(numeric), reason: text },
      ...{ ...audited, ...onceTypes },
    },
    columns: { feeds: arrayOf(uuid) },
  },
  `with locked_order as materialized (
     select o.id, o.buyer_id, a.owner_id, o.network_app_id, o.transfer_id, o.points_paid, o.num_paid,
       o.points_refunded as points_before, o.num_refunded as num_before
     from orders o join network_apps a on a.id = o.network_app_id
     where o.id = $order and o.paid_at is not null for update of o
   ),
   open_wallets as materialized (
     select w.user_id, w.closed_at from wallets w
     where w.user_id in (select buyer_id from locked_order union select owner_id from locked_order)
     order by w.user_id for no key update
   ),
   refund as materialized (
     select wanted.*, least(total, num_paid - num_before) as num, total - least(total, num_paid - num_before) as points,
       total = points_paid + num_paid - points_before - num_before as is_whole
     from (
       select locked_order.*, coalesce($amount, points_paid + num_paid - points_before - num_before) as total
       from locked_order join open_wallets on user_id = buyer_id where closed_at is null
     ) as wanted
     where total > 0 and total <= points_paid + num_paid - points_before - num_before
   ),
   refunded_order as (
     update orders o set points_refunded = o.points_refunded + refund.points, num_refunded = o.num_refunded + refund.num
     from refund where o.id = refund.id and not refund.is_whole
   ),
   ended_order as (
     update orders o set points_refunded = o.points_paid, num_refunded = o.num_paid, status = 'REFUNDED', settled_at = now(),
       ${eraseArgumentsSql('o')}
     from refund where o.id = refund.id and refund.is_whole
   ),
   new_events (owner_id, type, order_id, delivery_id) as (
     select buyer_id, 'order.refunded', id, null::uuid from refund
     union
     select owner_id, 'order.refunded', id, null from refund
   ),
   ${refundSql({
     ...{ reference: `'order-refund:' || split.id || ':' || $refund`, id: '$refund' },
     ...{ reason: '$reason', refundedBy: '$actor' },
   })},
   ${newEventsSql('(select id from inserted_transfers)')},
   inserted_delivery as (
     insert into webhook_deliveries (event_id, network_app_id, order_id)
     select inserted_events.id, a.id, refund.id from inserted_events
       join refund on refund.owner_id = inserted_events.owner_id join network_apps a on a.id = refund.network_app_id
     where a.webhook_url is not null and a.webhook_disabled_at is null
     returning id, network_app_id
   ),
   ${enqueueSql('enqueued_jobs', deliveryJobs('inserted_delivery'), {
     queue: 'mail',
     from: 'refund',
     data: { template: `'administrator-refund'`, orderId: 'id', refundId: '$refund' },
   })},
   ${auditSql({ from: 'refund', user: '$actor', action: 'order.refunded', subject: '$subject', address: '$address' })},
   ${onceSql('$refund::text', 'inserted_refunds')}
   select array(select owner_id from new_events) as feeds from inserted_refunds, (select count(*) from enqueued_jobs) as jobs`,
)
