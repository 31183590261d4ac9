/**
 * Prepares accepted commits for the chain: writes the tree to the content store and signs it with the author's key. It runs independently
 * of the lanes. A commit that fails is retried with exponential backoff and does not delay the others.
 */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../db/database-types.ts'
import type { ContentStore } from '../../files/file-types.ts'
import type { Custody, SealedKey } from '../../keys/key-types.ts'
import { failCommit } from '../../modules/commits/commits.sql.ts'
import { isFull, isUnavailable, LostKeyError } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import type { Log } from '../../shared/log.ts'
import { explainError } from '../../shared/operator-errors.ts'
import type { Tracer } from '../../telemetry/telemetry-types.ts'
import type { Lease } from '../lease.ts'
import { createCpuThrottle, createLogDeduper, type LogDeduper } from '../poller.ts'
import { findUnprepared, hasKey, postpone, storePrepared, type UnpreparedRow } from './commit-signer.sql.ts'

/** Options of the commit signer. */
export interface PreparerOptions {
  database: Database
  lease: Lease
  contentStore: ContentStore
  custody: Custody
  log: Log
  tracer: Tracer
  stopping: AbortSignal
  /** Pause between polls without work, in milliseconds. */
  idlePause: number
  /** Returns true if the chain already has the commit, and then stores that. Throws if the chain's state is unknown. */
  reconcileFromChain(leaseName: string, commitId: string): Promise<boolean>
  /** Called when commits are prepared. */
  onReady(): void
}

export interface Preparer {
  /** Runs until it is stopped. Resolves after the current step. */
  run(): Promise<void>
  wake(): void
}

const leaseName = 'relay:prepare'
/** Maximum number of commits per step. */
const BATCH = 32
/** Pause after a step that failed as a whole, in milliseconds. */
const PAUSE_AFTER_FAILURE_MS = 2_000
/** First retry delay, maximum delay if the commit itself fails, and maximum delay if a dependency is unavailable. */
const FIRST_PAUSE_SECONDS = 2
const LONGEST_PAUSE_SECONDS = 3_600
const LONGEST_OUTAGE_PAUSE_SECONDS = 30
/** Last attempt without the author's key, about three days after the first. Leaves time to restore a key vault. */
const LAST_TRY_WITHOUT_KEY = 80

/**
 * Creates the commit signer. The lease `relay:prepare` ensures that one process runs it. A failed commit is retried after 2 seconds to
 * 1 hour, or at most 30 seconds if a dependency is unavailable. A commit without its author's key is refunded after about three days.
 */
