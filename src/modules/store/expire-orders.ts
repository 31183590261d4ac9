/** Batch jobs that expire unconfirmed orders and erase the arguments of old orders. */
import type { Use } from '../../context.ts'
import { arrayOf, int, statement, text, uuid } from '../../db/sql.ts'
import { createBatchJobRunner, findItemsSql, pageShape, simpleBatchJob } from '../../jobs/batch-jobs.ts'
import { eventSql } from '../events/events.sql.ts'
import { eraseArgumentsSql, ORDERS_AT_ONCE } from './orders.sql.ts'

const isOverdueSql = `status = 'CREATED' and expires_at <= now()`

const findOverdue = statement(
  'order_overdue',
  pageShape,
  findItemsSql('expire-orders', 'id::text', 'orders', isOverdueSql, 'expires_at, id'),
)

/** Expires orders. It skips locked orders, because these are being paid or cancelled. */
export const expireOrdersStatement = statement(
  'order_expire',
  { parameters: { orders: arrayOf(uuid) }, columns: { id: uuid, buyer_id: uuid } },
  `with overdue_orders as materialized (
     select id, buyer_id from orders where id = any ($orders) and ${isOverdueSql} for update skip locked
   ),
   locked_wallets as materialized (
     select w.user_id from wallets w where w.user_id in (select buyer_id from overdue_orders)
     order by w.user_id for no key update
   ),
   updated_wallets as (
     update wallets w set event_sequence = w.event_sequence + expired.n, open_orders = w.open_orders - expired.n
     from (
       select buyer_id, count(*)::int as n from overdue_orders join locked_wallets on user_id = buyer_id group by buyer_id
     ) as expired
     where w.user_id = expired.buyer_id returning w.user_id, old.event_sequence as before
   ),
   expired_orders as (
     update orders o set status = 'EXPIRED', settled_at = now(), ${eraseArgumentsSql('o')} from overdue_orders
     where o.id = overdue_orders.id returning o.id, o.buyer_id, o.created_at
   ),
   ${eventSql({
     from: 'expired_orders join updated_wallets on updated_wallets.user_id = expired_orders.buyer_id',
     owner: 'expired_orders.buyer_id',
     sequence:
       'updated_wallets.before + row_number() over (partition by buyer_id order by created_at, expired_orders.id)',
     type: 'order.expired',
     order: 'expired_orders.id',
   })}
   select id, buyer_id from expired_orders`,
)

/** SQL condition: an ended order has arguments that no pending webhook delivery needs. */
const isErasableSql = `o.action_args is not null and o.settled_at < now() - make_interval(days => $days)
     and not exists (select from webhook_deliveries d where d.order_id = o.id and d.status = 'PENDING')`

const findOldArguments = statement(
  'order_old_arguments',
  { parameters: { ...pageShape.parameters, days: int }, columns: pageShape.columns },
  findItemsSql('erase-arguments', 'o.id::text', 'orders o', isErasableSql, 'o.settled_at, o.id'),
)

const eraseStatement = statement(
  'order_arguments_sweep',
  { parameters: { items: arrayOf(uuid), days: int }, columns: { item: text } },
  `with locked_orders as materialized (
     select o.id from orders o where o.id = any ($items) and ${isErasableSql} for no key update skip locked
   )
   update orders o set ${eraseArgumentsSql('o')} from locked_orders where o.id = locked_orders.id returning o.id::text as item`,
)

type Needs = Use<'database' | 'log' | 'notifications'>

export async function expireOrders(context: Needs): Promise<void> {
  await createBatchJobRunner(context).run({
    name: 'expire-orders',
    find: (query, part) => query(findOverdue, part),
    page: ORDERS_AT_ONCE,
    async process(query, orders) {
      const expired = await query(expireOrdersStatement, { orders })
      return { items: expired.map(({ id }) => id), owners: expired.map(({ buyer_id }) => buyer_id) }
    },
  })
}

/** Erases the arguments of orders that ended more than ORDER_ARGUMENTS_DAYS ago. */
export async function eraseOrderArguments(context: Needs & Use<'config'>, cancel?: AbortSignal): Promise<void> {
  const days = context.config.store.orderArgumentsDays
  const job = simpleBatchJob('erase-arguments', findOldArguments, eraseStatement, { days }, ORDERS_AT_ONCE)
  await createBatchJobRunner(context).run(job, cancel)
}
