import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { CID } from 'multiformats/cid'
import { forEachConcurrent } from '../shared/async.ts'
import { unavailable } from '../shared/errors.ts'
import type { OnError } from '../shared/log.ts'
import { createBlockReader, isNamedBy } from './block-reader.ts'
import { identifyDocument, importBlocks, blockPath as keyOf } from './cids.ts'
import type { ContentStore } from './file-types.ts'
import { createErrorCollector, type DatedBlocks, markPinned } from './garbage-collection.ts'
import { createS3Bucket, type ListedObject, type S3Bucket, type S3BucketOptions, trialKey } from './s3-bucket.ts'
import { claimStore, type Ownership, ownedBucket, WrongStoreError } from './store-owner.ts'

export interface S3ContentStoreOptions extends S3BucketOptions, Ownership {
  /** Minimum age of garbage, in seconds. */
  graceSeconds: number
  /** Waiting time until deletion URLs of other processes have expired, in milliseconds. Default: 10,000. */
  settleMs?: number
}

const PROBE_MS = 2_000
/** Matches keys of blocks, but not those below a prefix of another user. */
const blockKey = /^[A-Z2-7]{2}\/[A-Z2-7]+\.data$/

/**
 * Creates the content store in an S3 bucket. Several processes can share it. It has the layout of `blockstore-s3`,
 * whose tools can read it. `blockstore-s3` itself hides the kind of an error, treats 403 as "missing", and has no ages
 * and no checksums.
 *
 * S3-compatible storages have no common conditional delete that detects a rewrite of the same bytes. So a collection
 * deletes an old block with a presigned link that expires seconds after its last check, by the storage's clock. A lock
 * object in the bucket lets one collection delete at a time. A writer that renews a block during a recent collection
 * waits until all links have expired, then checks the block again.
 */
export const createS3ContentStore = (options: S3ContentStoreOptions): ContentStore => {
  const { graceSeconds: ownGrace, settleMs = 10_000, owner, findFiles, mayBeUnmarked = false } = options
  const bucket = createS3Bucket(options)
  const claim = () => claimStore(ownedBucket(bucket), owner!, findFiles)
  /** Returns true if the bucket belongs to this installation. Claims a bucket without an owner. */
  const isOwn = async () => {
    const found = await ownedBucket(bucket, PROBE_MS).readOwner()
    if (found === undefined) await claim()
    return found === undefined || found === owner
  }
  // The storage may have been unavailable when the process started.
  let isClaimed = owner === undefined || mayBeUnmarked
  const assertOwn = async () => {
    if (isClaimed) return
    await claim().catch((error: unknown) => {
      throw error instanceof WrongStoreError ? unavailable('The file store', error) : error
    })
    isClaimed = true
  }
  const blocks: DatedBlocks = {
    // A proxy may return an error page instead of the block.
    get: (cid) => bucket.get(keyOf(cid), { isValid: (bytes) => isNamedBy(cid, bytes) }),
    length: (cid) => bucket.length(keyOf(cid)),
    nameOf: keyOf,
    changedAt: async (cid) => (await bucket.stat(keyOf(cid)))?.changedAt,
  }
  /** Maximum age (ms) of blocks that need no renewal: a registration takes at most half of the grace period. */
  const youngMs = ownGrace * 250

  const createPlacing = (cancel?: AbortSignal) => {
    const renewed: string[] = []
    let firstRenewal = Number.POSITIVE_INFINITY
    return {
      async put(cid: CID, bytes: Uint8Array) {
        const key = keyOf(cid)
        const found = await bucket.stat(key, cancel)
        if (found?.length === bytes.byteLength && found.now - found.changedAt < youngMs) return
        const sha256 = Buffer.from(cid.multihash.digest).toString('base64')
        const at = await bucket.put(key, bytes, { sha256, cancel })
        if (!found) return
        renewed.push(key)
        firstRenewal = Math.min(firstRenewal, at)
      },
      /** Waits until deletion URLs have expired. Throws UNAVAILABLE if a collection deleted a renewed block. */
      async settle() {
        if (renewed.length === 0) return
        const lock = await bucket.stat(LOCK_KEY, cancel)
        if (!lock || lock.changedAt < firstRenewal - LOCK_MS) return
        await pause(settleMs, undefined, { signal: cancel })
        await forEachConcurrent(renewed, CONCURRENCY, async (key) => {
          const cause = new Error('Garbage collection deleted a block that an import had renewed.')
          if (!(await bucket.stat(key, cancel))) throw unavailable('The file store', cause)
        })
      },
    }
  }

  return {
    async importFile(source) {
      await assertOwn()
      const placing = createPlacing()
      const file = await importBlocks(source, placing.put)
      await placing.settle()
      // Other imports may use the blocks by now, so only garbage collection deletes the blocks.
      return { ...file, discard: async () => {} }
    },

    async putDocument(bytes, cancel) {
      await assertOwn()
      const { cid } = identifyDocument(bytes)
      const placing = createPlacing(cancel)
      await placing.put(cid, bytes)
      await placing.settle()
      return cid.toString()
    },

    ...createBlockReader(blocks),

    async collectGarbage(pinned, graceSeconds, { cancel, onError } = {}) {
      if (owner !== undefined) await claim()
      const errors = createErrorCollector(onError)
      // Read the time before reading the pins. Files that are pinned later are imported or renewed after this time.
      const now = await bucket.readClock()
      const marking = { now, grace: graceSeconds * 1_000, cancel, onError: errors.onError }
      const { reached, before } = await markPinned(blocks, pinned, marking)
      const isGarbage = ({ key, changedAt }: ListedObject) =>
        changedAt < before &&
        (trialKey.test(key) || (blockKey.test(key) && !reached.has(key.slice(key.indexOf('/') + 1))))
      const sweep = { isGarbage, before, settleMs, cancel, onError: errors.onError }
      const removed = await deleteGarbage(bucket, sweep)
      errors.throwFirst()
      return removed
    },

    isReachable: () => (owner === undefined ? bucket.readClock(PROBE_MS).then(() => true) : isOwn()).catch(() => false),
  }
}

