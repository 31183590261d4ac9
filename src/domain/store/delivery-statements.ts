import type { DeliveryStatus } from '../../platform/prisma/client.ts'
import { audited, auditSql } from '../audit/audit-sql.ts'
import { enqueueSql } from '../enqueue-sql.ts'
import { type EventParts, eventSql } from '../event/event-sql.ts'
import { remembered, rememberSql } from '../idempotency.ts'
import { arrayOf, boolean, bytes, float, int, orNull, type RowOf, statement, text, timestamp, uuid } from '../sql.ts'
import { deliveryJobs } from './delivery-job-sql.ts'
import { refundSql } from './refund-sql.ts'

/** What of a paid order its receiver is told. Amounts are decimal strings. */
export const paidOrderColumns = {
  order_id: uuid,
  buyer_id: uuid,
  network_app_id: uuid,
  network_app_name: text,
  price: text,
  num_paid: text,
  points_paid: text,
  created_at: timestamp,
  paid_at: timestamp,
  action_args: orNull(bytes),
}
const dueColumns = {
  ...paidOrderColumns,
  event_id: uuid,
  attempt_count: int,
  /** Null when it must not be called any more: the webhook was removed, its receiver is gone, or the arguments are erased. */
  webhook_url: orNull(text),
  webhook_secret: orNull(bytes),
  /** While it still signs. */
  previous_secret: orNull(bytes),
  now: timestamp,
}

/** A delivery whose time has come, with everything its receiver is told. */
export type DueDelivery = RowOf<typeof dueColumns>

/**
 * The delivery, if its time has come, or whenever it is with `atOnce`. No row: it is settled, or put off: a job that was
 * overtaken by another one finds nothing to do. The second of grace is for times that were rounded.
 */
export const findDue = statement(
  'delivery_due',
  { parameters: { delivery: uuid, atOnce: boolean }, columns: dueColumns },
  `select d.event_id, d.attempt_count, d.network_app_id, o.id as order_id, o.buyer_id, o.network_app_name,
     o.price::text, o.num_paid::text, o.points_paid::text, o.created_at, o.paid_at, o.action_args,
     case when a.webhook_disabled_at is null and o.action_args_erased_at is null then a.webhook_url end as webhook_url, a.webhook_secret,
     case when a.previous_secret_expires_at > now() then a.previous_secret end as previous_secret, now() as now
   from webhook_deliveries d
   join orders o on o.id = d.order_id
   join network_apps a on a.id = d.network_app_id
   where d.id = $delivery and d.status = 'PENDING' and ($atOnce or d.next_attempt_at <= now() + interval '1 second')`,
)

/**
 * The attempt's row. Whoever read the same number of attempts (`before`) and comes second finds no target, and nothing
 * happens. `duration`: milliseconds.
 */
const attempt = {
  delivery: uuid,
  before: int,
  duration: int,
  statusCode: orNull(int),
  failure: orNull(text),
  response: text,
}
const attemptSql = `
  locked_delivery as materialized (
    select id, order_id, network_app_id from webhook_deliveries
    where id = $delivery and status = 'PENDING' and attempt_count = $before for update
  ),
  inserted_attempt as (
    insert into webhook_attempts (delivery_id, number, started_at, duration, status_code, failure, response)
    select id, $before + 1, now() - make_interval(secs => $duration / 1000.0), $duration, $statusCode, $failure, $response
    from locked_delivery
  )`

const settleSql = (status: DeliveryStatus) => `
  settled_delivery as (
    update webhook_deliveries d set status = '${status}', attempt_count = $before + 1, next_attempt_at = null, settled_at = now()
    from locked_delivery where d.id = locked_delivery.id returning d.id, d.order_id, d.network_app_id
  )`

/** The events that the part `new_events (owner_id, type, order_id, delivery_id)` tells, at positions that `updated_wallets` got. */
const tellSql = (about: Pick<EventParts, 'transfer'> = {}) =>
  eventSql({
    from: 'new_events join updated_wallets on updated_wallets.user_id = new_events.owner_id',
    owner: 'new_events.owner_id',
    sequence: 'updated_wallets.before + row_number() over (partition by new_events.owner_id order by new_events.type)',
    type: { sql: 'new_events.type' },
    order: 'new_events.order_id',
    delivery: 'new_events.delivery_id',
    ...about,
  })

