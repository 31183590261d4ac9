/** Work after deletions: late data and money, and accounts or keys that a backup restored. */
import type { Use } from '../../context.ts'
import { arrayOf, boolean, statement, text, uuid } from '../../db/sql.ts'
import { createBatchJobRunner, findItemsSql, pageShape, simpleBatchJob } from '../../jobs/batch-jobs.ts'
import { chunk, forEachSettled } from '../../shared/async.ts'
import { toId } from '../../shared/ids.ts'
import { eraseArgumentsSql } from '../store/orders.sql.ts'
import { nextTransferSql } from '../wallet/ledger-sql.ts'
import { forfeitSql } from './delete-account.sql.ts'
import { falseIfDeleted, forgetKey, retryDelete } from './delete-account.ts'

const leftOverSql = 'closed_at is not null and (num > 0 or points > 0)'

/** Closed wallets that received money from a refund, a deposit or a sale. */
const findLeftOver = statement(
  'deletion_find_left_over',
  pageShape,
  findItemsSql('forfeit-balances', 'user_id::text', 'wallets', leftOverSql, 'user_id'),
)

/** Forfeits the balances of closed wallets. */
const forfeitLeftOver = statement(
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

const settledSql = `o.action_args is not null and o.status not in ('CREATED', 'PENDING')`

/** Settled orders with arguments of deleted buyers. */
const findLeftArguments = statement(
  'deletion_find_arguments',
  pageShape,
  findItemsSql(
    'erase-arguments-of-deleted',
    'o.id::text',
    'users u join orders o on o.buyer_id = u.id',
    `u.deleted_at is not null and ${settledSql}`,
    'o.buyer_id, o.id',
  ),
)

/** Erases the arguments of orders. Skips orders that are being settled. */
const eraseLeftArguments = statement(
  'deletion_left_arguments',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  `with settled_orders as materialized (
     select o.id from orders o where o.id = any ($items) and ${settledSql} for no key update skip locked
   )
   update orders o set ${eraseArgumentsSql('o')} from settled_orders where o.id = settled_orders.id returning o.id::text as item`,
)

const isDeliveredSql = `a.webhook_secret is not null and not exists (
     select from webhook_deliveries d where d.network_app_id = a.id and d.status = 'PENDING')`

/** Apps of deleted owners with a webhook and no pending delivery. */
const findLeftWebhooks = statement(
  'deletion_find_webhooks',
  pageShape,
  findItemsSql(
    'erase-webhooks-of-deleted',
    'a.id::text',
    'network_apps a join users u on u.id = a.owner_id',
    `u.deleted_at is not null and ${isDeliveredSql}`,
    'a.id',
  ),
)

/** Erases the URLs and secrets of webhooks. */
const eraseWebhooks = statement(
  'deletion_webhooks',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  `update network_apps a set webhook_url = null, webhook_secret = null, previous_secret = null, previous_secret_expires_at = null
   where a.id = any ($items) and ${isDeliveredSql} returning a.id::text as item`,
)

/** Audit entries with a network address of deleted users. Concurrent requests wrote them after the deletion. */
const findLeftAddresses = statement(
  'deletion_find_addresses',
  pageShape,
  findItemsSql(
    'erase-addresses-of-deleted',
    'e.id::text',
    'users u join audit_entries e on e.user_id = u.id',
    'u.deleted_at is not null and e.address is not null',
    'e.user_id, e.id',
  ),
)

/** Erases network addresses in audit entries. */
const eraseAddresses = statement(
  'deletion_addresses',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  'update audit_entries set address = null where id = any ($items) and address is not null returning id::text as item',
)

/** A response of a webhook may contain personal data. */
const answeredSql = `d.status <> 'PENDING'
     and exists (select from webhook_attempts a where a.delivery_id = d.id and a.response <> '')`

/** Deliveries settle within this time after a deletion. */
const SETTLING = '7 days'

/** Settled deliveries with responses for deleted buyers. There is no index for them, so only recent deletions are read. */
const findLeftAnswers = statement(
  'deletion_find_answers',
  pageShape,
  findItemsSql(
    'erase-responses-of-deleted',
    'd.id::text',
    'users u join orders o on o.buyer_id = u.id join webhook_deliveries d on d.order_id = o.id',
    `u.deleted_at > now() - interval '${SETTLING}' and ${answeredSql}`,
    'o.buyer_id, d.id',
  ),
)

/** Erases the responses to deliveries. The attempts and their statuses stay. */
const eraseAnswers = statement(
  'deletion_left_answers',
  { parameters: { items: arrayOf(uuid) }, columns: { item: text } },
  `with erased_attempts as (
     update webhook_attempts a set response = '' from webhook_deliveries d
     where a.delivery_id = d.id and d.id = any ($items) and d.status <> 'PENDING' and a.response <> '' returning a.delivery_id
   )
   select distinct delivery_id::text as item from erased_attempts`,
)

/** Returns those of the accounts that exist. `waits` is true if the account has an unsigned commit. */
const findReturned = statement(
  'deletion_returned',
  { parameters: { users: arrayOf(uuid) }, columns: { id: uuid, waits: boolean } },
  `select u.id, exists (
     select from commits c join commit_relays r on r.commit_id = c.id
     where c.author_id = u.id and r.status = 'PENDING' and r.lane is null and r.tree_signature is null) as waits
   from users u where u.id = any ($users) and u.deleted_at is null`,
)

/** Returns those of the accounts that are deleted. */
const findDeleted = statement(
  'deletion_deleted',
  { parameters: { users: arrayOf(uuid) }, columns: { id: uuid } },
  'select id from users where id = any ($users) and deleted_at is not null',
)

/** Accounts from the vault that one statement reads. */
const PAGE = 500

type Needs = Parameters<typeof retryDelete>[0]

async function deleteAgain(context: Needs, userId: string): Promise<void> {
  await retryDelete(context, userId, null).catch(falseIfDeleted)
  context.log.warn({ user: toId('user', userId) }, 'Deleted account returned from a backup; deleted it again')
  await forgetKey(context, { userId })
}

/**
 * Deletes accounts again that a backup of the database restored. The vault knows the deleted accounts. An account with unsigned commits waits for the relay, because the
 * commits may be on the chain. Returns whether none is left. Throws UNAVAILABLE, CONFLICT.
 */
export async function deleteRestoredAccounts(context: Needs): Promise<boolean> {
  const { database, vault } = context
  let isDone = true
  await forEachSettled(chunk(vault.deletedOwners(), PAGE), async (users) =>
    forEachSettled(await database.query(findReturned, { users }), async ({ id, waits }) => {
      if (waits) isDone = false
      else await deleteAgain(context, id)
    }),
  )
  return isDone
}

/** Destroys key shares of deleted accounts again that a backup of the vault restored. */
export async function destroyRestoredKeys(
  context: Use<'custody' | 'database' | 'log' | 'vault'>,
  cancel?: AbortSignal,
): Promise<void> {
  const { database, log, vault } = context
  const destroyPage = async (users: string[]) =>
    forEachSettled(await database.query(findDeleted, { users }), async ({ id }) => {
      await forgetKey(context, { userId: id })
      log.warn({ user: toId('user', id) }, 'Key of a deleted account returned from a backup; destroyed it again')
    })
  await forEachSettled(chunk(vault.owners(), PAGE), destroyPage, cancel)
}

const batchJobs = [
  simpleBatchJob('forfeit-balances', findLeftOver, forfeitLeftOver, {}),
  simpleBatchJob('erase-arguments-of-deleted', findLeftArguments, eraseLeftArguments, {}),
  simpleBatchJob('erase-webhooks-of-deleted', findLeftWebhooks, eraseWebhooks, {}),
  simpleBatchJob('erase-addresses-of-deleted', findLeftAddresses, eraseAddresses, {}),
  simpleBatchJob('erase-responses-of-deleted', findLeftAnswers, eraseAnswers, {}),
]

/** Erases late data of deleted accounts, and forfeits late money. Safe in several processes at once. */
export const cleanUpDeletedAccounts = (context: Use<'database' | 'log'>, cancel?: AbortSignal): Promise<void> =>
  createBatchJobRunner(context).runAll(batchJobs, cancel)
