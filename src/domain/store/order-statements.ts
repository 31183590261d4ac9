import type { Order, OrderStatus } from '../../platform/prisma/client.ts'
import { enqueueSql } from '../enqueue-sql.ts'
import { eventSql } from '../event/event-sql.ts'
import { remembered, rememberSql } from '../idempotency.ts'
import {
  boolean,
  bytes,
  int,
  numeric,
  orNull,
  type RowOf,
  type SqlType,
  statement,
  text,
  textOf,
  timestamp,
  uuid,
} from '../sql.ts'
import { overdueSql, pointsFirstSql, spendableSql, useGrantsSql } from '../wallet/points-sql.ts'
import { postTransferSql } from '../wallet/post-transfer-sql.ts'
import { newTransferSql } from '../wallet/transfer-sql.ts'
import { deliveryJobs } from './delivery-job-sql.ts'

/** Orders that one statement ends or empties. */
export const ORDERS_AT_ONCE = 500

/** What an update of orders sets to erase their arguments: they may carry a live token, and nothing needs them any more. */
export const eraseArgumentsSql = (order: string) =>
  `action_args = null, action_args_erased_at = case when ${order}.action_args is null then ${order}.action_args_erased_at else now() end`

/** An order as a writing statement returns it: amounts are decimal strings. */
const orderColumns = {
  id: uuid,
  buyerId: uuid,
  networkAppId: uuid,
  networkAppName: text,
  status: textOf<OrderStatus>(),
  actionArgs: orNull(bytes),
  actionArgsErasedAt: orNull(timestamp),
  price: numeric,
  quotedPoints: numeric,
  quotedNum: numeric,
  pointsPaid: numeric,
  numPaid: numeric,
  pointsRefunded: numeric,
  numRefunded: numeric,
  transferId: orNull(uuid),
  createdAt: timestamp,
  expiresAt: timestamp,
  paidAt: orNull(timestamp),
  settledAt: orNull(timestamp),
} satisfies Record<keyof Order, SqlType<unknown>>

/** An order under the names that Prisma has for its fields. */
export type OrderRow = RowOf<typeof orderColumns>

const orderSql = (from: string) => `
  ${from}.id, ${from}.buyer_id as "buyerId", ${from}.network_app_id as "networkAppId",
  ${from}.network_app_name as "networkAppName", ${from}.status::text, ${from}.action_args as "actionArgs",
  ${from}.action_args_erased_at as "actionArgsErasedAt", ${from}.price,
  ${from}.quoted_points as "quotedPoints", ${from}.quoted_num as "quotedNum", ${from}.points_paid as "pointsPaid",
  ${from}.num_paid as "numPaid", ${from}.points_refunded as "pointsRefunded", ${from}.num_refunded as "numRefunded", ${from}.transfer_id as "transferId", ${from}.created_at as "createdAt",
  ${from}.expires_at as "expiresAt", ${from}.paid_at as "paidAt", ${from}.settled_at as "settledAt"`

/** The app a caller names, by id or name, with what the caller has. No app: no row. */
export const findOffer = statement(
  'order_offer',
  {
    parameters: { buyer: uuid, app: orNull(uuid), name: text },
    columns: {
      id: uuid,
      name: text,
      price: text,
      open: int,
      free_in: orNull(int),
      points: text,
      num: text,
      closed: boolean,
    },
  },
  `select a.id, a.name, a.price::text, w.open_orders as open, (
     select ceil(extract(epoch from min(o.expires_at) - now()))::int from orders o
     where o.buyer_id = w.user_id and o.status = 'CREATED'
   ) as free_in, ${spendableSql('w')}::text as points, w.num::text, w.closed_at is not null as closed from network_apps a, wallets w
   where a.deactivated_at is null and w.user_id = $buyer
     and case when $app is null then lower(a.name) = lower($name) else a.id = $app end`,
)

const quoted = pointsFirstSql('updated_wallet.points', 'app.price')

/**
 * A new order, if the app is sold, costs at most what the caller agrees to, the wallet could pay it now, and not too many are open.
 * The clock is read when the wallet is held, because lists of orders go by it; their identifiers are made before.
 * `app`: its UUID, or null when the name tells. `window`: seconds.
 */