export const createPreparer = (options: PreparerOptions): Preparer => {
  const { database, lease, contentStore, custody, log, tracer, stopping } = options
  const cpu = createCpuThrottle()
  const [outages, failures] = [createLogDeduper(), createLogDeduper()]
  let wakeUp: (() => void) | undefined
  let isWoken = false

  const reportFailure = (deduper: LogDeduper, error: unknown) => {
    const problem = { message: 'Preparation of commits failed; retrying', reason: explainError(error) }
    if (deduper.fails(problem)) log.warn({ err: error, reason: problem.reason }, problem.message)
  }
  const reportSuccess = (deduper: LogDeduper) => {
    const outage = deduper.recovers()
    if (outage) log.info(outage, 'Preparation of commits recovered')
  }

  const storeTree = async (row: UnpreparedRow) => {
    // The tree of a deleted asset must stay private, so it is not stored. Its hash still goes to the chain.
    if (row.deleted || !keyOf(row) || isErased(row)) return
    const cid = await contentStore.putDocument(Buffer.from(row.tree), stopping)
    if (cid !== row.tree_cid)
      throw new Error(`The content store has the tree under ${cid}, the commit says ${row.tree_cid}.`)
  }

  /** Refunds a commit that cannot be signed. First checks the chain, because a restored backup may lack the commit's transaction. */
  const refund = async (row: UnpreparedRow, reason: string) => {
    if (await options.reconcileFromChain(leaseName, row.commit_id)) return
    log.error({ commit: toId('commit', row.commit_id), reason }, 'Commit failed; refunding it')
    await lease.write(leaseName, failCommit, { commit: row.commit_id, reason })
  }

  /** Returns true if the account was deleted since the row was read. The deletion has then signed or failed its commits. */
  const isOvertaken = async (row: UnpreparedRow) => (await database.query(hasKey, { user: row.author_id })).length === 0

  /** Looks for the commit on the chain, and refunds it after the last attempt. Returns true if it is settled. */
  const settleWithoutKey = async (row: UnpreparedRow, error: LostKeyError): Promise<boolean> => {
    if (await isOvertaken(row)) return true
    if (!error.isForGood && row.attempts < LAST_TRY_WITHOUT_KEY)
      return options.reconcileFromChain(leaseName, row.commit_id)
    await refund(row, 'the author’s key does not open any more')
    return true
  }

  const scheduleRetry = async (row: UnpreparedRow, error: unknown) => {
    const reason = explainError(error)
    const isOutage = isUnavailable(error) || isFull(error)
    const longest = isOutage ? LONGEST_OUTAGE_PAUSE_SECONDS : LONGEST_PAUSE_SECONDS
    await lease.write(leaseName, postpone, {
      ...{ commit: row.commit_id, lastError: reason, firstPause: FIRST_PAUSE_SECONDS, longestPause: longest },
    })
    if (isOutage) reportFailure(outages, error)
    else if (row.attempts === 0) {
      const commit = toId('commit', row.commit_id)
      log.error({ err: error, commit }, 'Commit could not be prepared for the chain; retrying ("annal relay" lists it)')
    }
  }

  const prepareCommit = async (row: UnpreparedRow, tree: Promise<void> | undefined, ready: [string, string][]) => {
    const key = keyOf(row)
    if (!key) return refund(row, 'the author’s key no longer exists')
    if (isErased(row)) return refund(row, 'the tree was erased before it was signed')
    await tree
    try {
      ready.push([row.commit_id, await cpu.run(() => custody.sign(row.author_id, key, row.tree_sha256))])
    } catch (error) {
      if (!(error instanceof LostKeyError && (await settleWithoutKey(row, error)))) throw error
    }
  }

  /** Returns the number of commits it handled. */
  const step = async (): Promise<number> => {
    if (!(await lease.acquire(leaseName))) return 0
    const rows = await database.query(findUnprepared, { limit: BATCH })
    const trees = rows.map((row) => storeTree(row))
    await Promise.allSettled(trees)
    const ready: [string, string][] = []
    for (const [index, row] of rows.entries()) {
      if (stopping.aborted) break
      try {
        await tracer.resume([row.trace], 'relay prepare', {}, () => prepareCommit(row, trees[index], ready))
      } catch (error) {
        if (!stopping.aborted) await scheduleRetry(row, error)
      }
    }
    if (ready.length > 0) {
      reportSuccess(outages)
      await lease.write(leaseName, storePrepared, {
        commits: ready.map(([id]) => id),
        signatures: ready.map(([, signature]) => signature),
      })
      options.onReady()
    }
    return rows.length
  }

  const pause = async (milliseconds: number) => {
    const ending = new AbortController()
    wakeUp = () => ending.abort()
    if (isWoken) ending.abort()
    await delay(milliseconds, undefined, { signal: AbortSignal.any([ending.signal, stopping]) }).catch(() => {})
    wakeUp = undefined
    isWoken = false
  }

  return {
    async run() {
      while (!stopping.aborted) {
        try {
          const count = await step()
          reportSuccess(failures)
          if (count === 0) await pause(options.idlePause)
        } catch (error) {
          if (stopping.aborted) break
          reportFailure(failures, error)
          await pause(PAUSE_AFTER_FAILURE_MS)
        }
      }
    },
    wake() {
      isWoken = true
      wakeUp?.()
    },
  }
}

/** Returns the author's key. Undefined if it was destroyed with the account. */
function keyOf(row: UnpreparedRow): SealedKey | undefined {
  const { key_version: version, vault_key_id: vaultKeyId, wrapped_data_key, sealed_private_key } = row
  if (version === null || vaultKeyId === null || !wrapped_data_key || !sealed_private_key) return undefined
  return { version, vaultKeyId, wrappedDataKey: wrapped_data_key, sealedPrivateKey: sealed_private_key }
}

const isErased = ({ tree, tree_sha256 }: UnpreparedRow): boolean =>
  createHash('sha256').update(tree).digest('hex') !== tree_sha256
