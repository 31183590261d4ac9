import { createHash } from 'node:crypto'
import type { RowOf } from '../../db/sql.ts'
import { arrayOf, boolean, bytes, float, int, orNull, smallint, statement, text, uuid } from '../../db/sql.ts'
import type { SealedKey } from '../../keys/key-types.ts'
import { failCommit } from '../../modules/commits/commits.sql.ts'
import { isDatabaseOutage, isFull, isUnavailable, LostKeyError } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { explainError } from '../../shared/operator-errors.ts'
import { createLogDeduper, createPoller, logOnce } from '../poller.ts'
import { pinTreesSql, predecessorSql } from './relay.sql.ts'
import type { RelayOptions, RelayParts } from './relay-parts.ts'

interface CommitSignerOptions
  extends Pick<RelayParts, 'database' | 'lease' | 'log' | 'tracer' | 'cpu'>,
    Pick<RelayOptions, 'contentStore' | 'custody'> {
  stopping: AbortController
  idlePause: number
  /** Marks a commit as included if the chain has it. Returns false if not. Throws if the chain's state is unknown. */
  reconcileFromChain(leaseName: string, commitId: string): Promise<boolean>
  onReady(): void
}

/** The lease ensures that one process prepares commits. */
const leaseName = 'relay:prepare'
const BATCH = 32
/** Number of attempts without the author's key: about three days, so that an operator can restore the key vault. */
const LAST_TRY_WITHOUT_KEY = 80
const messages = { failed: 'Preparation of commits failed; retrying', recovered: 'Preparation of commits recovered' }

/** Creates the commit signer. Retries each commit with backoff of up to 1 hour, or up to 30 seconds in an outage. */
export const createCommitSigner = (options: CommitSignerOptions) => {
  const { database, lease, contentStore, custody, log, tracer, cpu, stopping, idlePause, reconcileFromChain } = options
  const outages = createLogDeduper()

  const storeTree = async (row: UnpreparedRow) => {
    // The tree of a deleted asset must stay private, so it is not stored. Its hash is still written to the chain.
    if (row.deleted || !keyOf(row) || isErased(row)) return
    const cid = await contentStore.putDocument(Buffer.from(row.tree), stopping.signal)
    if (cid !== row.tree_cid)
      throw new Error(`The content store returned the CID ${cid} for a tree, but the commit has ${row.tree_cid}.`)
  }

  /** Refunds a commit that cannot be signed, unless the chain already has the commit, such as after a restore. */
  const refund = async (row: UnpreparedRow, reason: string) => {
    if (await reconcileFromChain(leaseName, row.commit_id)) return
    log.error({ commit: toId('commit', row.commit_id), reason }, 'Commit failed; refunding it')
    await lease.write(leaseName, failCommit, { commit: row.commit_id, reason })
  }

  /** Searches the chain for a commit, and refunds it after the last attempt. Returns true if the commit is settled. */
  const settleWithoutKey = async (row: UnpreparedRow, error: LostKeyError): Promise<boolean> => {
    // If the account was deleted since the row was read, the deletion has signed or failed its commits.
    if ((await database.query(hasKey, { user: row.author_id })).length === 0) return true
    if (!error.isForGood && row.attempts < LAST_TRY_WITHOUT_KEY) return reconcileFromChain(leaseName, row.commit_id)
    await refund(row, 'the key of the author cannot be decrypted')
    return true
  }

  const scheduleRetry = async ({ commit_id: commit, attempts }: UnpreparedRow, error: unknown) => {
    const reason = explainError(error)
    const isOutage = isUnavailable(error) || isFull(error)
    const pauses = { firstPause: 2, longestPause: isOutage ? 30 : 3_600 }
    await lease.write(leaseName, postpone, { commit, lastError: reason, ...pauses })
    if (isDatabaseOutage(error)) return
    if (isOutage) logOnce(log, outages, { message: messages.failed, reason }, messages.recovered)
    else if (attempts === 0) {
      const fields = { err: error, commit: toId('commit', commit) }
      log.error(fields, 'Commit could not be prepared for the chain; retrying ("annal relay" lists it)')
    }
  }

  /** Returns the signature of the tree, or undefined if the commit is settled without a signature. */
  const sign = async (row: UnpreparedRow): Promise<string | undefined> => {
    const key = keyOf(row)
    if (!key) return void (await refund(row, 'the author’s key no longer exists'))
    if (isErased(row)) return void (await refund(row, 'the tree was erased before it was signed'))
    try {
      return await cpu.run(() => custody.sign(row.author_id, key, row.tree_sha256))
    } catch (error) {
      if (error instanceof LostKeyError && (await settleWithoutKey(row, error))) return undefined
      throw error
    }
  }

  const step = async (): Promise<number> => {
    if (!(await lease.acquire(leaseName))) return idlePause
    const rows = await database.query(findUnprepared, { limit: BATCH })
    const trees = rows.map(storeTree)
    await Promise.allSettled(trees)
    const ready = new Map<string, string>()
    for (const [index, row] of rows.entries()) {
      if (stopping.signal.aborted) break
      await tracer
        .resume([row.trace], 'relay prepare', {}, async () => {
          await trees[index]
          const signature = await sign(row)
          if (signature !== undefined) ready.set(row.commit_id, signature)
        })
        .catch((error: unknown) => (stopping.signal.aborted ? undefined : scheduleRetry(row, error)))
    }
    if (ready.size > 0) {
      logOnce(log, outages, undefined, messages.recovered)
      await lease.write(leaseName, storePrepared, { commits: [...ready.keys()], signatures: [...ready.values()] })
      options.onReady()
    }
    return rows.length > 0 ? 0 : idlePause
  }

  return createPoller({ step, stopping, log, messages })
}

