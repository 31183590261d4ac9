import type { Invariant } from '../../db/database-types.ts'
import type { Order, OrderStatus } from '../../db/prisma/client.ts'
import {
  boolean,
  bytes,
  givenSql,
  int,
  joinedStatement,
  numeric,
  orNull,
  type RowOf,
  type SqlType,
  statement,
  text,
  textOf,
  timestamp,
  uuid,
} from '../../db/sql.ts'
import { enqueueSql } from '../../jobs/queues.ts'
import { keptFromSql } from '../../jobs/retention.ts'
import { onceSql, onceTypes } from '../../shared/idempotency.ts'
import { snakeCase } from '../../shared/text.ts'
import { eventSql } from '../events/events.sql.ts'
import {
  type EntryLine,
  heldAccountSql,
  nextTransferSql,
  pointsFirstSql,
  postTransferSql,
} from '../wallet/ledger-sql.ts'
import { deliveryJobs } from '../webhooks/webhook-schedule.ts'

/** Maximum number of orders that one statement expires or erases. */
export const ORDERS_AT_ONCE = 500

/** Returns SQL assignments that erase the arguments of orders. Arguments may contain a valid access token. */
export const eraseArgumentsSql = (order: string) =>
  `action_args = null, action_args_erased_at = case when ${order}.action_args is null then ${order}.action_args_erased_at else now() end`

const orderColumns = {
  ...{ id: uuid, buyerId: uuid, networkAppId: uuid, networkAppName: text, status: textOf<OrderStatus>() },
  ...{ actionArgs: orNull(bytes), actionArgsErasedAt: orNull(timestamp) },
  ...{ price: numeric, quotedPoints: numeric, quotedNum: numeric, pointsPaid: numeric, numPaid: numeric },
  ...{ pointsRefunded: numeric, numRefunded: numeric, transferId: orNull(uuid) },
  ...{ createdAt: timestamp, expiresAt: timestamp, paidAt: orNull(timestamp), settledAt: orNull(timestamp) },
} satisfies Record<keyof Order, SqlType<unknown>>
/** Statements return rows like Prisma does, but amounts as decimal strings. */
const orderRow = orderColumns as unknown as { [Column in keyof Order]: SqlType<Order[Column]> }

const orderSql = (from: string) =>
  Object.keys(orderColumns)
    .map((name) => `${from}.${snakeCase(name)}${name === 'status' ? '::text' : ''} as "${name}"`)
    .join(', ')

const offerColumns = {
  price: text,
  /** Number of the buyer's open orders. */
  open: int,
  /** Seconds until the first open order expires. */
  free_in: orNull(int),
  ...{ points: text, num: text, closed: boolean },
}
export type Offer = RowOf<typeof offerColumns>

/** Reads an app that is for sale, by ID or name, with the buyer's balances and open orders. */
export const findOffer = statement(
  'order_offer',
  { parameters: { buyer: uuid, app: orNull(uuid), name: text }, columns: offerColumns },
  `select a.price::text, w.open_orders as open, (
     select ceil(extract(epoch from min(o.expires_at) - now()))::int from orders o
     where o.buyer_id = w.user_id and o.status = 'CREATED'
   ) as free_in, w.points::text, w.num::text, w.closed_at is not null as closed from network_apps a, wallets w
   where a.deactivated_at is null and w.user_id = $buyer
     and case when $app is null then lower(a.name) = lower($name) else a.id = $app end`,
)

const quoted = pointsFirstSql('points', 'price')

/**
 * Creates an order if the app is for sale, its price is at most `maxCost`, the wallet can pay the price, and the buyer has
 * fewer than `maxOpen` open orders. The clock is read after the wallet is locked, because lists of orders are sorted by
 * this time. `app` is null if `name` identifies the app. `window`: time to confirm the order, in seconds.
 */
export const insertOrder = joinedStatement(
  'order_insert',
  {
    apart: ['buyer'],
    parameters: {
      ...{ order: uuid, buyer: uuid, app: orNull(uuid), name: text, actionArgs: orNull(bytes) },
      ...{ window: int, maxCost: orNull(numeric), maxOpen: int, ...onceTypes },
    },
    columns: orderRow,
  },
  ({ item, skipsLocked, place }) => `with ${item},
   wanted as (
     select item.*, a.id as app_id, a.name as app_name, a.price
     from item join network_apps a on a.deactivated_at is null
       and case when item.app is null then lower(a.name) = lower(item.name) else a.id = item.app end
       and a.price <= coalesce(item.max_cost, a.price)
     ${skipsLocked ? `${heldAccountSql.join('item.buyer')} ${heldAccountSql.locks}` : ''}
   ),
   updated_wallet as (
     update wallets w set event_sequence = w.event_sequence + 1, open_orders = w.open_orders + 1 from wanted
     where w.user_id = wanted.buyer and w.closed_at is null and w.open_orders < wanted.max_open
       and w.points + w.num >= wanted.price
     returning w.event_sequence as sequence, w.points, w.num, clock_timestamp() as at, wanted.*
   ),
   created_order as (
     insert into orders (id, buyer_id, network_app_id, network_app_name, action_args, price, quoted_points, quoted_num,
       created_at, expires_at)
     select "order", buyer, app_id, app_name, action_args, price, ${quoted.points}, ${quoted.num},
       at, date_trunc('milliseconds', at) + make_interval(secs => "window")
     from updated_wallet returning *
   ),
   ${eventSql({ from: 'updated_wallet', owner: 'buyer', sequence: 'sequence', type: 'order.created', order: '"order"' })},
   ${onceSql('"order"::text', 'updated_wallet', givenSql('updated_wallet'))}
   select ${place} ${orderSql('created_order')}
   from created_order join updated_wallet on updated_wallet.order = created_order.id`,
)

