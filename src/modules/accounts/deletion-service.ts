/**
 * The end of an account: keys, tokens and personal data go, the money is forfeited, the books and the chain keep what
 * they must. Contract: `DELETE /api/v3/auth/users/me/` and `deleteAccount`.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Coins } from '../../chain/chain-types.ts'
import type { Database } from '../../db/database-types.ts'
import { plainSweep } from '../../jobs/batch-job.ts'
import type { ForgetKeyJob } from '../../jobs/queues.ts'
import { createSweeper } from '../../jobs/run-batch-job.ts'
import type { Custody, KeyVault } from '../../keys/key-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { chunk, forEachSettled } from '../../shared/async.ts'
import { authenticationFailed, DomainError, LostKeyError, notFound, unavailable } from '../../shared/errors.ts'
import { fromId, NIL_UUID, toId } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import type { Log } from '../../shared/log.ts'
import { assertOperator, assertUserMay } from '../../shared/policy.ts'
import { failCommit } from '../commits/commits.sql.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import { ORDERS_AT_ONCE } from '../store/orders.sql.ts'
import { createFindAccount, isDeleted, type WithReason, whose, withReason } from './account-lookup.ts'
import {
  closeWallet,
  emptyAssets,
  eraseAccount,
  eraseArguments,
  eraseTrail,
  type ForeseenDeletion,
  findDeleted,
  findLatecomers,
  findReturned,
  findUnsigned,
  foreseeDeletion,
  forgetAnswers,
  forgetLetters,
  lockApps,
  lockAssets,
  lockMoreAssets,
  lockMoreOrders,
  lockOpenOrders,
  lockUser,
  lockWallet,
  noteDeletion,
  storeSignatures,
  sumTokens,
  waitForTurn,
} from './delete-account.sql.ts'
import {
  eraseAddresses,
  eraseAnswers,
  eraseLeftArguments,
  eraseWebhooks,
  findLeftAddresses,
  findLeftAnswers,
  findLeftArguments,
  findLeftOver,
  findLeftWebhooks,
  forfeitLeftOver,
} from './deletion-cleanup.sql.ts'

interface Dependencies {
  database: Database
  custody: Custody
  coins: Coins
  vault: Pick<KeyVault, 'markDeleted' | 'owners' | 'deletedOwners'>
  notifications: FeedNotifications
  log: Log
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
}

/** How often it is begun anew when the account is in use meanwhile. */
const TRIES = 20
/** Assets that one statement empties: each may have a long history. */
const ASSETS_AT_ONCE = 50
/** Accounts that the vault remembers, looked up at once. */
const PAGE = 500

/** 21 characters that nobody can foretell. */
const tombstoneName = () => `deleted_${randomBytes(8).readBigUInt64BE().toString(36).padStart(13, '0')}`

