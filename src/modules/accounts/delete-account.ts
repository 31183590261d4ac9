/** Deletes accounts: keys, tokens and personal data are destroyed and the money is forfeited. The ledger and the chain keep their history. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Use } from '../../context.ts'
import type { Database } from '../../db/database-types.ts'
import type { ForgetKeyJob } from '../../jobs/queues.ts'
import { authenticationFailed, DomainError, LostKeyError, notFound, unavailable } from '../../shared/errors.ts'
import { fromId, NIL_UUID, toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { assertOperator, assertUserMay } from '../../shared/policy.ts'
import { failCommit } from '../commits/commits.sql.ts'
import { ORDERS_AT_ONCE } from '../store/orders.sql.ts'
import * as sql from './delete-account.sql.ts'
import {
  type AccountWithReason,
  accountSelector,
  accountWithReason,
  findAccount,
  isDeletedError,
} from './find-users.ts'

/** Attempts while other requests use the account. */
const MAX_ATTEMPTS = 20
/** Assets that one statement empties. Each may have a long history. */
const ASSETS_AT_ONCE = 50

type KeyContext = Use<'custody' | 'database' | 'vault'>
type DeletionContext = KeyContext & Use<'coins' | 'log'>
type Needs = DeletionContext & Use<'actor' | 'deletions' | 'notifications'>

/** A random username of 21 characters. A predictable name could be taken already. */
const tombstoneName = () => `deleted_${randomBytes(8).readBigUInt64BE().toString(36).padStart(13, '0')}`

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

const busy = () =>
  new DomainError('CONFLICT', 'Your account is being used by other requests. Try again.', { retryAfter: 1 })

/** Returns false if another process has deleted the account. Throws other errors again. */
export const falseIfDeleted = (error: unknown): false => {
  if (!isDeletedError(error)) throw error
  return false
}

/** Locks the account until the end of the transaction. Throws AUTHENTICATION_FAILED if it is deleted. */
async function lockExisting(query: Database['query'], user: string): Promise<void> {
  const [found] = await query(sql.lockUser, { user })
  if (!found || found.deleted) throw authenticationFailed()
}

/** Signs accepted commits, because nobody can sign after the deletion. Returns the signatures, and the commits whose key cannot be decrypted. */
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

/** Deletes the account in one transaction. Returns false, without effect, if something was accepted for the account in the meantime. */
async function tryDelete(context: DeletionContext, user: string, reason: string | null): Promise<boolean> {
  const { database, log } = context
  const [{ signed, unsignable }, transfers] = await Promise.all([
    signCommits(context, user),
    context.coins.signLastTransfers(user),
  ])
  let isLate = false
  let tokens = '0'
  const work = async (query: Database['query']) => {
    await query(sql.waitForDeletionTurn, { user })
    await query(sql.lockOpenOrders, { user })
    await query(sql.lockAssets, { user })
    await query(sql.storeSignatures, signed)
    // The refunds arrive before the wallet is closed, and are forfeited with the rest.
    for (const commit of unsignable)
      await query(failCommit, { commit, reason: 'the author’s key did not open when the account was deleted' })
    await query(sql.lockWallet, { user })
    await query(sql.lockApps, { user })
    await lockExisting(query, user)
    const orders = idsOf(await query(sql.lockMoreOrders, { user }))
    const assets = idsOf(await query(sql.lockMoreAssets, { user }))
    const [late] = await query(sql.findLateEntries, { user, orders, assets })
    isLate = late?.some === true || !(await transfers.store(query))
    // Rolls back the signatures: the relay would treat the trees of an account that still exists as stored.
    if (isLate) throw busy()
    tokens = (await query(sql.sumTokens, { user }))[0]!.amount
    for (let from = 0; from < assets.length; from += ASSETS_AT_ONCE)
      await query(sql.emptyAssets, { user, assets: assets.slice(from, from + ASSETS_AT_ONCE) })
    await query(sql.closeWallet, { user })
    const email = `${randomUUID()}@deleted.invalid`
    await query(sql.eraseAccount, { user, username: tombstoneName(), email, reason })
    if (reason !== null) await query(sql.recordOperatorDeletion, { subject: toId('user', user), reason })
    while ((await query(sql.eraseArguments, { user })).length === ORDERS_AT_ONCE);
    for (let after: string | null = NIL_UUID; after !== null; )
      after = (await query(sql.eraseAuditAddresses, { user, after }))[0]!.last
  }
  try {
    await database.transaction(work)
  } catch (error) {
    if (isLate) return false
    throw error
  }
  if (unsignable.length)
    log.error(
      { user: toId('user', user), commits: unsignable.map((id) => toId('commit', id)) },
      'Commits of a deleted account could not be signed',
    )
  // Tokens are not swept, and the destroyed key was the only one that could move them.
  if (tokens !== '0')
    log.error({ user: toId('user', user), tokens }, 'Tokens at the address of a deleted account are lost')
  return true
}

/** Deletes an account, and retries while other requests use it. Throws AUTHENTICATION_FAILED, CONFLICT, UNAVAILABLE. */
export async function retryDelete(context: DeletionContext, userId: string, reason: string | null): Promise<void> {
  for (let attempt = 1; !(await tryDelete(context, userId, reason)); attempt += 1)
    if (attempt === MAX_ATTEMPTS) throw busy()
}

/** Destroys the key of a deleted account and the stored responses to its requests. Runs jobs of the queue `forget-key`. Idempotent. */
export async function forgetKey({ custody, database, vault }: KeyContext, { userId }: ForgetKeyJob): Promise<void> {
  await vault.markDeleted(userId)
  await custody.forget(userId)
  await database.query(sql.eraseResponses, { user: userId })
}

/** Deletes an account. In one process, a second deletion waits for the first one without a connection, and then fails. */
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
  await forgetKey(context, { userId }).catch((error: unknown) =>
    context.log.warn(
      { err: error, user: toId('user', userId) },
      'Failed to destroy the key of a deleted account; retrying',
    ),
  )
}

/** Deletes the caller's account permanently. Returns its UUID. Accepted commits still reach the chain. */
export async function deleteAccount(context: Needs): Promise<string> {
  const { actor } = context
  assertUserMay(actor, 'account:delete')
  await deleteOnce(context, actor.id, null)
  return actor.id
}

type PreviewContext = Use<'actor' | 'config' | 'database'>

async function readPreview(context: PreviewContext, name: string): Promise<sql.DeletionPreview> {
  const user = fromId(name, 'user')?.uuid ?? (await findAccount(context, name))
  const [found] = user === undefined ? [] : await context.database.query(sql.readDeletionPreview, { user })
  if (!found) throw notFound('User')
  return found
}

export async function previewDeletion(context: PreviewContext, name: string): Promise<sql.DeletionPreview> {
  assertOperator(context.actor)
  return readPreview(context, parse(accountSelector, { userId: name }).userId)
}

/** Deletes an account as an operator. If it was deleted before (`isNew` is false), destroys its key again, in case that was interrupted. */
export async function deleteAccountAsOperator(context: Needs & PreviewContext, rawInput: AccountWithReason) {
  assertOperator(context.actor)
  const { userId, reason } = parse(accountWithReason, rawInput)
  const { id, deletedAt } = await readPreview(context, userId)
  const isNew = deletedAt === null && (await deleteOnce(context, id, reason).then(() => true, falseIfDeleted))
  if (!isNew) await forgetKey(context, { userId: id })
  return { id, isNew }
}
