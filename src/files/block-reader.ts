import { createHash } from 'node:crypto'
import { CarWriter } from '@ipld/car/writer'
import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import { exporter } from 'ipfs-unixfs-exporter'
import type { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { identity } from 'multiformats/hashes/identity'
import { sha256 } from 'multiformats/hashes/sha2'
import { undefinedIf } from '../shared/async.ts'
import { DomainError, isNotFound, notFound } from '../shared/errors.ts'
import { blockName, identifyDocument, identifyFile, linksOf, parseCid } from './cids.ts'
import type { CarSelection, ContentStore } from './file-types.ts'

/** Blocks and their sizes in bytes. The functions throw NOT_FOUND, UNAVAILABLE. */
export interface BlockSource {
  get(cid: CID): Promise<Uint8Array>
  length(cid: CID): Promise<number>
}

/** Bytes read at a time. The exporter reads ahead of a slow consumer, so windows limit its memory. */
const READ_WINDOW_BYTES = 4 * 1024 * 1024
const CHECK_CONCURRENCY = 16

export const createBlockReader = (
  blocks: BlockSource,
): Omit<ContentStore, 'importFile' | 'putDocument' | 'collectGarbage' | 'isReachable'> => ({
  identify(bytes) {
    const { cid, sha256 } = identifyDocument(bytes)
    return { cid: cid.toString(), sha256 }
  },

  identifyFile,

  async *read(cid, range) {
    const file = await openFile(blocks, parseCid(cid))
    const start = Math.min(range?.offset ?? 0, file.size)
    const end = Math.min(range === undefined ? file.size : start + range.length, file.size)
    for (let offset = start; offset < end; ) {
      // Windows end at multiples of their size, so that no chunk is read twice.
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
      const next = stack.splice(-CHECK_CONCURRENCY).filter((each) => !seen.has(blockName(each)))
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
    for await (const below of cidsBelow(parseCid(cid), blocks.get)) yield below.toString()
  },
})

/** Opens a file by its CID. Throws NOT_FOUND if blocks are missing or the DAG is not a file. */
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

/** Resolves to undefined if `reading` rejects with NOT_FOUND. */
export const ifThere = <T>(reading: Promise<T>): Promise<T | undefined> => reading.catch(undefinedIf(isNotFound))

/** Returns the links of a block, or undefined if it is missing. Does not read leaves. */
const linksIfThere = async (blocks: BlockSource, cid: CID): Promise<CID[] | undefined> => {
  if (cid.code === raw.code) return (await ifThere(blocks.length(cid))) === undefined ? undefined : []
  const bytes = await ifThere(blocks.get(cid))
  return bytes && linksOf(cid, bytes)
}

/** Returns true if bytes match a CID. Returns true without a check if the hash is not SHA-256. */
export const isNamedBy = (cid: CID, bytes: Uint8Array): boolean =>
  cid.multihash.code !== sha256.code || createHash('sha256').update(bytes).digest().equals(cid.multihash.digest)

type ReadBlock = (cid: CID) => Promise<Uint8Array>

/** A block of a DAG. `offset`: position of its content in the file, which is correct only if a range is selected. */
type Step = { cid: CID; offset: number }

/** Yields the selected blocks of a DAG, depth first. */
export async function* walk(
  root: CID,
  read: ReadBlock,
  { scope, range, duplicates }: CarSelection = { scope: 'all', duplicates: false },
) {
  const sent = new Set<string>()
  const stack: Step[] = [{ cid: root, offset: 0 }]
  for (let step = stack.pop(); step; step = stack.pop()) {
    const { cid } = step
    const isSent = sent.has(cid.toString())
    // The descendants of a sent block were sent too. With a range, a repeated block may select other descendants.
    if (isSent && (!range || cid.code !== dagPb.code)) continue
    // An identity CID contains its bytes.
    if (cid.multihash.code === identity.code) continue
    const bytes = await read(cid)
    if (!isSent) yield { cid, bytes }
    if (!duplicates) sent.add(cid.toString())
    if (scope === 'block') return
    for (const child of childrenOf(step, bytes, range).reverse()) stack.push(child)
  }
}

/** Returns the blocks that a block links to, in order. With a range, returns only blocks that overlap the range. */
const childrenOf = ({ cid, offset }: Step, bytes: Uint8Array, range: CarSelection['range']): Step[] => {
  const links = linksOf(cid, bytes)
  const sizes = range && sizesOf(cid, bytes)
  if (!range || sizes?.children.length !== links.length) return links.map((link) => ({ cid: link, offset }))
  let start = offset + sizes.own
  const found: Step[] = []
  for (const [index, link] of links.entries()) {
    const end = start + sizes.children[index]!
    if (start < range.offset + range.length && end > range.offset) found.push({ cid: link, offset: start })
    start = end
  }
  return found
}

/** Returns the number of file bytes in a block and below each link. Undefined if the block does not state them. */
const sizesOf = (cid: CID, bytes: Uint8Array) => {
  if (cid.code !== dagPb.code) return undefined
  try {
    const { data, blockSizes } = UnixFS.unmarshal(dagPb.decode(bytes).Data ?? new Uint8Array())
    return { own: data?.length ?? 0, children: blockSizes.map(Number) }
  } catch {
    return undefined
  }
}

/** Yields a DAG as a CARv1 stream, depth first. Throws before the first byte if the root block is missing. */
export async function* carOf(root: CID, read: ReadBlock, selection?: CarSelection): AsyncGenerator<Uint8Array> {
  const blocks = walk(root, read, selection)
  const first = await blocks.next()
  const { writer, out } = CarWriter.create([root])
  const write = async () => {
    if (!first.done) await writer.put(first.value)
    for await (const block of blocks) await writer.put(block)
  }
  // `put` settles when its bytes were read from `out`, so writing and reading run concurrently.
  const writing = write().finally(() => writer.close())
  // `writing` is awaited after `out` has ended. This handler prevents an unhandled rejection until then.
  writing.catch(() => undefined)
  yield* out
  await writing
}

/** Yields the CIDs below a block at every depth, each once. Does not read leaves. */
export async function* cidsBelow(root: CID, read: ReadBlock): AsyncGenerator<CID> {
  const seen = new Set([root.toString()])
  const stack = [root]
  for (let cid = stack.pop(); cid; cid = stack.pop()) {
    if (cid.code !== dagPb.code) continue
    for (const link of linksOf(cid, await read(cid))) {
      if (seen.has(link.toString())) continue
      seen.add(link.toString())
      yield link
      stack.push(link)
    }
  }
}