function keyOf(row: UnpreparedRow): SealedKey | undefined {
  const { key_version: version, vault_key_id: vaultKeyId, wrapped_data_key, sealed_private_key } = row
  if (version === null || vaultKeyId === null || !wrapped_data_key || !sealed_private_key) return undefined
  return { version, vaultKeyId, wrappedDataKey: wrapped_data_key, sealedPrivateKey: sealed_private_key }
}

const isErased = ({ tree, tree_sha256 }: UnpreparedRow): boolean =>
  createHash('sha256').update(tree).digest('hex') !== tree_sha256

const unpreparedColumns = {
  ...{ commit_id: uuid, deleted: boolean, author_id: uuid, tree: text, tree_cid: text, tree_sha256: text },
  ...{ attempts: int, trace: orNull(text) },
  ...{ key_version: orNull(smallint), vault_key_id: orNull(text) },
  ...{ wrapped_data_key: orNull(bytes), sealed_private_key: orNull(bytes) },
}
type UnpreparedRow = RowOf<typeof unpreparedColumns>

/** Returns commits that are due for preparation. The key columns are null if the author's key does not exist. */
export const findUnprepared = statement(
  'relay_unprepared',
  { parameters: { limit: int }, columns: unpreparedColumns },
  `select c.id as commit_id, a.deleted_at is not null as deleted, c.author_id, c.tree, c.tree_cid, c.tree_sha256, r.attempts, r.trace,
     k.version as key_version, k.vault_key_id, k.wrapped_data_key, k.sealed_private_key
   from commit_relays r
     join commits c on c.id = r.commit_id
     join assets a on a.id = c.asset_id
     left join user_keys k on k.user_id = c.author_id
     ${predecessorSql}
   where r.status = 'PENDING' and r.lane is null and r.tree_signature is null and r.next_attempt_at <= now()
     and (pr.commit_id is null or pr.status <> 'PENDING' or pr.lane is not null or pr.tree_signature is not null)
   order by r.next_attempt_at, r.commit_id
   limit $limit`,
)

const hasKey = statement(
  'relay_has_key',
  { parameters: { user: uuid }, columns: { user_id: uuid } },
  'select user_id from user_keys where user_id = $user',
)

export const storePrepared = statement(
  'relay_store_prepared',
  { parameters: { commits: arrayOf(uuid), signatures: arrayOf(text) } },
  `with prepared_relays as (
     update commit_relays r set tree_signature = item.signature, last_error = null, updated_at = now()
     from unnest($commits, $signatures) as item (commit_id, signature)
     where r.commit_id = item.commit_id and r.status = 'PENDING' and r.lane is null
     returning r.commit_id
   )
   ${pinTreesSql('prepared_relays')}`,
)

/** Schedules a retry of a commit with backoff, in seconds. The asset's later commits are postponed too. */
const postpone = statement(
  'relay_postpone',
  { parameters: { commit: uuid, lastError: text, firstPause: float, longestPause: float } },
  `with postponed_relay as (
     update commit_relays r set attempts = r.attempts + 1, last_error = $lastError, updated_at = now(),
       next_attempt_at = now() + least($firstPause * 2 ^ least(r.attempts, 30), $longestPause) * interval '1 second'
     where r.commit_id = $commit and r.status = 'PENDING' and r.lane is null and r.tree_signature is null
     returning r.commit_id, r.next_attempt_at
   )
   update commit_relays l set next_attempt_at = postponed_relay.next_attempt_at
   from postponed_relay join commits c on c.id = postponed_relay.commit_id
     join commits later on later.asset_id = c.asset_id and later.sequence > c.sequence
   where l.commit_id = later.id and l.status = 'PENDING' and l.lane is null and l.tree_signature is null`,
)
