import { createHash } from 'node:crypto'
import { exporter } from 'ipfs-unixfs-exporter'
import { importFile } from 'ipfs-unixfs-importer'
import type { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'
import { DomainError, notFound } from '../domain/errors.ts'
import type { ContentStore, OnError } from '../domain/ports.ts'
import { type BlockDirectory, blockName, createBlockDirectory, type PlacedBlock } from './block-directory.ts'
import { carOf, namesBelow } from './car.ts'
import { identifyDocument, linksOf, measure, parseCid } from './cids.ts'
import { identifyFile, kuboLayout } from './file-layout.ts'
import { tellOrRaise } from './tell-or-raise.ts'

/** The exporter reads on while its consumer is slow. Asked for so many bytes at a time, it stays flat. */
const READ_WINDOW_BYTES = 4 * 1024 * 1024

/** The content store on this machine's disk, under `dir`. Several processes may share it. */
export const createContentStore = ({ dir }: { dir: string }): ContentStore => {
  const blocks = createBlockDirectory(dir)

  return {
    async importFile(source) {
      const placing: Promise<PlacedBlock>[] = []
      const { stream, result } = measure(source)
      const put = async (cid: CID, bytes: unknown) => {
        const placed = blocks.put(cid, bytes as Uint8Array)
        placing.push(placed)
        await placed
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

    async *read(cid, range) {
      const file = await openFile(blocks, parseCid(cid))
      const start = Math.min(range?.offset ?? 0, file.size)
      const end = Math.min(range === undefined ? file.size : start + range.length, file.size)
      for (let offset = start; offset < end; ) {
        // Windows end on multiples of their length, so that no chunk lies in two of them.
        const length = Math.min(READ_WINDOW_BYTES - (offset % READ_WINDOW_BYTES), end - offset)
        yield* file.content({ offset, length })
        offset += length
      }
    },

    async size(cid) {
      const parsed = parseCid(cid)
      return parsed.code === raw.code ? blocks.length(parsed) : (await openFile(blocks, parsed)).size
    },

    async readBlock(cid) {
      return blocks.get(parseCid(cid))
    },

    async isWhole(cid) {
      const seen = new Set<string>()
      const stack = [parseCid(cid)]
      for (let next = stack.pop(); next; next = stack.pop()) {
        const name = blockName(next)
        if (seen.has(name)) continue
        seen.add(name)
        // Leaves are not read.
        const links =
          next.code === raw.code
            ? await ifThere(blocks.length(next)).then((length) => (length === undefined ? undefined : []))
            : await ifThere(blocks.get(next)).then((bytes) => bytes && linksOf(next!, bytes))
        if (!links) return false
        stack.push(...links)
      }
      return true
    },

    async *exportCar(cid, selection) {
      yield* carOf(parseCid(cid), blocks.get, selection)
    },

    async *blocksBelow(cid) {
      for await (const below of namesBelow(parseCid(cid), blocks.get)) yield below.toString()
    },

    async collectGarbage(pinned, graceSeconds, { cancel, onError } = {}) {
      const grace = graceSeconds * 1000
      const told = tellOrRaise(onError)
      // Taken before the pins are read: what is pinned later was imported or renewed later.
      let before = Date.now() - grace
      // Otherwise each collection would lay one more of them aside.
      const stuck = await blocks.restore(told.onError)
      const kept = new Set<string>()
      for await (const cid of pinned) {
        cancel?.throwIfAborted()
        for (const unread of await mark(blocks, cid, kept, told.onError))
          before = Math.min(before, (await oldestBelow(blocks, unread)) - grace)
      }
      const removed = await blocks.sweep((name) => kept.has(name) || stuck.has(name), before, told.onError, cancel)
      told.end()
      return removed
    },

    isReachable: () => blocks.isWritable(),
  }
}

/** Raises NOT_FOUND for what is missing and for a DAG that is not a file. */
const openFile = async (blocks: BlockDirectory, cid: CID) => {
  const storage = {
    async *get(key: CID) {
      yield await blocks.get(key)
    },
  }
  const entry = await exporter(cid, storage).catch((error) => {
    throw error instanceof DomainError ? error : notFound('File')
  })
  if (entry.type === 'raw') return { size: Number(entry.size), content: entry.content }
  if (entry.type === 'file') return { size: Number(entry.unixfs.fileSize()), content: entry.content }
  throw notFound('File')
}

/** Undefined for a block that is missing. */
const ifThere = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: unknown) => {
    if (error instanceof DomainError && error.code === 'NOT_FOUND') return undefined
    throw error
  })

/** The links of a block. Raises when its bytes are not those that its name promises: they would tell of others, or of none. */
const readLinks = (cid: CID, bytes: Uint8Array): CID[] => {
  const isSha256 = cid.multihash.code === sha256.code
  if (isSha256 && !createHash('sha256').update(bytes).digest().equals(cid.multihash.digest))
    throw new Error('The block is damaged.')
  return linksOf(cid, bytes)
}

/**
 * Adds the names of all blocks of a DAG. A missing block has nothing below it to keep; leaves are not read. Returns those that are
 * there and cannot be read.
 */
const mark = async (blocks: BlockDirectory, root: string, kept: Set<string>, onError: OnError): Promise<CID[]> => {
  const unread: CID[] = []
  const stack = parsed(root, onError)
  for (let cid = stack.pop(); cid; cid = stack.pop()) {
    const name = blockName(cid)
    if (kept.has(name)) continue
    kept.add(name)
    if (cid.code === raw.code) continue
    try {
      const bytes = await ifThere(blocks.get(cid))
      if (bytes) stack.push(...readLinks(cid, bytes))
    } catch (error) {
      onError(blocks.nameOf(cid), error)
      unread.push(cid)
    }
  }
  return unread
}

const parsed = (root: string, onError: OnError): CID[] => {
  try {
    return [parseCid(root)]
  } catch (error) {
    onError(root, error)
    return []
  }
}

/**
 * What hangs on a block that cannot be read is not known, but the import that wrote or renewed it last had renewed all of that
 * within the grace before. So nothing that was touched since is removed until the block is mended or gone. Milliseconds.
 */
const oldestBelow = async (blocks: BlockDirectory, cid: CID): Promise<number> =>
  (await blocks.changedAt(cid).catch(() => undefined)) ?? Number.NEGATIVE_INFINITY