export const insertOrder = statement(
  'order_insert',
  {
    parameters: {
      order: uuid,
      buyer: uuid,
      app: orNull(uuid),
      name: text,
      actionArgs: orNull(bytes),
      window: int,
      maxCost: orNull(numeric),
      maxOpen: int,
      ...remembered,
    },
    columns: orderColumns,
  },
  `with app as (
     select id, name, price from network_apps
     where deactivated_at is null and case when $app is null then lower(name) = lower($name) else id = $app end
       and price <= coalesce($maxCost, price)
   ),
   updated_wallet as (
     update wallets w set event_sequence = w.event_sequence + 1, open_orders = w.open_orders + 1 from app
     where w.user_id = $buyer and w.closed_at is null and w.open_orders < $maxOpen and ${spendableSql('w')} + w.num >= app.price
     returning w.event_sequence as sequence, ${spendableSql('w')} as points, w.num, clock_timestamp() as at
   ),
   created_order as (
     insert into orders (id, buyer_id, network_app_id, network_app_name, action_args, price, quoted_points, quoted_num,
       created_at, expires_at)
     select $order, $buyer, app.id, app.name, $actionArgs, app.price, ${quoted.points}, ${quoted.num},
       updated_wallet.at, date_trunc('milliseconds', updated_wallet.at) + make_interval(secs => $window)
     from app, updated_wallet returning *
   ),
   ${eventSql({
     from: 'created_order, updated_wallet',
     owner: 'created_order.buyer_id',
     sequence: 'updated_wallet.sequence',
     type: 'order.created',
     order: 'created_order.id',
   })},
   ${rememberSql('$order::text', 'created_order')}
   select ${orderSql('created_order')} from created_order`,
)

/** Why an order could not be paid or withdrawn, by the database's clock. */
export const findOrderState = statement(
  'order_state',
  {
    parameters: { order: uuid, buyer: uuid },
    columns: {
      status: textOf<OrderStatus>(),
      overdue: boolean,
      is_sold: boolean,
      price: text,
      points: text,
      num: text,
    },
  },
  `select o.status::text, o.expires_at <= clock_timestamp()::timestamptz(3) as overdue, s.closed_at is null as is_sold,
     o.price::text, ${spendableSql('w')}::text as points, w.num::text
   from orders o join wallets w on w.user_id = o.buyer_id join network_apps a on a.id = o.network_app_id
     join wallets s on s.user_id = a.owner_id
   where o.id = $order and o.buyer_id = $buyer`,
)

const payment = pointsFirstSql('buyer.points', 'sale.price')

/**
 * The payment: the order's row is locked if it is still open, then the wallets of buyer and owner, in the order of their
 * ids so that two sales never wait for each other. Balances are written from what was locked: PostgreSQL holds the CHECKs to what
 * is made of the row as the statement saw it first, which would be below zero where money came in meanwhile. The clock is read when all that is held, so that no waiting carries a
 * payment over the deadline. Points are spent first; the owner earns each currency less the platform's share. The events, the webhook's
 * delivery and the mails' jobs stand in the same statement: all of it happens or nothing.
 */
