import { mkdir } from 'node:fs/promises'
import { importFile } from 'ipfs-unixfs-importer'
import type { CID } from 'multiformats/cid'
import { DomainError, storageFailure, unavailable } from '../shared/errors.ts'
import { type BlockDirectory, createBlockDirectory, type PlacedBlock } from './block-directory.ts'
import { createBlockReader } from './block-reader.ts'
import { identifyDocument, identifyFile, kuboLayout, measure } from './cids.ts'
import type { ContentStore } from './file-types.ts'
import { createCompactHashSet, createErrorCollector, markReachable } from './garbage-collection.ts'
import { claimStore, type FindFiles, ownedBlocks } from './store-owner.ts'

/** The folder of the blocks, and the installation that owns them. */
export interface ContentStoreOptions {
  dir: string
  /** ID of this installation. Without it, the owner of the folder is not checked. */
  owner?: string | undefined
  findFiles?: FindFiles | undefined
  /** True if a folder without an owner is used unclaimed. */
  mayBeUnmarked?: boolean
}

/** Creates the content store in a folder. Several processes can share it. */
export const createContentStore = ({
  dir,
  owner,
  findFiles = async () => [],
  mayBeUnmarked = false,
}: ContentStoreOptions): ContentStore => {
  const blocks = createBlockDirectory(dir)
  const folder = ownedBlocks(dir)

  /** Returns true if the folder belongs to this installation. It does not if it was unmounted or replaced. */
  const isOwn = async () => {
    if (owner === undefined) return true
    const found = await folder.readOwner()
    return found === owner || (found === undefined && mayBeUnmarked)
  }
  /** Throws UNAVAILABLE if the folder belongs to another installation. */
  const assertOwn = async () => {
    if (owner === undefined) return
    const found = await isOwn().catch((error: unknown) => {
      throw unavailable('The file store', error)
    })
    if (!found) throw unavailable('The file store', new Error(`${folder.title} is not the one of this installation.`))
  }

  /** Prepares a write. Creates the folder only for a store without an owner. Throws INSUFFICIENT_STORAGE, UNAVAILABLE. */
  const beginWrite = async () => {
    await assertOwn()
    if (owner !== undefined) return
    await mkdir(dir, { recursive: true }).catch((error: unknown) => {
      throw storageFailure(error)
    })
  }

  /** Checks the owner after a miss: the block may be in the folder that was unmounted. */
  const explainMiss = async (error: unknown): Promise<never> => {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') await assertOwn()
    throw error
  }

  return {
    async importFile(source) {
      await beginWrite()
      const placing: Promise<PlacedBlock>[] = []
      const { stream, result } = measure(source)
      // Usually all blocks of a file exist or none does, so the last block predicts the next one.
      let isNew = false
      const put = async (cid: CID, bytes: unknown) => {
        const placed = blocks.put(cid, bytes as Uint8Array, isNew)
        placing.push(placed)
        isNew = (await placed).writtenAt !== undefined
        source.release?.(bytes as Uint8Array)
        return cid
      }
      const discard = async () => {
        // After an error, other writes may still be running.
        const settled = await Promise.allSettled(placing)
        await blocks.discard(settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])))
      }
      try {
        const { cid } = await importFile({ content: stream }, { put }, kuboLayout())
        await blocks.syncNames(await Promise.all(placing))
        return { cid: cid.toString(), ...result(), discard }
      } catch (error) {
        await discard()
        throw error
      }
    },

    identifyFile,

    identify(bytes) {
      const { cid, sha256 } = identifyDocument(bytes)
      return { cid: cid.toString(), sha256 }
    },

    async putDocument(bytes) {
      await beginWrite()
      const { cid } = identifyDocument(bytes)
      await blocks.syncNames([await blocks.put(cid, bytes)])
      return cid.toString()
    },

    ...createBlockReader({
      get: (cid) => blocks.get(cid).catch(explainMiss),
      length: (cid) => blocks.length(cid).catch(explainMiss),
    }),

    async collectGarbage(pinned, graceSeconds, { cancel, onError } = {}) {
      if (owner !== undefined) await claimStore(folder, owner, findFiles)
      const grace = graceSeconds * 1000
      const errors = createErrorCollector(onError)
      // Read the time before the pins: files that are pinned later are imported or renewed later.
      let before = Date.now() - grace
      // Restore blocks first. Otherwise each collection would move another copy of them.
      const stuck = await blocks.restore(errors.onError)
      const kept = createCompactHashSet()
      const onBlockError = (block: CID | string, error: unknown) =>
        errors.onError(typeof block === 'string' ? block : blocks.nameOf(block), error)
      for await (const cid of pinned) {
        cancel?.throwIfAborted()
        for (const unread of await markReachable(blocks, cid, kept, onBlockError))
          before = Math.min(before, (await oldestBelow(blocks, unread)) - grace)
      }
      const removed = await blocks.sweep((name) => kept.has(name) || stuck.has(name), before, errors.onError, cancel)
      errors.throwFirst()
      return removed
    },

    isReachable: async () => (await isOwn().catch(() => false)) && (await blocks.isWritable()),
  }
}

/**
 * Returns when an unreadable block was last renewed, in milliseconds. Its descendants are unknown, but the same import renewed them within the grace
 * period before. So nothing that was renewed since then is deleted until the block is repaired or gone.
 */
const oldestBelow = async (blocks: BlockDirectory, cid: CID): Promise<number> =>
  (await blocks.changedAt(cid).catch(() => undefined)) ?? Number.NEGATIVE_INFINITY
