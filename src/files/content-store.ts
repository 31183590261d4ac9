import { mkdir } from 'node:fs/promises'
import { isNotFound, storageFailure, unavailable } from '../shared/errors.ts'
import { createBlockDirectory, type PlacedBlock } from './block-directory.ts'
import { createBlockReader } from './block-reader.ts'
import { identifyDocument, importBlocks } from './cids.ts'
import type { ContentStore } from './file-types.ts'
import { createErrorCollector, markPinned } from './garbage-collection.ts'
import { claimStore, type Ownership, ownedBlocks } from './store-owner.ts'

/** Creates the content store in the folder `dir`. Several processes can share it. */
export const createContentStore = (options: Ownership & { dir: string }): ContentStore => {
  const { dir, owner, findFiles, mayBeUnmarked } = options
  const blocks = createBlockDirectory(dir)
  const folder = ownedBlocks(dir)

  /** Returns false if the folder belongs to another installation, or was unmounted or replaced. */
  const isOwn = async () => {
    if (owner === undefined) return true
    const found = await folder.readOwner()
    return found === owner || (found === undefined && mayBeUnmarked === true)
  }
  const assertOwn = async () => {
    const found = await isOwn().catch((error: unknown) => {
      throw unavailable('The file store', error)
    })
    if (!found) throw unavailable('The file store', new Error(`${folder.title} does not belong to this installation.`))
  }

  /** Prepares a write. Creates the folder if the store has no owner. Throws INSUFFICIENT_STORAGE, UNAVAILABLE. */
  const beginWrite = async () => {
    if (owner !== undefined) return assertOwn()
    await mkdir(dir, { recursive: true }).catch((error: unknown) => {
      throw storageFailure(error)
    })
  }

  /** Checks the owner of the folder after a block was not found, because the folder may be unmounted. */
  const explainMiss = async (error: unknown): Promise<never> => {
    if (isNotFound(error)) await assertOwn()
    throw error
  }

  return {
    async importFile(source) {
      await beginWrite()
      const placing: Promise<PlacedBlock>[] = []
      // Usually all blocks of a file exist or none does, so the last block predicts the next one.
      let isNew = false
      const discard = async () => {
        // After an error of one write, other writes may still be running.
        const settled = await Promise.allSettled(placing)
        await blocks.discard(settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])))
      }
      try {
        const file = await importBlocks(source, async (cid, bytes) => {
          const placed = blocks.put(cid, bytes, isNew)
          placing.push(placed)
          isNew = (await placed).writtenAt !== undefined
        })
        await blocks.syncNames(await Promise.all(placing))
        return { ...file, discard }
      } catch (error) {
        await discard()
        throw error
      }
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
      const errors = createErrorCollector(onError)
      // Read the time before reading the pins. Files that are pinned later are imported or renewed after this time.
      const options = { now: Date.now(), grace: graceSeconds * 1_000, cancel, onError: errors.onError }
      // Restore blocks first. Otherwise each collection would move another copy of the same block aside.
      const stuck = await blocks.restore(errors.onError)
      const { reached, before } = await markPinned(blocks, pinned, options)
      const removed = await blocks.sweep((name) => reached.has(name) || stuck.has(name), before, errors.onError, cancel)
      errors.throwFirst()
      return removed
    },

    isReachable: async () => (await isOwn().catch(() => false)) && (await blocks.isWritable()),
  }
}