/** `feeds`: whose feeds of events have grown. */
const toldColumns = { feeds: arrayOf(uuid) }

/** The receiver took it: so the order is served, even after it had been given up. */
export const recordDelivered = statement(
  'delivery_delivered',
  { parameters: attempt, columns: toldColumns },
  `with ${attemptSql},
   ${settleSql('DELIVERED')},
   served_order as (
     update orders o set status = 'SUCCESS', settled_at = now() from settled_delivery
     where o.id = settled_delivery.order_id and o.status in ('PENDING', 'FAILURE') returning o.id, o.buyer_id
   ),
   new_events (owner_id, type, order_id, delivery_id) as (
     select buyer_id, 'order.succeeded', id, null::uuid from served_order
     union all
     select a.owner_id, 'delivery.delivered', null, settled_delivery.id
     from settled_delivery join network_apps a on a.id = settled_delivery.network_app_id
   ),
   locked_wallets as materialized (
     select user_id from wallets where user_id in (select owner_id from new_events) order by user_id for update
   ),
   updated_wallets as (
     update wallets w set event_sequence = w.event_sequence + counted.n
     from (
       select owner_id, count(*)::int as n from new_events join locked_wallets on user_id = owner_id group by owner_id
     ) as counted
     where w.user_id = counted.owner_id
     returning w.user_id, w.event_sequence - counted.n as before
   ),
   ${tellSql()}
   select array(select distinct owner_id from new_events) as feeds from settled_delivery`,
)

/** It failed and is tried again in so many seconds. */
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

/**
 * It failed for good. `goneUrl`: the URL that answered that it is gone, which disables it; else null. The app's policy decides what
 * becomes of the order, and the buyer is told.
 */
export const recordGivenUp = statement(
  'delivery_given_up',
  { parameters: { ...attempt, goneUrl: orNull(text) }, columns: toldColumns },
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
       status = case a.delivery_failure_policy when 'REFUND' then 'REFUNDED' else 'FAILURE' end::order_status
     from settled_delivery join network_apps a on a.id = settled_delivery.network_app_id
     where o.id = settled_delivery.order_id and o.status = 'PENDING'
     returning o.id, o.buyer_id, o.status, a.owner_id
   ),
   refunded_payment as (
     select ended_order.id, t.id as transfer_id
     from ended_order join transfers t on t.reference = 'order:' || ended_order.id
     where ended_order.status = 'REFUNDED'
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
   ${refundSql({ from: 'refunded_payment', news: 'new_events' })},
   ${tellSql({ transfer: `case new_events.type when 'order.refunded' then (select id from inserted_transfers) end` })},
   ${enqueueSql('enqueued_jobs', {
     queue: 'mail',
     from: 'ended_order',
     data: { template: `case status when 'REFUNDED' then 'order-refunded' else 'order-failed' end`, orderId: 'id' },
   })}
   select array(select distinct owner_id from new_events) as feeds
   from settled_delivery, (select count(*) from enqueued_jobs) as jobs`,
)

/**
 * Sends a delivery once more, now. `subject`: the delivery as callers see it. No row: its order was refunded or its
 * arguments are erased, or its app has no webhook to call.
 */
export const replayDelivery = statement(
  'delivery_replay',
  { parameters: { delivery: uuid, subject: text, ...remembered, ...audited }, columns: { id: uuid } },
  `with locked_delivery as materialized (
     select d.id, d.network_app_id from webhook_deliveries d
     join orders o on o.id = d.order_id
     join network_apps a on a.id = d.network_app_id
     where d.id = $delivery and o.status <> 'REFUNDED' and o.action_args_erased_at is null and a.webhook_url is not null and a.webhook_disabled_at is null
     for update of d, o
   ),
   reopened_delivery as (
     update webhook_deliveries d set status = 'PENDING', settled_at = null, next_attempt_at = now()
     from locked_delivery where d.id = locked_delivery.id returning d.id, d.network_app_id
   ),
   ${enqueueSql('enqueued_jobs', deliveryJobs('reopened_delivery'))},
   ${auditSql({ from: 'reopened_delivery', user: '$actor', action: 'webhook-delivery.replayed', subject: '$subject', address: '$address' })},
   ${rememberSql('$delivery::text', 'reopened_delivery')}
   select id from reopened_delivery, (select count(*) from enqueued_jobs) as jobs`,
)