export const payOrder = statement(
  'order_pay',
  {
    parameters: { order: uuid, buyer: uuid, platformShare: numeric, maxCost: orNull(numeric), ...remembered },
    columns: { ...orderColumns, ownerId: uuid },
  },
  `with locked_order as materialized (
     select id, network_app_id, price, status, expires_at from orders
     where id = $order and buyer_id = $buyer and status = 'CREATED' for update
   ),
   sale as materialized (
     select locked_order.id, locked_order.network_app_id, locked_order.price, locked_order.expires_at, a.owner_id,
       a.webhook_url is not null and a.webhook_disabled_at is null as calls
     from locked_order join network_apps a on a.id = locked_order.network_app_id
     where locked_order.price <= coalesce($maxCost, locked_order.price)
   ),
   locked_wallets as materialized (
     select w.user_id, w.points, w.num, w.points_expire_at, w.closed_at from wallets w
     where w.user_id in (select $buyer from sale union select owner_id from sale)
     order by w.user_id for update
   ),
   ${newTransferSql('locked_wallets')},
   moment as materialized (
     select clock_timestamp()::timestamptz(3) as at from (select count(*) as n from locked_wallets) as held where held.n > 0
   ),
   buyer as materialized (
     select moment.at, locked_wallets.num, locked_wallets.points - ${overdueSql('locked_wallets', 'moment.at')} as points
     from locked_wallets, moment where locked_wallets.user_id = $buyer
   ),
   split as materialized (
     select sale.*, new_transfer.transfer_id, buyer.at, paid.points, paid.num,
       round(paid.points * $platformShare, 18) as points_share, round(paid.num * $platformShare, 18) as num_share
     from sale, buyer, new_transfer, lateral (
       select ${payment.points} as points, ${payment.num} as num
     ) as paid
     where buyer.points + buyer.num >= sale.price and buyer.at < sale.expires_at
       and not exists (select from locked_wallets where closed_at is not null)
   ),
   updated_wallets as (
     update wallets w set
       points = held.points - case when w.user_id = $buyer then split.points else 0 end
         + case when w.user_id = split.owner_id then split.points - split.points_share else 0 end,
       num = held.num - case when w.user_id = $buyer then split.num else 0 end
         + case when w.user_id = split.owner_id then split.num - split.num_share else 0 end,
       event_sequence = w.event_sequence + 1,
       open_orders = w.open_orders - case when w.user_id = $buyer then 1 else 0 end
     from split, locked_wallets held where held.user_id = w.user_id
     returning w.user_id, w.event_sequence as sequence,
       ${useGrantsSql({
         wallet: 'w',
         change: 'case when w.user_id = $buyer then -split.points else 0 end',
         transfer: 'split.transfer_id',
         at: 'split.at',
       })}
   ),
   ${postTransferSql({
     from: 'split',
     reference: `'order:' || id`,
     omitsZeros: true,
     lines: [
       { wallet: '$buyer', currency: 'POINTS', amount: '-split.points' },
       { wallet: '$buyer', currency: 'NUM', amount: '-split.num' },
       { wallet: 'split.owner_id', currency: 'POINTS', amount: 'split.points - split.points_share' },
       { wallet: 'split.owner_id', currency: 'NUM', amount: 'split.num - split.num_share' },
       { book: 'REVENUE', currency: 'POINTS', amount: 'split.points_share' },
       { book: 'REVENUE', currency: 'NUM', amount: 'split.num_share' },
     ],
   })},
   paid_order as (
     update orders o set status = case when split.calls then 'PENDING' else 'SUCCESS' end::order_status,
       points_paid = split.points, num_paid = split.num, transfer_id = split.transfer_id, paid_at = split.at,
       settled_at = case when split.calls then null else split.at end
     from split where o.id = split.id
     returning o.*
   ),
   ${eventSql({
     from: 'updated_wallets, split',
     owner: 'updated_wallets.user_id',
     sequence: 'updated_wallets.sequence',
     type: 'order.paid',
     order: 'split.id',
     transfer: 'split.transfer_id',
   })},
   inserted_delivery as (
     insert into webhook_deliveries (event_id, network_app_id, order_id)
     select inserted_events.id, split.network_app_id, split.id from inserted_events, split
     where split.calls and inserted_events.owner_id = split.owner_id
     returning id, network_app_id
   ),
   ${enqueueSql('enqueued_jobs', deliveryJobs('inserted_delivery'), {
     queue: 'mail',
     from: `split, (values ('receipt'), ('sale')) as mail (template)`,
     data: { template: 'template', orderId: 'split.id' },
   })},
   ${rememberSql('$order::text', 'paid_order')}
   select ${orderSql('paid_order')}, split.owner_id as "ownerId"
   from paid_order, split, (select count(*) from enqueued_jobs) as jobs`,
)

/** Withdraws an open order. */
export const cancelOrder = statement(
  'order_cancel',
  { parameters: { order: uuid, buyer: uuid, ...remembered }, columns: orderColumns },
  `with locked_order as materialized (
     select id, status, expires_at from orders where id = $order and buyer_id = $buyer for update
   ),
   open_order as materialized (
     select id from locked_order where status = 'CREATED' and clock_timestamp()::timestamptz(3) < expires_at
   ),
   updated_wallet as (
     update wallets w set event_sequence = w.event_sequence + 1, open_orders = w.open_orders - 1 from open_order
     where w.user_id = $buyer
     returning w.event_sequence as sequence
   ),
   cancelled_order as (
     update orders o set status = 'CANCELLED', settled_at = now(), ${eraseArgumentsSql('o')}
     from open_order where o.id = open_order.id returning o.*
   ),
   ${eventSql({
     from: 'cancelled_order, updated_wallet',
     owner: 'cancelled_order.buyer_id',
     sequence: 'updated_wallet.sequence',
     type: 'order.cancelled',
     order: 'cancelled_order.id',
   })},
   ${rememberSql('$order::text', 'cancelled_order')}
   select ${orderSql('cancelled_order')} from cancelled_order`,
)
