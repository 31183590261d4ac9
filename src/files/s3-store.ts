import { setTimeout as pause } from 'node:timers/promises'
import { importFile } from 'ipfs-unixfs-importer'
import type { CID } from 'multiformats/cid'
import { unavailable } from '../shared/errors.ts'
import { blockPlace } from './block-name.ts'
import { type BlockSource, createBlockReader, isNamedBy, markBelow } from './block-reader.ts'
import { identifyDocument, measure } from './cids.ts'
import { createNameSet } from './compact-hash-set.ts'
import { tellOrRaise } from './error-collector.ts'
import { identifyFile, kuboLayout } from './file-layout.ts'
import type { ContentStore } from './file-types.ts'
import { eachOf } from './limit-concurrency.ts'
import { createS3Bucket, type S3BucketOptions, trialKey } from './s3-bucket.ts'
import { claimBucket, ownedBucket } from './s3-owner.ts'
import { AT_ONCE, sweepBucket, TURN_KEY, TURN_MS } from './s3-sweep.ts'
import { type FindFiles, WrongStoreError } from './store-owner.ts'

/** How the content store in a bucket is made. */
export interface S3ContentStoreOptions extends S3BucketOptions {
  /** Seconds that blocks may lie before they count as garbage. */
  graceSeconds: number
  /** Milliseconds that are waited until no removal of another process is on its way any more; 10,000 when missing. */
  settling?: number
  /** What tells this installation from others: in the bucket of another one nothing is removed. Nobody is asked when it is missing. */
  owner?: string | undefined
  findFiles?: FindFiles | undefined
  /** True when a bucket that nobody owns yet is written to as it is. */
  mayBeUnmarked?: boolean
}

/** How often a storage is asked for a block of which it gives other bytes. */
const MOST_READS = 3
/** Milliseconds. */
const PROBE_MS = 2_000

const keyOf = (cid: CID) => {
  const { dir, file } = blockPlace(cid)
  return `${dir}/${file}`
}
/** Keys of blocks, and none that lie below the prefix of somebody else. */
const ofBlock = /^[A-Z2-7]{2}\/[A-Z2-7]+\.data$/
const nameOf = (key: string) => key.slice(key.indexOf('/') + 1)
/**
 * The content store in an S3 bucket, in the layout of `blockstore-s3`, so that its tools can read it. Several processes can share it.
 * `blockstore-s3` itself is not used: it hides the kind of an error, reads 403 as "missing", and has no ages and no checksums.
 *
 * S3-compatible storages share no conditional delete that detects a rewrite of the same bytes. So a collection deletes an old block
 * with a presigned link that expires seconds after its last check, by the storage's clock. One collection at a time deletes, and
 * says so in the bucket. A writer that finds an old block and a recent collection waits until all links have expired, then checks
 * the block again.
 */
