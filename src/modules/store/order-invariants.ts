/** Invariants of orders, their payments and their refunds. */
import type { Invariant } from '../../db/invariants/invariant.ts'
import { int, text, timestamp } from '../../db/sql.ts'
import { keptFromSql } from '../../jobs/retention.ts'

export const orderInvariants: Invariant[] = [
  {
    id: 'I4',
    sentence:
      'A paid order has one charge of its price, one event in the feed of the app’s owner and, with a webhook, one delivery. Unpaid orders have none. Expired events and deliveries are not checked.',
    query: `select coalesce('order:' || o.id, t.reference) as subject, 'paid without a charge, or charged without being paid' as problem from orders o
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
            select 'order:' || e.order_id, 'the event of a payment of an unpaid order' from events e join orders o on o.id = e.order_id
              where e.type = 'order.paid' and o.paid_at is null
            union all
            select 'order:' || o.id, 'not exactly one delivery' from orders o left join (
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
      'Refunds of an order are never more than was paid. Each refund has one transfer, which credits the buyer, and an event for buyer and seller until it expires. An order has the status REFUNDED exactly if it was completely refunded.',
    query: `select coalesce('order:' || r.order_id, t.reference) as subject, 'a refund without its transfer, or a transfer without its refund' as problem
              from refunds r full join (select id, reference from transfers where reference like 'order-refund:%') t on t.id = r.transfer_id
              where r.id is null or t.id is null or split_part(t.reference, ':', 2) <> r.order_id::text
            union all
            select 'order:' || o.id, 'its refunds do not add up' from orders o left join lateral (
                select coalesce(sum(points), 0) as points, coalesce(sum(num), 0) as num from refunds where order_id = o.id) r on true
              where o.points_refunded <> r.points or o.num_refunded <> r.num
            union all
            select 'order:' || id, 'more was refunded than paid' from orders where points_refunded > points_paid or num_refunded > num_paid
            union all
            select 'order:' || o.id, 'refunded without a complete refund, or completely refunded without the status' from orders o
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
