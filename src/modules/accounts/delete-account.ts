/** Deletes accounts: destroys keys and personal data, and forfeits money. Ledger and chain keep their history. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Use } from '../../context.ts'
import type { Database } from '../../db/database-types.ts'
import { arrayOf, boolean, statement, text, uuid } from '../../db/sql.ts'
import {
  type BatchJobName,
  createBatchJobRunner,
  findItemsSql,
  pageShape,
  simpleBatchJob,
} from '../../jobs/batch-jobs.ts'
import type { JobData } from '../../jobs/queues.ts'
import { chunk, forEachSettled } from '../../shared/async.ts'
import { authenticationFailed, DomainError, LostKeyError, notFound, unavailable } from '../../shared/errors.ts'
import { fromId, NIL_UUID, toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { assertOperator, assertUserMay } from '../../shared/policy.ts'
import { failCommit } from '../commits/commits.sql.ts'
import { eraseArgumentsSql, ORDERS_AT_ONCE } from '../store/orders.sql.ts'
import { nextTransferSql } from '../wallet/ledger-sql.ts'
import * as sql from './delete-account.sql.ts'
import {
  type AccountWithReason,
  accountSelector,
  accountWithReason,
  findAccount,
  isDeletedError,
} from './find-users.ts'

/** Maximum number of attempts while other requests use the account. */
const MAX_ATTEMPTS = 20
/** Maximum number of assets that one statement deletes. Each asset may have a long history. */
const ASSETS_AT_ONCE = 50

type KeyContext = Use<'custody' | 'database' | 'vault'>
type DeletionContext = KeyContext & Use<'coins' | 'log'>
type Needs = DeletionContext & Use<'actor' | 'deletions' | 'notifications'>

/** Returns a random username of 21 characters. A predictable name could already be in use. */
const deletedName = () => `deleted_${randomBytes(8).readBigUInt64BE().toString(36).padStart(13, '0')}`

const busy = () =>
  new DomainError('CONFLICT', 'Your account is being used by other requests. Try again.', { retryAfter: 1 })

const falseIfDeleted = (error: unknown): false => {
  if (isDeletedError(error)) return false
  throw error
}

/** Locks the account until the end of the transaction. Throws AUTHENTICATION_FAILED if it is deleted. */
async function lockExisting(query: Database['query'], user: string): Promise<void> {
  const [found] = await query(sql.lockUser, { user })
  if (!found || found.deleted) throw authenticationFailed()
}

/** Signs accepted commits, because the key is destroyed later. `unsignable`: commits whose key cannot be decrypted. */
async function signCommits({ custody, database }: DeletionContext, user: string) {
  const signed = { commits: [] as string[], signatures: [] as string[] }
  const unsignable: string[] = []
  for (const { commitId, treeSha256, ...key } of await database.query(sql.findUnsignedCommits, { user })) {
    try {
      signed.signatures.push(await custody.sign(user, key, treeSha256))
      signed.commits.push(commitId)
    } catch (error) {
      // A deletion in another process may have destroyed the key since it was read.
      await lockExisting(database.query, user)
      if (!(error instanceof LostKeyError)) throw unavailable('The key vault', error)
      unsignable.push(commitId)
    }
  }
  return { signed, unsignable }
}

/** Deletes the account in one transaction. Returns false, without effect, if a request changed the account. */
async function tryDelete(context: DeletionContext, user: string, operatorReason: string | null): Promise<boolean> {
  const { database } = context
  const [{ signed, unsignable }, transfers] = await Promise.all([
    signCommits(context, user),
    context.coins.signLastTransfers(user),
  ])
  let hasNewItems = false
  let tokens = '0'
  const work = async (query: Database['query']) => {
    await query(sql.waitForDeletionTurn, { user })
    await query(sql.lockOpenOrders, { user })
    await query(sql.lockAssets, { user })
    await query(sql.storeSignatures, signed)
    // Refunds of these commits are paid before the wallet is closed, so they are forfeited too.
    const reason = 'the author’s key could not be decrypted when the account was deleted'
    for (const commit of unsignable) await query(failCommit, { commit, reason })
    await query(sql.lockWallet, { user })
    await query(sql.lockApps, { user })
    await lockExisting(query, user)
    const orders = (await query(sql.lockMoreOrders, { user })).map(({ id }) => id)
    const assets = (await query(sql.lockMoreAssets, { user })).map(({ id }) => id)
    const [found] = await query(sql.findNewItems, { user, orders, assets })
    tokens = found!.tokens
    hasNewItems = found!.some || !(await transfers.store(query))
    // Rolls back the stored signatures. Otherwise the relay would treat the trees as stored.
    if (hasNewItems) throw busy()
    for (let from = 0; from < assets.length; from += ASSETS_AT_ONCE)
      await query(sql.emptyAssets, { user, assets: assets.slice(from, from + ASSETS_AT_ONCE) })
    await query(sql.closeWallet, { user })
    const email = `${randomUUID()}@deleted.invalid`
    await query(sql.eraseAccount, { user, username: deletedName(), email, reason: operatorReason })
    if (operatorReason !== null)
      await query(sql.recordOperatorDeletion, { subject: toId('user', user), reason: operatorReason })
    while ((await query(sql.eraseArguments, { user })).length === ORDERS_AT_ONCE);
    for (let after: string | null = NIL_UUID; after !== null; )
      after = (await query(sql.eraseAuditAddresses, { user, after }))[0]!.last
  }
  try {
    await database.transaction(work)
  } catch (error) {
    if (hasNewItems) return false
    throw error
  }
  const log = context.log.child({ user: toId('user', user) })
  if (unsignable.length > 0)
    log.error(
      { commits: unsignable.map((id) => toId('commit', id)) },
      'Commits of a deleted account could not be signed',
    )
  // Tokens are not swept, and only the destroyed key could move the tokens.
  if (tokens !== '0') log.error({ tokens }, 'Tokens at the address of a deleted account are lost')
  return true
}