export const createS3ContentStore = ({
  graceSeconds: ownGrace,
  settling = 10_000,
  owner,
  findFiles,
  mayBeUnmarked = false,
  ...options
}: S3ContentStoreOptions): ContentStore => {
  const bucket = createS3Bucket(options)
  /** Returns whether the bucket is that of this installation. Claims one that nobody owns yet: the storage was away at the start. */
  const isOwn = async () => {
    const found = await ownedBucket(bucket, PROBE_MS).readOwner()
    if (found === undefined) await claimBucket(bucket, owner!, findFiles)
    return found === undefined || found === owner
  }
  /** Bytes that are not those of the name, such as a page of a proxy on the way, are never anybody's file. */
  const read = async (cid: CID) => {
    for (let reads = 0; reads < MOST_READS; reads += 1) {
      const bytes = await bucket.get(keyOf(cid))
      if (isNamedBy(cid, bytes)) return bytes
    }
    throw unavailable('The file store', new Error(`S3 gives other bytes than the name of the block ${cid} says.`))
  }
  let isClaimed = owner === undefined || mayBeUnmarked
  /** Claims the bucket before the first write, where the storage was away at the start. Raises UNAVAILABLE. */
  const assertOwn = async () => {
    if (isClaimed) return
    await claimBucket(bucket, owner!, findFiles).catch((error: unknown) => {
      throw error instanceof WrongStoreError ? unavailable('The file store', error) : error
    })
    isClaimed = true
  }
  const blocks: BlockSource = { get: read, length: (cid) => bucket.length(keyOf(cid)) }
  /** What is younger is no garbage until long after whoever counts on it has registered, which takes half of the grace at most. */
  const youngMs = ownGrace * 250

  /** Places the blocks of one file. */
  const createPlacing = (cancel?: AbortSignal) => {
    const renewed: string[] = []
    let firstRenewal = Number.POSITIVE_INFINITY
    return {
      async put(cid: CID, bytes: Uint8Array) {
        const key = keyOf(cid)
        const found = await bucket.look(key, cancel)
        const isWhole = found?.length === bytes.byteLength
        if (found && isWhole && found.now - found.changedAt < youngMs) return
        const sha256 = Buffer.from(cid.multihash.digest).toString('base64')
        const at = await bucket.put(key, bytes, { sha256, cancel })
        if (!found) return
        renewed.push(key)
        firstRenewal = Math.min(firstRenewal, at)
      },
      /** Raises UNAVAILABLE when a collection took one of them. */
      async settle() {
        if (renewed.length === 0) return
        const turn = await bucket.look(TURN_KEY, cancel)
        if (!turn || turn.changedAt < firstRenewal - TURN_MS) return
        await pause(settling, undefined, { signal: cancel })
        await eachOf(renewed, AT_ONCE, async (key) => {
          if (await bucket.look(key, cancel)) return
          throw unavailable('The file store', new Error('A collection took a block that was just renewed.'))
        })
      },
    }
  }

  return {
    async importFile(source) {
      await assertOwn()
      const { stream, result } = measure(source)
      const placing = createPlacing()
      const put = async (cid: CID, bytes: unknown) => {
        await placing.put(cid, bytes as Uint8Array)
        return cid
      }
      const { cid } = await importFile({ content: stream }, { put }, kuboLayout())
      await placing.settle()
      // Somebody else may count on its blocks by now, and the bucket cannot tell: garbage collection will.
      return { cid: cid.toString(), ...result(), discard: async () => {} }
    },

    identifyFile,

    identify(bytes) {
      const { cid, sha256 } = identifyDocument(bytes)
      return { cid: cid.toString(), sha256 }
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
      if (owner !== undefined) await claimBucket(bucket, owner, findFiles)
      const grace = graceSeconds * 1_000
      const told = tellOrRaise(onError)
      // Taken before the pins are read: what is pinned later was imported or renewed later.
      let before = (await bucket.readClock()) - grace
      const kept = createNameSet()
      const tellOf = (block: CID | string, error: unknown) =>
        told.onError(typeof block === 'string' ? block : keyOf(block), error)
      await eachOf(pinned, AT_ONCE, async (root) => {
        cancel?.throwIfAborted()
        for (const unread of await markBelow(blocks, root, kept, tellOf)) {
          // As on a disk: what hangs on it was renewed within the grace before.
          const seen = await bucket.look(keyOf(unread)).catch(() => undefined)
          before = Math.min(before, (seen?.changedAt ?? Number.NEGATIVE_INFINITY) - grace)
        }
      })
      const removed = await sweepBucket(bucket, {
        isGarbage: ({ key, changedAt }) =>
          changedAt < before && (trialKey.test(key) || (ofBlock.test(key) && !kept.has(nameOf(key)))),
        ...{ before, settling, cancel, onError: told.onError },
      })
      told.end()
      return removed
    },

    isReachable: () => (owner === undefined ? bucket.readClock(PROBE_MS).then(() => true) : isOwn()).catch(() => false),
  }
}
