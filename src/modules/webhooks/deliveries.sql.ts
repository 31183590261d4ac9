import type { DeliveryStatus } from '../../db/prisma/client.ts'
import {
  arrayOf,
  boolean,
  bytes,
  float,
  int,
  orNull,
  type ParametersOf,
  type RowOf,
  statement,
  text,
  textOf,
  timestamp,
  uuid,
} from '../../db/sql.ts'
import { enqueueSql } from '../../jobs/queues.ts'
import { onceSql, onceTypes } from '../../shared/idempotency.ts'
import { audited, auditSql } from '../audit/audit-sql.ts'
import { newEventsSql, refundSql } from '../store/refunds.sql.ts'
import { deliveryJobs } from './webhook-schedule.ts'

const saleColumns = {
  ...{ order_id: orNull(uuid), buyer_id: orNull(uuid), network_app_name: orNull(text), price: orNull(text) },
  ...{ num_paid: orNull(text), points_paid: orNull(text), created_at: orNull(timestamp), paid_at: orNull(timestamp) },
}
const refundColumns = {
  ...{ refund_id: orNull(uuid), refunded_at: orNull(timestamp), refund_points: orNull(text), refund_num: orNull(text) },
  // Refunded amounts of the order, including this refund and previous refunds.
  ...{ points_refunded: orNull(text), num_refunded: orNull(text) },
}

/** Columns of an event and of all data that its webhook call contains. Amounts are decimal strings. */
export const webhookEventColumns = {
  event_id: uuid,
  type: textOf<'order.paid' | 'order.refunded' | 'webhook.test'>(),
  occurred_at: timestamp,
  network_app_id: uuid,
  ...saleColumns,
  ...refundColumns,
  action_args: orNull(bytes),
}
/** SQL of `webhookEventColumns`. Tables: event `e`, network app `a`, and optionally order `o` and refund `r`. */
export const webhookEventColumnsSql = `e.id as event_id, e.type, e.created_at as occurred_at, a.id as network_app_id, o.id as order_id, o.buyer_id,
     o.network_app_name, o.price::text, o.num_paid::text, o.points_paid::text, o.created_at, o.paid_at, o.action_args,
     r.id as refund_id, r.created_at as refunded_at, r.points::text as refund_points, r.num::text as refund_num,
     (r.points_before + r.points)::text as points_refunded, (r.num_before + r.num)::text as num_refunded`

const dueColumns = {
  ...webhookEventColumns,
  attempt_count: int,
  /** Null if the webhook was removed or disabled, the order was refunded, or the arguments were erased. */
  webhook_url: orNull(text),
  webhook_secret: orNull(bytes),
  /** Previous secret of a rotation. Null after its expiry. */
  previous_secret: orNull(bytes),
  now: timestamp,
}

export type DueDelivery = RowOf<typeof dueColumns>

/** SQL condition: the event is not the payment of a fully refunded order or of an order with erased arguments. */
const isSendableSql = `(e.type <> 'order.paid' or (o.status <> 'REFUNDED' and o.action_args_erased_at is null))`

/** Returns a pending delivery that is due within a second (times are rounded). `ignoreSchedule`: also if not due. */
export const findDue = statement(
  'delivery_due',
  { parameters: { delivery: uuid, ignoreSchedule: boolean }, columns: dueColumns },
  `select ${webhookEventColumnsSql}, d.attempt_count,
     case when a.webhook_disabled_at is null and ${isSendableSql} then a.webhook_url end as webhook_url, a.webhook_secret,
     case when a.previous_secret_expires_at > now() then a.previous_secret end as previous_secret, now() as now
   from webhook_deliveries d
   join events e on e.id = d.event_id
   join network_apps a on a.id = d.network_app_id
   left join orders o on o.id = d.order_id
   left join refunds r on r.transfer_id = e.transfer_id
   where d.id = $delivery and d.status = 'PENDING' and ($ignoreSchedule or d.next_attempt_at <= now() + interval '1 second')`,
)