/** Key of the lock object, its content while no collection deletes, and the lifetime of the lock in milliseconds. */
const [LOCK_KEY, FREE, LOCK_MS] = ['collection', 'free', 120_000]
/** Maximum delay from the check of the lock to a deletion, in milliseconds. */
const MAX_DELAY_MS = 3_000
const CONCURRENCY = 16

interface S3Sweep {
  isGarbage(object: ListedObject): boolean
  /** Objects that changed after this time are not deleted. Milliseconds of the storage's clock. */
  before: number
  settleMs: number
  cancel: AbortSignal | undefined
  onError: OnError
}

const createDeletionLock = (bucket: S3Bucket, { settleMs, cancel }: S3Sweep) => {
  const own = randomUUID()
  let writtenAt: number | undefined
  const write = (text: string) => bucket.put(LOCK_KEY, Buffer.from(text), { cancel })
  const read = async () => Buffer.from(await bucket.get(LOCK_KEY)).toString()
  const settle = () => pause(settleMs, undefined, { signal: cancel })

  return {
    /** Acquires or renews the lock. Returns the storage's time, or undefined if another process holds the lock. */
    async acquire(): Promise<number | undefined> {
      if (writtenAt === undefined) {
        const found = await bucket.stat(LOCK_KEY, cancel)
        if (found && found.now - found.changedAt < LOCK_MS && (await read()) !== FREE) return undefined
        writtenAt = await write(own)
        await settle()
      }
      const now = await bucket.readClock(undefined, cancel)
      if ((await read()) !== own) return undefined
      if (now - writtenAt > LOCK_MS / 4) {
        writtenAt = await write(own)
        // A long delay means that the process was suspended. Another collection may have held the lock meanwhile.
        if (writtenAt - now > MAX_DELAY_MS) await settle()
      }
      return now
    },

    /** Releases the lock. Ignores errors: the lock expires. */
    async release(): Promise<void> {
      if (writtenAt === undefined) return
      const text = await read().catch(() => undefined)
      if (text === own) await write(FREE).catch(() => undefined)
    },
  }
}

const deleteGarbage = async (bucket: S3Bucket, sweep: S3Sweep): Promise<number> => {
  const { before, cancel, onError, isGarbage } = sweep
  const lock = createDeletionLock(bucket, sweep)
  let removed = 0

  const removeOld = async (key: string, lockedAt: number) => {
    const seen = await bucket.stat(key, cancel)
    if (!seen || seen.changedAt >= before || seen.now - lockedAt > MAX_DELAY_MS) return
    if (await bucket.removeChecked(key, seen, cancel)) removed += 1
  }

  try {
    for await (const page of bucket.list(cancel)) {
      const old = page.filter(isGarbage)
      for (let at = 0; at < old.length; at += CONCURRENCY) {
        const lockedAt = await lock.acquire()
        if (lockedAt === undefined) return removed
        await forEachConcurrent(old.slice(at, at + CONCURRENCY), CONCURRENCY, async ({ key }) => {
          cancel?.throwIfAborted()
          await removeOld(key, lockedAt).catch(async (error: unknown) => {
            cancel?.throwIfAborted()
            await bucket.readClock()
            onError(key, error)
          })
        })
      }
    }
    return removed
  } finally {
    await lock.release()
  }
}