/** Deletes an account, and retries while other requests use it. Throws AUTHENTICATION_FAILED, CONFLICT, UNAVAILABLE. */
async function retryDelete(context: DeletionContext, userId: string, reason: string | null): Promise<void> {
  for (let attempt = 1; !(await tryDelete(context, userId, reason)); attempt += 1)
    if (attempt === MAX_ATTEMPTS) throw busy()
}

/** Destroys the key of a deleted account, and deletes stored responses. Runs `forget-key` jobs. Idempotent. */
export async function forgetKey(
  { custody, database, vault }: KeyContext,
  { userId }: JobData['forget-key'],
): Promise<void> {
  await vault.markDeleted(userId)
  await custody.forget(userId)
  await database.query(sql.eraseResponses, { user: userId })
}

/** Deletes an account. A concurrent deletion in the same process waits for the first one, and then fails. */
async function deleteOnce(context: Needs, userId: string, reason: string | null): Promise<void> {
  const { deletions } = context
  const first = deletions.get(userId)
  if (first) {
    await first
    throw authenticationFailed()
  }
  const deletion = retryDelete(context, userId, reason)
  deletions.set(userId, deletion)
  await deletion.finally(() => deletions.delete(userId))
  context.notifications.notify(userId)
  // The deletion has enqueued a job that repeats this after an error.
  await forgetKey(context, { userId }).catch((err: unknown) => {
    const user = toId('user', userId)
    context.log.warn({ err, user }, 'Failed to destroy the key of a deleted account; retrying')
  })
}

/** Deletes the caller's account permanently. Returns its UUID. Accepted commits still reach the chain. */
export async function deleteAccount(context: Needs): Promise<string> {
  const { actor } = context
  assertUserMay(actor, 'account:delete')
  await deleteOnce(context, actor.id, null)
  return actor.id
}

type PreviewContext = Use<'actor' | 'config' | 'database'>

export async function previewDeletion(context: PreviewContext, name: string): Promise<sql.DeletionPreview> {
  assertOperator(context.actor)
  const { userId } = parse(accountSelector, { userId: name })
  const user = fromId(userId, 'user')?.uuid ?? (await findAccount(context, userId))
  const [found] = user === undefined ? [] : await context.database.query(sql.readDeletionPreview, { user })
  if (!found) throw notFound('User')
  return found
}

/** Deletes an account as an operator. If the account was already deleted, destroys its key again. */
export async function deleteAccountAsOperator(context: Needs & PreviewContext, rawInput: AccountWithReason) {
  assertOperator(context.actor)
  const { userId, reason } = parse(accountWithReason, rawInput)
  const { id, deletedAt } = await previewDeletion(context, userId)
  const isNew = deletedAt === null && (await deleteOnce(context, id, reason).then(() => true, falseIfDeleted))
  if (!isNew) await forgetKey(context, { userId: id })
  return { id, isNew }
}

/**
 * Creates a batch job. `item`: SQL of the ID of an item. `due`: SQL of the tables, the condition and the order of due
 * items. `process`: SQL that processes `$items` and returns the processed items.
 */
function cleanUp(name: BatchJobName, item: string, due: [from: string, where: string, order: string], process: string) {
  const id = name.replaceAll('-', '_')
  const find = statement(`find_${id}`, pageShape, findItemsSql(name, `${item}::text`, ...due))
  const work = statement(id, { parameters: { items: arrayOf(uuid) }, columns: { item: text } }, process)
  return simpleBatchJob(name, find, work, {})
}

const hasBalanceSql = 'closed_at is not null and (num > 0 or points > 0)'
const settledSql = `o.action_args is not null and o.status not in ('CREATED', 'PENDING')`
const isDeliveredSql = `a.webhook_secret is not null and not exists (
     select from webhook_deliveries d where d.network_app_id = a.id and d.status = 'PENDING')`