/** False of an account that another process was quicker to delete. Raises every other error. */
const falseIfDeleted = (error: unknown): false => {
  if (!isDeleted(error)) throw error
  return false
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

/**
 * The deletion of accounts, its jobs and its sweeps. One deletion of an account at a time and process: the same wish sent
 * again waits for the first.
 */
export function createDeletionService(deps: Dependencies) {
  const { database, custody, coins, vault, notifications, log } = deps
  const findAccount = createFindAccount(deps)
  const sweeper = createSweeper({ database, log })
  const sweeps = [
    plainSweep('forfeit-left-over', findLeftOver, forfeitLeftOver),
    plainSweep('erase-arguments-of-deleted', findLeftArguments, eraseLeftArguments),
    plainSweep('erase-webhooks-of-deleted', findLeftWebhooks, eraseWebhooks),
    plainSweep('erase-addresses-of-deleted', findLeftAddresses, eraseAddresses),
    plainSweep('erase-answers-of-deleted', findLeftAnswers, eraseAnswers),
  ]
  /** By user: the same wish sent again waits here, and takes no connection that others need. */
  const underWay = new Map<string, Promise<void>>()

  /** Holds the account to the end of a transaction. Raises AUTHENTICATION_FAILED when there is none any more. */
  async function hold(query: Database['query'], userId: string): Promise<void> {
    const [found] = await query(lockUser, { user: userId })
    if (!found || found.deleted) throw authenticationFailed()
  }

  /**
   * What was paid for belongs on the chain, and after the deletion nobody can sign: commits and their signatures, and what
   * cannot be signed any more. Raises AUTHENTICATION_FAILED, UNAVAILABLE while the vault cannot be asked.
   */
  async function signAccepted(userId: string) {
    const signed = { commits: [] as string[], signatures: [] as string[] }
    const lost: string[] = []
    for (const { commitId, treeSha256, ...key } of await database.query(findUnsigned, { user: userId })) {
      try {
        signed.signatures.push(await custody.sign(userId, key, treeSha256))
        signed.commits.push(commitId)
      } catch (error) {
        // A deletion in another process may have been quicker, and destroyed the key since it was read.
        await hold(database.query, userId)
        if (!(error instanceof LostKeyError)) throw unavailable('The key vault', error)
        lost.push(commitId)
      }
    }
    return { signed, lost }
  }

  /**
   * All or nothing. False: something was accepted for the account meanwhile, and nothing happened. `reason`: an operator's. Raises
   * AUTHENTICATION_FAILED.
   */
  async function tryDelete(user: string, reason: string | null): Promise<boolean> {
    const [{ signed, lost }, lastTransfers] = await Promise.all([signAccepted(user), coins.signLastTransfers(user)])
    let isOvertaken = false
    let tokens = '0'
    const work = async (query: Database['query']) => {
      await query(waitForTurn, { user })
      await query(lockOpenOrders, { user })
      await query(lockAssets, { user })
      await query(storeSignatures, signed)
      // What they cost comes back before the wallet is closed, and is forfeited with the rest of it.
      for (const commit of lost)
        await query(failCommit, { commit, reason: 'the author’s key did not open when the account was deleted' })
      await query(lockWallet, { user })
      await query(lockApps, { user })
      await hold(query, user)
      const orders = idsOf(await query(lockMoreOrders, { user }))
      const assets = idsOf(await query(lockMoreAssets, { user }))
      const [latecomers] = await query(findLatecomers, { user, orders, assets })
      isOvertaken = latecomers?.some === true || !(await lastTransfers.store(query))
      // Raised only to undo the signatures: they tell the relay that it has stored the trees of what is not deleted now.
      if (isOvertaken) throw busy()
      tokens = (await query(sumTokens, { user }))[0]!.amount
      for (let from = 0; from < assets.length; from += ASSETS_AT_ONCE)
        await query(emptyAssets, { user, assets: assets.slice(from, from + ASSETS_AT_ONCE) })
      await query(closeWallet, { user })
      const email = `${randomUUID()}@deleted.invalid`
      await query(eraseAccount, { user, username: tombstoneName(), email, reason })
      if (reason !== null) await query(noteDeletion, { subject: toId('user', user), reason })
      while ((await query(eraseArguments, { user })).length === ORDERS_AT_ONCE);
      for (let after: string | null = NIL_UUID; after !== null; )
        after = (await query(eraseTrail, { user, after }))[0]!.last
    }
    try {
      await database.transaction(work)
      if (lost.length)
        log.error(
          { user: toId('user', user), commits: lost.map((id) => toId('commit', id)) },
          'Commits of a deleted account could not be signed',
        )
      // Nothing gathers them, and the key that goes now was the only one that moves them.
      if (tokens !== '0')
        log.error({ user: toId('user', user), tokens }, 'Tokens at the address of a deleted account are lost')
      return true
    } catch (error) {
      if (isOvertaken) return false
      throw error
    }
  }

  async function insist(userId: string, reason: string | null): Promise<void> {
    for (let tries = 1; !(await tryDelete(userId, reason)); tries += 1) if (tries === TRIES) throw busy()
  }

  const busy = () =>
    new DomainError('CONFLICT', 'Your account is being used by other requests. Try again.', { retryAfter: 1 })

  /** Destroys what unwraps the account's key, and the answers its requests got. May be repeated. */
  async function forget({ userId }: ForgetKeyJob): Promise<void> {
    await vault.markDeleted(userId)
    await custody.forget(userId)
    await database.query(forgetAnswers, { user: userId })
    await database.query(forgetLetters, { user: userId })
  }

  /** One at a time; whoever comes second is refused once the first is done. `reason`: an operator's, else null. */
  async function deleteOnce(userId: string, reason: string | null): Promise<void> {
    const first = underWay.get(userId)
    if (first) {
      await first
      throw authenticationFailed()
    }
    const deletion = insist(userId, reason)
    underWay.set(userId, deletion)
    await deletion.finally(() => underWay.delete(userId))
    notifications.notify(userId)
    // Whatever hinders this is waited for by the job that the deletion left behind.
    await forget({ userId }).catch((error: unknown) =>
      log.warn({ err: error, user: toId('user', userId) }, 'Failed to destroy the key of a deleted account; retrying'),
    )
  }

  /** Whose account an operator means, also by the identifier of one that is deleted. Raises NOT_FOUND. */
  async function look(who: string): Promise<ForeseenDeletion> {
    const user = fromId(who, 'user')?.uuid ?? (await findAccount(who))
    const [found] = user === undefined ? [] : await database.query(foreseeDeletion, { user })
    if (!found) throw notFound('User')
    return found
  }

  async function deleteAgain(userId: string): Promise<void> {
    await insist(userId, null).catch(falseIfDeleted)
    log.warn({ user: toId('user', userId) }, 'Deleted account returned from a backup; deleted it again')
    await forget({ userId })
  }

  return {
    /**
     * Deletes again what a backup of the database brought back: the vault remembers who was deleted. An account whose
     * commits may be on the chain already waits until the relay has looked. Returns whether none is left. Raises UNAVAILABLE,
     * CONFLICT.
     */
    async reapply(): Promise<boolean> {
      let isDone = true
      await forEachSettled(chunk(vault.deletedOwners(), PAGE), async (users) =>
        forEachSettled(await database.query(findReturned, { users }), async ({ id, waits }) => {
          if (waits) isDone = false
          else await deleteAgain(id)
        }),
      )
      return isDone
    },

    /** Destroys again what an old backup of the vault brought back: key shares of accounts that are deleted. */
    async forgetAgain(cancel?: AbortSignal): Promise<void> {
      const forgetPage = async (users: string[]) =>
        forEachSettled(await database.query(findDeleted, { users }), async ({ id }) => {
          await forget({ userId: id })
          log.warn({ user: toId('user', id) }, 'Key of a deleted account returned from a backup; destroyed it again')
        })
      await forEachSettled(chunk(vault.owners(), PAGE), forgetPage, cancel)
    },

    /**
     * Deletes the actor's account for good; returns its UUID. What was accepted and paid for still reaches the chain.
     * Raises NOT_AUTHENTICATED, AUTHENTICATION_FAILED when it is deleted already, CONFLICT while it is in constant use.
     */
    async delete(actor: Actor): Promise<string> {
      assertUserMay(actor, 'account:delete')
      await deleteOnce(actor.id, null)
      return actor.id
    },

    /**
     * Tells an operator what a deletion would take now. Also of an account that is deleted, by its identifier. Raises NOT_AUTHENTICATED,
     * PERMISSION_DENIED, VALIDATION_FAILED, NOT_FOUND.
     */
    async foresee(actor: Actor, who: string): Promise<ForeseenDeletion> {
      assertOperator(actor)
      return look(parse(whose, { userId: who }).userId)
    },

    /**
     * The same as `delete`, by an operator, who acts for a person that cannot sign in. Returns the account's UUID, and whether it was there
     * still: one that is deleted has its key destroyed again, in case a first try was killed before. Raises NOT_AUTHENTICATED, PERMISSION_DENIED,
     * VALIDATION_FAILED, NOT_FOUND, CONFLICT, UNAVAILABLE.
     */
    async deleteFor(actor: Actor, rawInput: WithReason): Promise<{ id: string; isNew: boolean }> {
      assertOperator(actor)
      const { userId, reason } = parse(withReason, rawInput)
      const { id: user, deletedAt } = await look(userId)
      const isNew = deletedAt === null && (await deleteOnce(user, reason).then(() => true, falseIfDeleted))
      if (!isNew) await forget({ userId: user })
      return { id: user, isNew }
    },

    /** Carries out a job of the queue `forget-key`. */
    forget,

    /** Finishes what could not be erased at once, and forfeits what still came in. Safe in several processes at once. */
    async sweep(cancel?: AbortSignal): Promise<void> {
      await sweeper.runAll(sweeps, cancel)
    },
  }
}
