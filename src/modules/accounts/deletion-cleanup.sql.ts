/** What deletions leave for later: what was on its way then, and money that still came in. Each: a page of a sweep, and what is done with it. */
import { arrayOf, statement, text, uuid } from '../../db/sql.ts'
import { idPlaceSql, isAwakeSql, placeSql, sweepPage } from '../../jobs/batch-job.ts'
import { eraseArgumentsSql } from '../store/orders.sql.ts'
import { nextTransferSql } from '../wallet/ledger-sql.ts'
import { forfeitSql } from './delete-account.sql.ts'

const leftOverSql = 'closed_at is not null and (num > 0 or points > 0)'
const byUser = idPlaceSql('user_id')

/** Money that came in after: what a refund, a deposit or a sale brought to a closed wallet. */
export const findLeftOver = statement(
  'deletion_find_left_over',
  sweepPage,
  `select user_id::text as item, ${byUser.place} as place from wallets
   where ${leftOverSql} and ${byUser.isAfter} and ${isAwakeSql('forfeit-left-over', 'user_id::text')}
   order by user_id limit $limit`,
)

/** Moves what closed wallets hold to the book FORFEITED, by a transfer for each. */
export const forfeitLeftOver = statement(
  'deletion_left_over',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  `with locked_wallets as materialized (
     select user_id from wallets where user_id = any ($items) and ${leftOverSql} order by user_id for no key update
   ),
   emptied_wallets as (
     update wallets w set num = 0, points = 0 from locked_wallets where w.user_id = locked_wallets.user_id
     returning w.user_id, ${nextTransferSql('w')} as transfer_id, old.num, old.points
   ),
   ${forfeitSql('emptied_wallets', `'forfeit:' || user_id || ':' || transfer_id`)}
   select user_id::text as item from emptied_wallets`,
)

/** Whatever is being settled at this moment has time. */
const settledSql = `o.action_args is not null and o.status not in ('CREATED', 'PENDING')`
const byBuyer = placeSql('o.buyer_id', 'o.id', ['uuid', 'uuid'])

/** Arguments of settled orders whose buyer left. */
export const findLeftArguments = statement(
  'deletion_find_arguments',
  sweepPage,
  `select o.id::text as item, ${byBuyer.place} as place from users u join orders o on o.buyer_id = u.id
   where u.deleted_at is not null and ${settledSql} and ${byBuyer.isAfter}
     and ${isAwakeSql('erase-arguments-of-deleted', 'o.id::text')}
   order by o.buyer_id, o.id limit $limit`,
)

/** Erases the arguments of these orders, but for those that somebody is settling. */
export const eraseLeftArguments = statement(
  'deletion_left_arguments',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  `with settled_orders as materialized (
     select o.id from orders o where o.id = any ($items) and ${settledSql} for no key update skip locked
   )
   update orders o set ${eraseArgumentsSql('o')} from settled_orders where o.id = settled_orders.id returning o.id::text as item`,
)

const toldSql = `a.webhook_secret is not null and not exists (
     select from webhook_deliveries d where d.network_app_id = a.id and d.status = 'PENDING')`
const byApp = idPlaceSql('a.id')

/** Receivers of apps whose owner left, once the last sale has been told. */
export const findLeftWebhooks = statement(
  'deletion_find_webhooks',
  sweepPage,
  `select a.id::text as item, ${byApp.place} as place from network_apps a join users u on u.id = a.owner_id
   where u.deleted_at is not null and ${toldSql} and ${byApp.isAfter}
     and ${isAwakeSql('erase-webhooks-of-deleted', 'a.id::text')}
   order by a.id limit $limit`,
)

/** Erases URL and secrets of these apps' webhooks. */
export const eraseWebhooks = statement(
  'deletion_webhooks',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  `update network_apps a set webhook_url = null, webhook_secret = null, previous_secret = null, previous_secret_expires_at = null
   where a.id = any ($items) and ${toldSql} returning a.id::text as item`,
)

const byTrail = placeSql('e.user_id', 'e.id', ['uuid', 'uuid'])

/** What requests that were under way wrote into the trail after its addresses were erased. */
export const findLeftAddresses = statement(
  'deletion_find_addresses',
  sweepPage,
  `select e.id::text as item, ${byTrail.place} as place from users u join audit_entries e on e.user_id = u.id
   where u.deleted_at is not null and e.address is not null and ${byTrail.isAfter}
     and ${isAwakeSql('erase-addresses-of-deleted', 'e.id::text')}
   order by e.user_id, e.id limit $limit`,
)

/** Erases the network addresses of these entries of the trail. */
export const eraseAddresses = statement(
  'deletion_addresses',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  'update audit_entries set address = null where id = any ($items) and address is not null returning id::text as item',
)

/** A receiver may send back what it was told, or say what it made of it. */
const answeredSql = `d.status <> 'PENDING'
     and exists (select from webhook_attempts a where a.delivery_id = d.id and a.response <> '')`
const byBuyersDelivery = placeSql('o.buyer_id', 'd.id', ['uuid', 'uuid'])

/** For so long after a deletion deliveries settle that were under way. */
const SETTLING = '7 days'

/** Settled deliveries of orders whose buyer left, with what receivers answered. No index names them, so only those who left lately are looked at. */
export const findLeftAnswers = statement(
  'deletion_find_answers',
  sweepPage,
  `select d.id::text as item, ${byBuyersDelivery.place} as place
   from users u join orders o on o.buyer_id = u.id join webhook_deliveries d on d.order_id = o.id
   where u.deleted_at > now() - interval '${SETTLING}' and ${answeredSql} and ${byBuyersDelivery.isAfter}
     and ${isAwakeSql('erase-answers-of-deleted', 'd.id::text')}
   order by o.buyer_id, d.id limit $limit`,
)

/** Erases what receivers answered to these deliveries; that they were called, and with which status, stays. */
export const eraseAnswers = statement(
  'deletion_left_answers',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  `with erased_attempts as (
     update webhook_attempts a set response = '' from webhook_deliveries d
     where a.delivery_id = d.id and d.id = any ($items) and d.status <> 'PENDING' and a.response <> '' returning a.delivery_id
   )
   select distinct delivery_id::text as item from erased_attempts`,
)