/** Attempt columns. A second attempt with the same `before`, the number of previous attempts, has no effect. */
const attempt = {
  ...{ delivery: uuid, before: int, duration: int, statusCode: orNull(int), failure: orNull(text), response: text },
}
/** `duration`: in milliseconds. */
export type AttemptResult = ParametersOf<typeof attempt>

const attemptSql = `
  locked_delivery as materialized (
    select d.id, d.order_id, d.network_app_id, e.type as event_type from webhook_deliveries d join events e on e.id = d.event_id
    where d.id = $delivery and d.status = 'PENDING' and d.attempt_count = $before for update of d
  ),
  inserted_attempt as (
    insert into webhook_attempts (delivery_id, number, started_at, duration, status_code, failure, response)
    select id, $before + 1, now() - make_interval(secs => $duration / 1000.0), $duration, $statusCode, $failure, $response
    from locked_delivery
  )`

const settleSql = (status: DeliveryStatus) => `
  settled_delivery as (
    update webhook_deliveries d set status = '${status}', attempt_count = $before + 1, next_attempt_at = null, settled_at = now()
    from locked_delivery where d.id = locked_delivery.id returning d.id, d.order_id, d.network_app_id, locked_delivery.event_type
  )`

/** Owners of feeds with new events. */
const feedColumns = { feeds: arrayOf(uuid) }

/** Records a successful attempt. For `order.paid`, the order succeeds, even if it had failed before. */
export const recordDelivered = statement(
  'delivery_delivered',
  { parameters: attempt, columns: feedColumns },
  `with ${attemptSql},
   ${settleSql('DELIVERED')},
   served_order as (
     update orders o set status = 'SUCCESS', settled_at = now() from settled_delivery
     where o.id = settled_delivery.order_id and settled_delivery.event_type = 'order.paid'
       and o.status in ('PENDING', 'FAILURE') returning o.id, o.buyer_id
   ),
   new_events (owner_id, type, order_id, delivery_id) as (
     select buyer_id, 'order.succeeded', id, null::uuid from served_order
     union all
     select a.owner_id, 'delivery.delivered', null, settled_delivery.id
     from settled_delivery join network_apps a on a.id = settled_delivery.network_app_id
   ),
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select owner_id from new_events) order by user_id for no key update
   ),
   updated_wallets as (
     update wallets w set event_sequence = w.event_sequence + (select count(*) from new_events where owner_id = w.user_id)
     from locked_wallets where w.user_id = locked_wallets.user_id returning w.user_id, old.event_sequence as before
   ),
   ${newEventsSql()}
   select array(select distinct owner_id from new_events) as feeds from settled_delivery`,
)

/** Records a failed attempt and schedules the next attempt. */
export const recordRetry = statement(
  'delivery_retry',
  { parameters: { ...attempt, seconds: float }, columns: { next_attempt_at: timestamp } },
  `with ${attemptSql},
   postponed_delivery as (
     update webhook_deliveries d set attempt_count = $before + 1,
       next_attempt_at = now() + make_interval(secs => $seconds)
     from locked_delivery where d.id = locked_delivery.id returning d.id, d.network_app_id, d.next_attempt_at
   ),
   ${enqueueSql('enqueued_jobs', { ...deliveryJobs('postponed_delivery'), startAfter: 'next_attempt_at' })}
   select next_attempt_at from postponed_delivery, (select count(*) from enqueued_jobs) as jobs`,
)

