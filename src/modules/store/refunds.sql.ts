/** What an administrator gives back of an order. */

import { arrayOf, boolean, numeric, orNull, statement, text, uuid } from '../../db/sql.ts'
import { enqueueSql } from '../../jobs/enqueue-sql.ts'
import { remembered, rememberSql } from '../../shared/idempotency.ts'
import { audited, auditSql } from '../audit/audit-sql.ts'
import { deliveryJobs } from '../webhooks/delivery-job-sql.ts'
import { newsSql } from './delivery-events-sql.ts'
import { eraseArgumentsSql } from './orders.sql.ts'
import { refundSql } from './refund-sql.ts'

/** What of an order can still be given back, by an order's UUID. Amounts are decimal strings. No row: there is no such order. */
export const findRefundable = statement(
  'refund_refundable',
  { parameters: { order: uuid }, columns: { paid: boolean, gone: boolean, points: text, num: text } },
  `select o.paid_at is not null as paid, w.closed_at is not null as gone,
     (o.points_paid - o.points_refunded)::text as points, (o.num_paid - o.num_refunded)::text as num
   from orders o join wallets w on w.user_id = o.buyer_id where o.id = $order`,
)

/**
 * Gives an amount of a paid order back, or all that is left of it. The order's row is locked first, so that refunds of one
 * order come one after the other and each sees what is left; then the wallets, in the order of their ids. What was spent last
 * comes back first: currency units, then points. With the last of it the order is refunded, and its arguments are erased. No row:
 * there is no such paid order, not so much is left of it, or its buyer is gone. `subject`: the order as callers see it.
 */
export const refundOrder = statement(
  'refund_order',
  {
    parameters: {
      refund: uuid,
      order: uuid,
      subject: text,
      amount: orNull(numeric),
      reason: text,
      ...audited,
      ...remembered,
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
     from: 'refund',
     reference: `'order-refund:' || split.id || ':' || $refund`,
     record: { id: '$refund', reason: '$reason', refundedBy: '$actor' },
     news: 'new_events',
   })},
   ${newsSql({ transfer: '(select id from inserted_transfers)' })},
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
     data: { template: `'refund'`, orderId: 'id', refundId: '$refund' },
   })},
   ${auditSql({ from: 'refund', user: '$actor', action: 'order.refunded', subject: '$subject', address: '$address' })},
   ${rememberSql('$refund::text', 'inserted_refunds')}
   select array(select owner_id from new_events) as feeds from inserted_refunds, (select count(*) from enqueued_jobs) as jobs`,
)
