import { mkdir } from 'node:fs/promises'
import { importFile } from 'ipfs-unixfs-importer'
import type { CID } from 'multiformats/cid'
import { DomainError, storageFailure, unavailable } from '../shared/errors.ts'
import { type BlockDirectory, createBlockDirectory, type PlacedBlock } from './block-directory.ts'
import { createBlockReader, markBelow } from './block-reader.ts'
import { ownedBlocks } from './blocks-owner.ts'
import { identifyDocument, measure } from './cids.ts'
import { createNameSet } from './compact-hash-set.ts'
import { tellOrRaise } from './error-collector.ts'
import { identifyFile, kuboLayout } from './file-layout.ts'
import type { ContentStore } from './file-types.ts'
import { claimStore, type FindFiles } from './store-owner.ts'

/** The folder of the blocks, and the installation that owns them. */
export interface ContentStoreOptions {
  dir: string
  /** Identity of this installation. Without it, the folder is used whoever it belongs to. */
  owner?: string | undefined
  findFiles?: FindFiles | undefined
  /** True when a folder that nobody owns yet is used as it is. */
  mayBeUnmarked?: boolean
}

/** The content store on this machine's disk, under `dir`. Several processes may share it. */
export const createContentStore = ({
  dir,
  owner,
  findFiles = async () => [],
  mayBeUnmarked = false,
}: ContentStoreOptions): ContentStore => {
  const blocks = createBlockDirectory(dir)
  const folder = ownedBlocks(dir)

  /** Returns whether the folder is still that of this installation. It is not when it was unmounted or exchanged. */
  const isOwn = async () => {
    if (owner === undefined) return true
    const found = await folder.readOwner()
    return found === owner || (found === undefined && mayBeUnmarked)
  }
  /** Raises UNAVAILABLE. */
  const assertOwn = async () => {
    if (owner === undefined) return
    const found = await isOwn().catch((error: unknown) => {
      throw unavailable('The file store', error)
    })
    if (!found) throw unavailable('The file store', new Error(`${folder.title} is not the one of this installation.`))
  }

  /** Prepares a write. Creates the folder only for a store without an owner. Raises INSUFFICIENT_STORAGE, UNAVAILABLE. */
  const beginWrite = async () => {
    await assertOwn()
    if (owner !== undefined) return
    await mkdir(dir, { recursive: true }).catch((error: unknown) => {
      throw storageFailure(error)
    })
  }

  /** A block that is missing from the wrong folder may be in the right one. */
  const explainMiss = async (error: unknown): Promise<never> => {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') await assertOwn()
    throw error
  }

  return {
    async importFile(source) {
      await beginWrite()
      const placing: Promise<PlacedBlock>[] = []
      const { stream, result } = measure(source)
      // A file is there or not, mostly: what was found of the block before is expected of the next one.
      let isNew = false
      const put = async (cid: CID, bytes: unknown) => {
        const placed = blocks.put(cid, bytes as Uint8Array, isNew)
        placing.push(placed)
        isNew = (await placed).writtenAt !== undefined
        source.giveBack?.(bytes as Uint8Array)
        return cid
      }
      const discard = async () => {
        // Several are under way at a time, also when one of them has failed.
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
      const told = tellOrRaise(onError)
      // Taken before the pins are read: what is pinned later was imported or renewed later.
      let before = Date.now() - grace
      // Otherwise each collection would lay one more of them aside.
      const stuck = await blocks.restore(told.onError)
      const kept = createNameSet()
      const tellOf = (block: CID | string, error: unknown) =>
        told.onError(typeof block === 'string' ? block : blocks.nameOf(block), error)
      for await (const cid of pinned) {
        cancel?.throwIfAborted()
        for (const unread of await markBelow(blocks, cid, kept, tellOf))
          before = Math.min(before, (await oldestBelow(blocks, unread)) - grace)
      }
      const removed = await blocks.sweep((name) => kept.has(name) || stuck.has(name), before, told.onError, cancel)
      told.end()
      return removed
    },

    isReachable: async () => (await isOwn().catch(() => false)) && (await blocks.isWritable()),
  }
}

/**
 * What hangs on a block that cannot be read is not known, but the import that wrote or renewed it last had renewed all of that
 * within the grace before. So nothing that was touched since is removed until the block is mended or gone. Milliseconds.
 */
const oldestBelow = async (blocks: BlockDirectory, cid: CID): Promise<number> =>
  (await blocks.changedAt(cid).catch(() => undefined)) ?? Number.NEGATIVE_INFINITY