/** Records the last failed attempt, settles the order by the app's policy, and mails the buyer. Disables `goneUrl`. */
export const recordGivenUp = statement(
  'delivery_given_up',
  { parameters: { ...attempt, goneUrl: orNull(text) }, columns: feedColumns },
  `with ${attemptSql},
   ${settleSql('GIVEN_UP')},
   disabled_app as (
     update network_apps a set webhook_disabled_at = now(), updated_at = now() from settled_delivery
     where a.id = settled_delivery.network_app_id and a.webhook_url = $goneUrl
   ),
   ended_order as (
     update orders o set settled_at = now(),
       action_args = case a.delivery_failure_policy when 'KEEP' then o.action_args end,
       action_args_erased_at = case when a.delivery_failure_policy = 'REFUND' and o.action_args is not null then now() end,
       points_refunded = case a.delivery_failure_policy when 'REFUND' then o.points_paid else o.points_refunded end,
       num_refunded = case a.delivery_failure_policy when 'REFUND' then o.num_paid else o.num_refunded end,
       status = case a.delivery_failure_policy when 'REFUND' then 'REFUNDED' else 'FAILURE' end::order_status
     from settled_delivery join network_apps a on a.id = settled_delivery.network_app_id
     where o.id = settled_delivery.order_id and settled_delivery.event_type = 'order.paid' and o.status = 'PENDING'
     returning o.id, o.buyer_id, o.status, a.owner_id, o.transfer_id, o.points_paid, o.num_paid,
       old.points_refunded as points_before, old.num_refunded as num_before
   ),
   refund as materialized (
     select *, points_paid - points_before as points, num_paid - num_before as num from ended_order where status = 'REFUNDED'
   ),
   new_events (owner_id, type, order_id, delivery_id) as (
     select buyer_id, case status when 'REFUNDED' then 'order.refunded' else 'order.failed' end, id, null::uuid
     from ended_order
     union all
     select owner_id, 'order.refunded', id, null from ended_order where status = 'REFUNDED' and owner_id <> buyer_id
     union all
     select a.owner_id, 'delivery.given-up', null, settled_delivery.id
     from settled_delivery join network_apps a on a.id = settled_delivery.network_app_id
   ),
   ${refundSql({ reference: `'order-refund:' || split.id`, id: 'uuidv7()', reason: `''`, refundedBy: 'null' })},
   ${newEventsSql(`case new_events.type when 'order.refunded' then (select id from inserted_transfers) end`)},
   ${enqueueSql('enqueued_jobs', {
     queue: 'mail',
     from: 'ended_order',
     data: { template: `case status when 'REFUNDED' then 'automatic-refund' else 'order-failed' end`, orderId: 'id' },
   })}
   select array(select distinct owner_id from new_events) as feeds
   from settled_delivery, (select count(*) from enqueued_jobs) as jobs`,
)

/**
 * Makes a delivery due now. Locks the delivery before its order, to prevent deadlocks. `subject`: prefixed ID of the
 * delivery. Returns no row if the order was refunded, its arguments are erased, or the app has no webhook.
 */
export const replayDelivery = statement(
  'delivery_replay',
  { parameters: { delivery: uuid, subject: text, ...onceTypes, ...audited }, columns: { id: uuid } },
  `with locked_delivery as materialized (
     select id, order_id, event_id, network_app_id from webhook_deliveries where id = $delivery for update
   ),
   locked_order as materialized (
     select o.* from orders o where o.id = (select order_id from locked_delivery) for update
   ),
   sendable_delivery as (
     select d.id from locked_delivery d
     join network_apps a on a.id = d.network_app_id
     join events e on e.id = d.event_id
     left join locked_order o on o.id = d.order_id
     where ${isSendableSql} and a.webhook_url is not null and a.webhook_disabled_at is null
   ),
   reopened_delivery as (
     update webhook_deliveries d set status = 'PENDING', settled_at = null, next_attempt_at = now()
     from sendable_delivery where d.id = sendable_delivery.id returning d.id, d.network_app_id
   ),
   ${enqueueSql('enqueued_jobs', deliveryJobs('reopened_delivery'))},
   ${auditSql({ from: 'reopened_delivery', user: '$actor', action: 'webhook-delivery.replayed', subject: '$subject', address: '$address' })},
   ${onceSql('$delivery::text', 'reopened_delivery')}
   select id from reopened_delivery, (select count(*) from enqueued_jobs) as jobs`,
)