const batchJobs = [
  // Forfeits money that closed wallets received from a refund, a deposit or a sale.
  cleanUp(
    'forfeit-balances',
    'user_id',
    ['wallets', hasBalanceSql, 'user_id'],
    `with locked_wallets as materialized (
       select user_id from wallets where user_id = any ($items) and ${hasBalanceSql} order by user_id for no key update
     ),
     emptied_wallets as (
       update wallets w set num = 0, points = 0 from locked_wallets where w.user_id = locked_wallets.user_id
       returning w.user_id, ${nextTransferSql('w')} as transfer_id, old.num, old.points
     ),
     ${sql.forfeitSql('emptied_wallets', `'forfeit:' || user_id || ':' || transfer_id`)}
     select user_id::text as item from emptied_wallets`,
  ),
  // Skips orders that are being settled.
  cleanUp(
    'erase-arguments-of-deleted',
    'o.id',
    ['users u join orders o on o.buyer_id = u.id', `u.deleted_at is not null and ${settledSql}`, 'o.buyer_id, o.id'],
    `with settled_orders as materialized (
       select o.id from orders o where o.id = any ($items) and ${settledSql} for no key update skip locked
     )
     update orders o set ${eraseArgumentsSql('o')} from settled_orders where o.id = settled_orders.id returning o.id::text as item`,
  ),
  cleanUp(
    'erase-webhooks-of-deleted',
    'a.id',
    ['network_apps a join users u on u.id = a.owner_id', `u.deleted_at is not null and ${isDeliveredSql}`, 'a.id'],
    `update network_apps a set webhook_url = null, webhook_secret = null, previous_secret = null, previous_secret_expires_at = null
     where a.id = any ($items) and ${isDeliveredSql} returning a.id::text as item`,
  ),
  // Erases network addresses that concurrent requests wrote after the deletion.
  cleanUp(
    'erase-addresses-of-deleted',
    'e.id',
    [
      'users u join audit_entries e on e.user_id = u.id',
      'u.deleted_at is not null and e.address is not null',
      'e.user_id, e.id',
    ],
    `update audit_entries set address = null where id = any ($items) and address is not null returning id::text as item`,
  ),
  // Responses of webhooks may contain personal data. Reads only recent deletions, because there is no index.
  cleanUp(
    'erase-responses-of-deleted',
    'd.id',
    [
      'users u join orders o on o.buyer_id = u.id join webhook_deliveries d on d.order_id = o.id',
      `u.deleted_at > now() - interval '7 days' and d.status <> 'PENDING'
       and exists (select from webhook_attempts a where a.delivery_id = d.id and a.response <> '')`,
      'o.buyer_id, d.id',
    ],
    `with erased_attempts as (
       update webhook_attempts a set response = '' from webhook_deliveries d
       where a.delivery_id = d.id and d.id = any ($items) and d.status <> 'PENDING' and a.response <> '' returning a.delivery_id
     )
     select distinct delivery_id::text as item from erased_attempts`,
  ),
]

/** Reads accounts. `waits` is true if the account has an unsigned commit. */
const findAccounts = statement(
  'deletion_accounts',
  { parameters: { users: arrayOf(uuid) }, columns: { id: uuid, isDeleted: boolean, waits: boolean } },
  `select u.id, u.deleted_at is not null as "isDeleted", exists (
     select from commits c join commit_relays r on r.commit_id = c.id
     where c.author_id = u.id and r.status = 'PENDING' and r.lane is null and r.tree_signature is null) as waits
   from users u where u.id = any ($users)`,
)

const PAGE = 500

/** Deletes accounts again that a backup restored. Returns false if one waits for the relay to sign its commits. */
export async function deleteRestoredAccounts(context: DeletionContext): Promise<boolean> {
  const { database, log, vault } = context
  let isDone = true
  await forEachSettled(chunk(vault.deletedOwners(), PAGE), async (users) =>
    forEachSettled(await database.query(findAccounts, { users }), async ({ id, isDeleted, waits }) => {
      if (isDeleted) return
      if (waits) {
        isDone = false
        return
      }
      await retryDelete(context, id, null).catch(falseIfDeleted)
      log.warn({ user: toId('user', id) }, 'Deleted account returned from a backup; deleted it again')
      await forgetKey(context, { userId: id })
    }),
  )
  return isDone
}

/** Destroys key shares of deleted accounts again that a backup of the vault restored. */
export async function destroyRestoredKeys(context: KeyContext & Use<'log'>, cancel?: AbortSignal): Promise<void> {
  const { database, log, vault } = context
  const destroyPage = async (users: string[]) =>
    forEachSettled(await database.query(findAccounts, { users }), async ({ id, isDeleted }) => {
      if (!isDeleted) return
      await forgetKey(context, { userId: id })
      log.warn({ user: toId('user', id) }, 'Key of a deleted account returned from a backup; destroyed it again')
    })
  await forEachSettled(chunk(vault.owners(), PAGE), destroyPage, cancel)
}

/** Erases data and forfeits money that deleted accounts received after the deletion. */
export const cleanUpDeletedAccounts = (context: Use<'database' | 'log'>, cancel?: AbortSignal): Promise<void> =>
  createBatchJobRunner(context).runAll(batchJobs, cancel)
