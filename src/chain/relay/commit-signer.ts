/**
 * Makes accepted commits ready for the chain: the tree into the content store, and signed by its author's key. It runs
 * beside the lanes and never in their way: what fails waits, longer each time, and what is ready goes on without it.
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
import { createPace } from '../cpu-yield.ts'
import type { Lease } from '../lease.ts'
import { createLogDeduper, type LogDeduper } from '../log-dedupe.ts'
import { findUnprepared, hasKey, postpone, storePrepared, type UnpreparedRow } from './commit-signer.sql.ts'

/** What makes commits ready, and whom it tells. */
export interface PreparerOptions {
  database: Database
  lease: Lease
  contentStore: ContentStore
  custody: Custody
  log: Log
  tracer: Tracer
  stopping: AbortSignal
  /** Milliseconds between looks without work. */
  idlePause: number
  /** Whether the chain has a commit already, which is then taken down. Raises while the chain cannot tell. */
  takeFromChain(leaseName: string, commitId: string): Promise<boolean>
  /** Told when commits became ready. */
  onReady(): void
}

/** Makes commits ready. */
export interface Preparer {
  /** Fulfilled when it was told to stop and the step in hand is over. */
  run(): Promise<void>
  wake(): void
}

const leaseName = 'relay:prepare'
/** Commits taken in one step. */
const BATCH = 32
/** Milliseconds after a step that failed as a whole. */
const PAUSE_AFTER_FAILURE_MS = 2_000
/** Seconds: the first pause; the longest where the commit itself is at fault, and where a part is away. */
const FIRST_PAUSE_SECONDS = 2
const LONGEST_PAUSE_SECONDS = 3_600
const LONGEST_OUTAGE_PAUSE_SECONDS = 30
/** About three days after the first: a vault whose keys were left behind is found out by then. */
const LAST_TRY_WITHOUT_KEY = 80

/**
 * Makes commits ready; of several processes one does, by the lease `relay:prepare`. A commit that fails rests for 2
 * seconds to an hour, or half a minute while a part is away; without its author's key it is refunded after about three
 * days.
 */
export const createPreparer = (options: PreparerOptions): Preparer => {
  const { database, lease, contentStore, custody, log, tracer, stopping } = options
  const pace = createPace()
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
    // A deleted asset's tree is told to nobody any more; its hash still goes onto the chain.
    if (row.deleted || !keyOf(row) || isErased(row)) return
    const cid = await contentStore.putDocument(Buffer.from(row.tree), stopping)
    if (cid !== row.tree_cid)
      throw new Error(`The content store has the tree under ${cid}, the commit says ${row.tree_cid}.`)
  }

  /** Refunds a commit that nobody can sign, unless it was signed and sent before a backup brought the database back. */
  const giveUp = async (row: UnpreparedRow, reason: string) => {
    if (await options.takeFromChain(leaseName, row.commit_id)) return
    log.error({ commit: toId('commit', row.commit_id), reason }, 'Commit failed; refunding it')
    await lease.write(leaseName, failCommit, { commit: row.commit_id, reason })
  }

  /** The account was deleted since the row was read: what was accepted for it was signed or failed with that. */
  const isOvertaken = async (row: UnpreparedRow) => (await database.query(hasKey, { user: row.author_id })).length === 0

  /** What cannot be signed is sought on the chain at each try. Returns whether there is nothing left to do. */
  const settleWithoutKey = async (row: UnpreparedRow, error: LostKeyError): Promise<boolean> => {
    if (await isOvertaken(row)) return true
    if (!error.isForGood && row.attempts < LAST_TRY_WITHOUT_KEY) return options.takeFromChain(leaseName, row.commit_id)
    await giveUp(row, 'the author’s key does not open any more')
    return true
  }

  const putOff = async (row: UnpreparedRow, error: unknown) => {
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

  const makeReady = async (row: UnpreparedRow, tree: Promise<void> | undefined, ready: [string, string][]) => {
    const key = keyOf(row)
    if (!key) return giveUp(row, 'the author’s key no longer exists')
    if (isErased(row)) return giveUp(row, 'the tree was erased before it was signed')
    await tree
    try {
      ready.push([row.commit_id, await pace.turn(() => custody.sign(row.author_id, key, row.tree_sha256))])
    } catch (error) {
      if (!(error instanceof LostKeyError && (await settleWithoutKey(row, error)))) throw error
    }
  }

  /** Returns how many commits it has dealt with. */
  const step = async (): Promise<number> => {
    if (!(await lease.acquire(leaseName))) return 0
    const rows = await database.query(findUnprepared, { limit: BATCH })
    const trees = rows.map((row) => storeTree(row))
    await Promise.allSettled(trees)
    const ready: [string, string][] = []
    for (const [index, row] of rows.entries()) {
      if (stopping.aborted) break
      try {
        await tracer.resume([row.trace], 'relay prepare', {}, () => makeReady(row, trees[index], ready))
      } catch (error) {
        if (!stopping.aborted) await putOff(row, error)
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

  const rest = async (milliseconds: number) => {
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
          if (count === 0) await rest(options.idlePause)
        } catch (error) {
          if (stopping.aborted) break
          reportFailure(failures, error)
          await rest(PAUSE_AFTER_FAILURE_MS)
        }
      }
    },
    wake() {
      isWoken = true
      wakeUp?.()
    },
  }
}

/** The author's key; undefined where it was destroyed with the account. */
function keyOf(row: UnpreparedRow): SealedKey | undefined {
  const { key_version: version, vault_key_id: vaultKeyId, wrapped_data_key, sealed_private_key } = row
  if (version === null || vaultKeyId === null || !wrapped_data_key || !sealed_private_key) return undefined
  return { version, vaultKeyId, wrappedDataKey: wrapped_data_key, sealedPrivateKey: sealed_private_key }
}

/** Whether the tree was erased before it was signed. */
const isErased = ({ tree, tree_sha256 }: UnpreparedRow): boolean =>
  createHash('sha256').update(tree).digest('hex') !== tree_sha256