/** `is_sold`: false if the owner of the app deleted their account. `overdue` uses the database clock. */
const stateColumns = {
  ...{ status: textOf<OrderStatus>(), overdue: boolean, is_sold: boolean },
  ...{ price: text, points: text, num: text },
}
export type OrderState = RowOf<typeof stateColumns>

/** Reads the status of an order that could not be paid or cancelled. */
export const findOrderState = statement(
  'order_state',
  { parameters: { order: uuid, buyer: uuid }, columns: stateColumns },
  `select o.status::text, o.expires_at <= clock_timestamp()::timestamptz(3) as overdue, s.closed_at is null as is_sold,
     o.price::text, w.points::text, w.num::text
   from orders o join wallets w on w.user_id = o.buyer_id join network_apps a on a.id = o.network_app_id
     join wallets s on s.user_id = a.owner_id
   where o.id = $order and o.buyer_id = $buyer`,
)

/** Waits for the synchronous standbys, as a write does. A read alone could return stale data of a former primary. */
export const waitForStandbys = statement(
  'order_wait_for_standbys',
  { columns: { at: text } },
  `select pg_logical_emit_message(true, 'annal', '')::text as at`,
)

const payment = pointsFirstSql('buyer.points', 'sale.price')

const saleLines: readonly EntryLine[] = [
  { wallet: 'split.buyer', currency: 'POINTS', amount: '-split.points' },
  { wallet: 'split.buyer', currency: 'NUM', amount: '-split.num' },
  { wallet: 'split.owner_id', currency: 'POINTS', amount: 'split.points - split.points_share' },
  { wallet: 'split.owner_id', currency: 'NUM', amount: 'split.num - split.num_share' },
  { book: 'REVENUE', currency: 'POINTS', amount: 'split.points_share' },
  { book: 'REVENUE', currency: 'NUM', amount: 'split.num_share' },
]

/**
 * Pays orders in one statement: the charge, the events, the webhook deliveries and the mail jobs. The statement locks
 * open orders, then the wallets of buyers and owners by ascending ID, so that two sales cannot deadlock. New balances
 * are computed from the locked rows, because CHECK constraints would see an older row version without recent income.
 * The clock is read after locking, so that no payment completes after the deadline. An order of a disabled webhook also
 * gets a delivery. That delivery fails without a request, so the order ends according to the policy of its app.
 */
