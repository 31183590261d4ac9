import { createHash } from 'node:crypto'
import { exporter } from 'ipfs-unixfs-exporter'
import type { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'
import { DomainError, notFound } from '../shared/errors.ts'
import type { OnError } from '../shared/log.ts'
import { blockName } from './block-name.ts'
import { carOf, namesBelow } from './car.ts'
import { linksOf, parseCid } from './cids.ts'
import type { NameSet } from './compact-hash-set.ts'
import type { ContentStore } from './file-types.ts'

/** Where blocks lie by their CIDs. */
export interface BlockSource {
  /** Raises NOT_FOUND, UNAVAILABLE. */
  get(cid: CID): Promise<Uint8Array>
  /** Bytes of one block. Raises NOT_FOUND, UNAVAILABLE. */
  length(cid: CID): Promise<number>
}

/** The exporter reads on while its consumer is slow. Asked for so many bytes at a time, it stays flat. */
const READ_WINDOW_BYTES = 4 * 1024 * 1024
/** Blocks that are looked at together. */
const LOOKS_AT_ONCE = 16

/** The part of a content store that reads, over blocks that can be had one by one. */
export const createBlockReader = (
  blocks: BlockSource,
): Pick<ContentStore, 'read' | 'size' | 'readBlock' | 'isWhole' | 'exportCar' | 'blocksBelow'> => ({
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
    while (stack.length > 0) {
      const next = stack.splice(-LOOKS_AT_ONCE).filter((each) => !seen.has(blockName(each)))
      for (const each of next) seen.add(blockName(each))
      for (const links of await Promise.all(next.map((each) => linksIfThere(blocks, each)))) {
        if (!links) return false
        for (const link of links) stack.push(link)
      }
    }
    return true
  },

  async *exportCar(cid, selection) {
    yield* carOf(parseCid(cid), blocks.get, selection)
  },

  async *blocksBelow(cid) {
    for await (const below of namesBelow(parseCid(cid), blocks.get)) yield below.toString()
  },
})

/** Raises NOT_FOUND for what is missing and for a DAG that is not a file. */
const openFile = async (blocks: BlockSource, cid: CID) => {
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

/** What a block links to; undefined when it is missing. Leaves are not read. */
const linksIfThere = async (blocks: BlockSource, cid: CID): Promise<CID[] | undefined> => {
  if (cid.code === raw.code) return (await ifThere(blocks.length(cid))) === undefined ? undefined : []
  const bytes = await ifThere(blocks.get(cid))
  return bytes && linksOf(cid, bytes)
}

/** Whether bytes are those that the name of a block promises; of hashes that are not SHA-256 it is believed. */
export const isNamedBy = (cid: CID, bytes: Uint8Array): boolean =>
  cid.multihash.code !== sha256.code || createHash('sha256').update(bytes).digest().equals(cid.multihash.digest)

/** The links of a block. Raises when its bytes are not those that its name promises: they would tell of others, or of none. */
const readLinks = (cid: CID, bytes: Uint8Array): CID[] => {
  if (!isNamedBy(cid, bytes)) throw new Error('The block is damaged.')
  return linksOf(cid, bytes)
}

/**
 * Adds the names of all blocks of a DAG. A missing block has nothing below it to keep; leaves are not read. Returns those that are
 * there and cannot be read; `onError` is told of them.
 */
export const markBelow = async (
  blocks: BlockSource,
  root: string,
  kept: NameSet,
  onError: (cid: CID | string, error: unknown) => void,
): Promise<CID[]> => {
  const unread: CID[] = []
  const stack = parsed(root, onError)
  for (let cid = stack.pop(); cid; cid = stack.pop()) {
    const name = blockName(cid)
    if (kept.has(name)) continue
    kept.add(name)
    if (cid.code === raw.code) continue
    try {
      const bytes = await ifThere(blocks.get(cid))
      for (const link of bytes ? readLinks(cid, bytes) : []) stack.push(link)
    } catch (error) {
      onError(cid, error)
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
