/** Work after deletions: late data and money, and accounts or keys that a backup restored. */
import type { Use } from '../../context.ts'
import { arrayOf, boolean, statement, text, uuid } from '../../db/sql.ts'
import {
  type BatchJob,
  type BatchJobName,
  createBatchJobRunner,
  findItemsSql,
  pageShape,
  simpleBatchJob,
} from '../../jobs/batch-jobs.ts'
import { chunk, forEachSettled } from '../../shared/async.ts'
import { toId } from '../../shared/ids.ts'
import { eraseArgumentsSql } from '../store/orders.sql.ts'
import { nextTransferSql } from '../wallet/ledger-sql.ts'
import { forfeitSql } from './delete-account.sql.ts'
import { falseIfDeleted, forgetKey, retryDelete } from './delete-account.ts'

interface CleanUp {
  /** SQL of the ID of an item. */
  item: string
  /** SQL of the tables, the condition and the order of due items. */
  due: readonly [from: string, where: string, order: string]
  /** SQL that processes `$items` and returns those it processed. */
  process: string
}

function cleanUp(name: BatchJobName, { item, due, process }: CleanUp): BatchJob {
  const id = name.replaceAll('-', '_')
  const find = statement(`find_${id}`, pageShape, findItemsSql(name, `${item}::text`, ...due))
  const work = statement(id, { parameters: { items: arrayOf(uuid) }, columns: { item: text } }, process)
  return simpleBatchJob(name, find, work, {})
}

const leftOverSql = 'closed_at is not null and (num > 0 or points > 0)'
const settledSql = `o.action_args is not null and o.status not in ('CREATED', 'PENDING')`
const isDeliveredSql = `a.webhook_secret is not null and not exists (
     select from webhook_deliveries d where d.network_app_id = a.id and d.status = 'PENDING')`
/** Deliveries settle within this time after a deletion. */
const SETTLING = '7 days'

const batchJobs = [
  // Closed wallets that received money from a refund, a deposit or a sale.
  cleanUp('forfeit-balances', {
    item: 'user_id',
    due: ['wallets', leftOverSql, 'user_id'],
    process: `with locked_wallets as materialized (
       select user_id from wallets where user_id = any ($items) and ${leftOverSql} order by user_id for no key update
     ),
     emptied_wallets as (
       update wallets w set num = 0, points = 0 from locked_wallets where w.user_id = locked_wallets.user_id
       returning w.user_id, ${nextTransferSql('w')} as transfer_id, old.num, old.points
     ),
     ${forfeitSql('emptied_wallets', `'forfeit:' || user_id || ':' || transfer_id`)}
     select user_id::text as item from emptied_wallets`,
  }),
  // Skips orders that are being settled.
  cleanUp('erase-arguments-of-deleted', {
    item: 'o.id',
    due: [
      'users u join orders o on o.buyer_id = u.id',
      `u.deleted_at is not null and ${settledSql}`,
      'o.buyer_id, o.id',
    ],
    process: `with settled_orders as materialized (
       select o.id from orders o where o.id = any ($items) and ${settledSql} for no key update skip locked
     )
     update orders o set ${eraseArgumentsSql('o')} from settled_orders where o.id = settled_orders.id returning o.id::text as item`,
  }),
  cleanUp('erase-webhooks-of-deleted', {
    item: 'a.id',
    due: ['network_apps a join users u on u.id = a.owner_id', `u.deleted_at is not null and ${isDeliveredSql}`, 'a.id'],
    process: `update network_apps a set webhook_url = null, webhook_secret = null, previous_secret = null, previous_secret_expires_at = null
     where a.id = any ($items) and ${isDeliveredSql} returning a.id::text as item`,
  }),
  // Concurrent requests wrote these network addresses after the deletion.
  cleanUp('erase-addresses-of-deleted', {
    item: 'e.id',
    due: [
      'users u join audit_entries e on e.user_id = u.id',
      'u.deleted_at is not null and e.address is not null',
      'e.user_id, e.id',
    ],
    process: `update audit_entries set address = null where id = any ($items) and address is not null returning id::text as item`,
  }),
  // Responses of webhooks may contain personal data. There is no index for them, so only recent deletions are read.
  cleanUp('erase-responses-of-deleted', {
    item: 'd.id',
    due: [
      'users u join orders o on o.buyer_id = u.id join webhook_deliveries d on d.order_id = o.id',
      `u.deleted_at > now() - interval '${SETTLING}' and d.status <> 'PENDING'
       and exists (select from webhook_attempts a where a.delivery_id = d.id and a.response <> '')`,
      'o.buyer_id, d.id',
    ],
    process: `with erased_attempts as (
       update webhook_attempts a set response = '' from webhook_deliveries d
       where a.delivery_id = d.id and d.id = any ($items) and d.status <> 'PENDING' and a.response <> '' returning a.delivery_id
     )
     select distinct delivery_id::text as item from erased_attempts`,
  }),
]

/** Returns those of the accounts that exist. `waits` is true if the account has an unsigned commit. */
const findReturned = statement(
  'deletion_returned',
  { parameters: { users: arrayOf(uuid) }, columns: { id: uuid, waits: boolean } },
  `select u.id, exists (
     select from commits c join commit_relays r on r.commit_id = c.id
     where c.author_id = u.id and r.status = 'PENDING' and r.lane is null and r.tree_signature is null) as waits
   from users u where u.id = any ($users) and u.deleted_at is null`,
)

const findDeleted = statement(
  'deletion_deleted',
  { parameters: { users: arrayOf(uuid) }, columns: { id: uuid } },
  'select id from users where id = any ($users) and deleted_at is not null',
)

const PAGE = 500

type Needs = Parameters<typeof retryDelete>[0]

async function deleteAgain(context: Needs, userId: string): Promise<void> {
  await retryDelete(context, userId, null).catch(falseIfDeleted)
  context.log.warn({ user: toId('user', userId) }, 'Deleted account returned from a backup; deleted it again')
  await forgetKey(context, { userId })
}

/** Deletes accounts again that a backup restored. One with unsigned commits waits for the relay. Returns whether none is left. */
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

/** Erases late data of deleted accounts, and forfeits late money. Safe in several processes at once. */
export const cleanUpDeletedAccounts = (context: Use<'database' | 'log'>, cancel?: AbortSignal): Promise<void> =>
  createBatchJobRunner(context).runAll(batchJobs, cancel)