export const payOrder = joinedStatement(
  'order_pay',
  {
    apart: ['order', 'buyer'],
    parameters: { order: uuid, buyer: uuid, platformShare: numeric, maxCost: orNull(numeric), ...onceTypes },
    columns: { ...orderRow, ownerId: uuid },
  },
  ({ item, skipsLocked, place }) => `with ${item},
   locked_order as materialized (
     select item.*, o.network_app_id, o.price, o.expires_at
     from item join orders o on o.id = item.order and o.buyer_id = item.buyer
       -- The CASE prevents the planner from using the index of open orders, because the planner underestimates the size of that index.
       and case when o.status = 'CREATED' then true end
     for update of o ${skipsLocked ? 'skip locked' : ''}
   ),
   sale as materialized (
     select locked_order.*, a.owner_id, a.webhook_url is not null as calls
     from locked_order join network_apps a on a.id = locked_order.network_app_id
     where locked_order.price <= coalesce(locked_order.max_cost, locked_order.price)
   ),
   party as materialized (select buyer as user_id from sale union select owner_id from sale),
   locked_wallets as materialized (
     select w.user_id, w.points, w.num, w.closed_at from party join wallets w on w.user_id = party.user_id
     order by w.user_id for no key update of w
   ),
   payment_time as materialized (
     select clock_timestamp()::timestamptz(3) as at from (select count(*) as n from locked_wallets) as held where held.n > 0
   ),
   split as materialized (
     select sale.*, transfer.transfer_id, payment_time.at, paid.points, paid.num,
       round(paid.points * sale.platform_share, 18) as points_share, round(paid.num * sale.platform_share, 18) as num_share
     from sale cross join payment_time
       join locked_wallets owner on owner.user_id = sale.owner_id and owner.closed_at is null
       join locked_wallets buyer on buyer.user_id = sale.buyer and buyer.closed_at is null
         and buyer.points + buyer.num >= sale.price and payment_time.at < sale.expires_at
       cross join lateral (select ${payment.points} as points, ${payment.num} as num) as paid
       cross join lateral (
         select ${nextTransferSql('party')} as transfer_id from locked_wallets party
         where party.user_id in (sale.buyer, sale.owner_id) order by transfer_id desc limit 1
       ) as transfer
   ),
   feed as materialized (select "order", transfer_id, buyer as user_id from split union select "order", transfer_id, owner_id from split),
   movement as materialized (
     select user_id, sum(points) as points, sum(num) as num, sum(bought)::int as bought
     from (
       select buyer as user_id, -points as points, -num as num, 1 as bought from split
       union all select owner_id, points - points_share, num - num_share, 0 from split
     ) as change group by user_id
   ),
   updated_wallets as (
     update wallets w set points = held.points + movement.points, num = held.num + movement.num,
       event_sequence = w.event_sequence + (select count(*) from feed where feed.user_id = w.user_id),
       open_orders = w.open_orders - movement.bought
     from movement, locked_wallets held where held.user_id = movement.user_id and w.user_id = movement.user_id
     returning w.user_id, old.event_sequence as before
   ),
   ${postTransferSql({ from: 'split', reference: `'order:' || "order"`, omitsZeros: true, lines: saleLines })},
   paid_order as (
     update orders o set status = case when split.calls then 'PENDING' else 'SUCCESS' end::order_status,
       points_paid = split.points, num_paid = split.num, transfer_id = split.transfer_id, paid_at = split.at,
       settled_at = case when split.calls then null else split.at end
     from split where o.id = split.order returning o.*
   ),
   ${eventSql({
     from: 'feed join updated_wallets on updated_wallets.user_id = feed.user_id',
     owner: 'feed.user_id',
     sequence: 'updated_wallets.before + row_number() over (partition by feed.user_id order by feed.transfer_id)',
     type: 'order.paid',
     order: 'feed.order',
     transfer: 'feed.transfer_id',
   })},
   inserted_delivery as (
     insert into webhook_deliveries (event_id, network_app_id, order_id)
     select inserted_events.id, split.network_app_id, split.order
     from split join inserted_events on inserted_events.order_id = split.order and inserted_events.owner_id = split.owner_id
     where split.calls
     returning id, network_app_id, order_id
   ),
   ${enqueueSql(
     'enqueued_jobs',
     deliveryJobs(
       '(select d.*, split.trace from inserted_delivery d join split on split.order = d.order_id) as delivery',
       'trace',
     ),
     {
       queue: 'mail',
       from: `split, (values ('receipt'), ('sale')) as mail (template)`,
       data: { template: 'template', orderId: 'split.order' },
       trace: 'split.trace',
     },
   )},
   ${onceSql('split.order::text', 'split', givenSql('split'))}
   select ${place} ${orderSql('paid_order')}, split.owner_id as "ownerId"
   from paid_order join split on split.order = paid_order.id, (select count(*) from enqueued_jobs) as jobs`,
)

export const cancelOrder = statement(
  'order_cancel',
  { parameters: { order: uuid, buyer: uuid, ...onceTypes }, columns: orderRow },
  `with locked_order as materialized (
     select id, status, expires_at from orders where id = $order and buyer_id = $buyer for update
   ),
   open_order as materialized (
     select id from locked_order where status = 'CREATED' and clock_timestamp()::timestamptz(3) < expires_at
   ),
   updated_wallet as (
     update wallets w set event_sequence = w.event_sequence + 1, open_orders = w.open_orders - 1 from open_order
     where w.user_id = $buyer returning w.event_sequence as sequence
   ),
   cancelled_order as (
     update orders o set status = 'CANCELLED', settled_at = now(), ${eraseArgumentsSql('o')}
     from open_order where o.id = open_order.id returning o.*
   ),
   ${eventSql({
     ...{ from: 'cancelled_order, updated_wallet', owner: 'cancelled_order.buyer_id' },
     ...{ sequence: 'updated_wallet.sequence', type: 'order.cancelled', order: 'cancelled_order.id' },
   })},
   ${onceSql('$order::text', 'cancelled_order')}
   select ${orderSql('cancelled_order')} from cancelled_order`,
)

