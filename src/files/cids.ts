import { createHash } from 'node:crypto'
import * as dagPb from '@ipld/dag-pb'
import { NextToLast } from 'blockstore-fs/sharding'
import { importFile } from 'ipfs-unixfs-importer'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import * as digests from 'multiformats/hashes/digest'
import { sha256 } from 'multiformats/hashes/sha2'
import { parseName } from '../../packages/verify/src/cids.ts'
import { notFound } from '../shared/errors.ts'
import type { Pieces, StoredFile } from './file-types.ts'

/** Parses a CID that a content store can contain: raw or dag-pb with SHA-256. Throws NOT_FOUND for other texts. */
export const parseCid = (text: string): CID => {
  const cid = parseName(text)
  if (cid?.code === raw.code || cid?.code === dagPb.code) return cid
  throw notFound('File')
}

/** Returns the CID and SHA-256 of bytes in one raw block. */
export const identifyDocument = (bytes: Uint8Array) => {
  const hash = createHash('sha256').update(bytes).digest()
  return { cid: CID.createV1(raw.code, digests.create(sha256.code, hash)), sha256: hash.toString('hex') }
}

/** Returns the CIDs that a block links to, in order. A block that is not valid dag-pb has no links. */
export const linksOf = (cid: CID, bytes: Uint8Array): CID[] => {
  if (cid.code !== dagPb.code) return []
  try {
    return dagPb.decode(bytes).Links.map((link) => link.Hash)
  } catch {
    return []
  }
}

/** Computes size and SHA-256 of a stream. Call `result` after the stream has ended. */
export const measure = (source: AsyncIterable<Uint8Array>) => {
  const hash = createHash('sha256')
  let size = 0
  async function* pass() {
    for await (const chunk of source) {
      hash.update(chunk)
      size += chunk.byteLength
      yield chunk
    }
  }
  return { stream: pass(), result: () => ({ sha256: hash.digest('hex'), size }) }
}

const sharding = new NextToLast()

export const blockExtension: string = sharding.extension

/** Returns the path of a block, such as `AQ/BCIQ…AQ.data`. `blockstore-fs` and `blockstore-s3` have the same layout. */
export const blockPath = (cid: CID): string => `${sharding.encode(cid).dir}/${blockName(cid)}`

/** Returns the file name of a block: its multihash in base32. CIDs of all versions and codecs share it. */
export const blockName = (cid: CID): string => sharding.encode(cid).file

/** The DAG layout of `ipfs add --cid-version=1`. Nids depend on it, and the importer's defaults may change. */
const kuboLayout = () => ({
  cidVersion: 1 as const,
  rawLeaves: true,
  reduceSingleLeafToSelf: true,
  chunker: fixedSize({ chunkSize: 262_144 }),
  layout: balanced({ maxChildrenPerNode: 174 }),
  // Maximum number of chunks in memory, and of concurrent writes.
  blockWriteConcurrency: 8,
})

/** Splits a file into blocks and calls `putBlock` with each, up to 8 at the same time. */
export async function importBlocks(
  source: Pieces,
  putBlock: (cid: CID, bytes: Uint8Array) => Promise<void>,
): Promise<StoredFile> {
  const { stream, result } = measure(source)
  const put = (cid: CID, bytes: unknown) => putBlock(cid, bytes as Uint8Array).then(() => cid)
  const { cid } = await importFile({ content: stream }, { put }, kuboLayout())
  return { cid: cid.toString(), ...result() }
}

export const identifyFile = (source: Pieces) => importBlocks(source, async () => {})
