import { importFile } from 'ipfs-unixfs-importer'
import type { CID } from 'multiformats/cid'
import type { ContentStore } from '../domain/ports/files.ts'
import { type BlockDirectory, createBlockDirectory, type PlacedBlock } from './block-directory.ts'
import { createBlockReader, markBelow } from './block-reader.ts'
import { identifyDocument, measure } from './cids.ts'
import { identifyFile, kuboLayout } from './file-layout.ts'
import { createNameSet } from './name-set.ts'
import { tellOrRaise } from './tell-or-raise.ts'

/** The content store on this machine's disk, under `dir`. Several processes may share it. */
export const createContentStore = ({ dir }: { dir: string }): ContentStore => {
  const blocks = createBlockDirectory(dir)

  return {
    async importFile(source) {
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
      const { cid } = identifyDocument(bytes)
      await blocks.syncNames([await blocks.put(cid, bytes)])
      return cid.toString()
    },

    ...createBlockReader(blocks),

    async collectGarbage(pinned, graceSeconds, { cancel, onError } = {}) {
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

    isReachable: () => blocks.isWritable(),
  }
}

/**
 * What hangs on a block that cannot be read is not known, but the import that wrote or renewed it last had renewed all of that
 * within the grace before. So nothing that was touched since is removed until the block is mended or gone. Milliseconds.
 */
const oldestBelow = async (blocks: BlockDirectory, cid: CID): Promise<number> =>
  (await blocks.changedAt(cid).catch(() => undefined)) ?? Number.NEGATIVE_INFINITY