export const orderInvariants: Invariant[] = [
  {
    id: 'I4',
    sentence:
      'A paid order has one charge of its price, one event in the feed of the app’s owner and, with a webhook, one delivery. Unpaid orders have none. Expired events and deliveries are not checked.',
    query: `select coalesce('order:' || o.id, t.reference) as subject, 'a paid order without a charge, or a charge of an unpaid order' as problem from orders o
              full join (select id, reference from transfers where reference like 'order:%') t on t.reference = 'order:' || o.id
              where (o.paid_at is not null) <> (t.id is not null) or o.transfer_id <> t.id
            union all
            select 'order:' || o.id, 'the charge is not the price' from orders o
              left join entries e on e.transfer_id = o.transfer_id and e.wallet_id = o.buyer_id and e.amount < 0
              where o.paid_at is not null group by o.id having coalesce(-sum(e.amount), 0) <> o.price
            union all
            select 'order:' || o.id, 'the event of the payment is missing' from orders o join network_apps a on a.id = o.network_app_id
              where o.paid_at > ${keptFromSql} and not exists (
                select 1 from events e where e.order_id = o.id and e.owner_id = a.owner_id and e.type = 'order.paid')
            union all
            select 'order:' || e.order_id, 'an unpaid order has a payment event' from events e join orders o on o.id = e.order_id
              where e.type = 'order.paid' and o.paid_at is null
            union all
            select 'order:' || o.id, 'the order does not have exactly one delivery' from orders o left join (
                webhook_deliveries d join events e on e.id = d.event_id and e.type = 'order.paid') on d.order_id = o.id
              where o.status = 'PENDING' or (o.status = 'FAILURE' and o.settled_at > ${keptFromSql}) or d.id is not null
              group by o.id having count(d.id) <> 1 or o.paid_at is null`,
  },
  {
    id: 'I5',
    sentence: 'No order is both expired and paid, and every paid order was paid before its deadline.',
    columns: { subject: text, status: text, paid_at: timestamp, expires_at: timestamp },
    query: `select 'order:' || id as subject, status::text, paid_at, expires_at from orders
            where paid_at is not null and (status in ('CREATED', 'EXPIRED', 'CANCELLED') or paid_at >= expires_at)`,
  },
  {
    id: 'I10',
    sentence:
      'The refunds of an order are at most the paid amount. Each refund has one transfer, which credits the buyer, and an event for buyer and seller until it expires. An order has the status REFUNDED exactly if it was completely refunded.',
    query: `select coalesce('order:' || r.order_id, t.reference) as subject, 'a refund without its transfer, or a transfer without its refund' as problem
              from refunds r full join (select id, reference from transfers where reference like 'order-refund:%') t on t.id = r.transfer_id
              where r.id is null or t.id is null or split_part(t.reference, ':', 2) <> r.order_id::text
            union all
            select 'order:' || o.id, 'the sum of the refunds is not the refunded amount' from orders o left join lateral (
                select coalesce(sum(points), 0) as points, coalesce(sum(num), 0) as num from refunds where order_id = o.id) r on true
              where o.points_refunded <> r.points or o.num_refunded <> r.num
            union all
            select 'order:' || id, 'more was refunded than paid' from orders where points_refunded > points_paid or num_refunded > num_paid
            union all
            select 'order:' || o.id, 'the status REFUNDED without a complete refund, or a complete refund without the status' from orders o
              where o.paid_at is not null and case o.status
                when 'REFUNDED' then o.points_refunded + o.num_refunded <> o.price or not exists (select from refunds where order_id = o.id)
                else o.points_refunded + o.num_refunded = o.price and o.price > 0 end
            union all
            select 'order:' || o.id, 'the refund credited a different amount to the buyer' from refunds r join orders o on o.id = r.order_id
              join network_apps a on a.id = o.network_app_id left join lateral (
                select coalesce(sum(amount) filter (where currency = 'POINTS'), 0) as points,
                  coalesce(sum(amount) filter (where currency = 'NUM'), 0) as num
                from entries where transfer_id = r.transfer_id and wallet_id = o.buyer_id) e on true
              where a.owner_id <> o.buyer_id and (e.points <> r.points or e.num <> r.num)
            union all
            select 'order:' || r.order_id, 'the event of the refund is missing' from refunds r join orders o on o.id = r.order_id
              join network_apps a on a.id = o.network_app_id, lateral (values (o.buyer_id), (a.owner_id)) as person (id)
              where r.created_at > ${keptFromSql}
                and not exists (select from events e where e.owner_id = person.id and e.transfer_id = r.transfer_id and e.type = 'order.refunded')`,
  },
  {
    id: 'C5',
    sentence: 'The counter of open orders of a wallet is the number of open orders of its owner.',
    columns: { subject: text, open_orders: int },
    query: `select 'user:' || w.user_id as subject, w.open_orders from wallets w
            where w.open_orders <> (select count(*) from orders o where o.buyer_id = w.user_id and o.status = 'CREATED')`,
  },
]
