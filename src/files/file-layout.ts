import { importFile } from 'ipfs-unixfs-importer'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import type { CID } from 'multiformats/cid'
import { measure } from './cids.ts'
import type { ContentStore } from './file-types.ts'

/**
 * What `ipfs add --cid-version=1` does: 256 KiB chunks, a balanced tree with 174 children, raw leaves, and a file of
 * one chunk is that leaf. Spelled out, because an asset's nid hangs on it and the importer's defaults may change.
 */
export const kuboLayout = () => ({
  cidVersion: 1 as const,
  rawLeaves: true,
  reduceSingleLeafToSelf: true,
  chunker: fixedSize({ chunkSize: 262_144 }),
  layout: balanced({ maxChildrenPerNode: 174 }),
  // Chunks in memory at a time, and writes that may wait for the disk together.
  blockWriteConcurrency: 8,
})

/** Forms the blocks of a file and forgets them: their names are all that is wanted. */
export const identifyFile: ContentStore['identifyFile'] = async (source) => {
  const { stream, result } = measure(source)
  const put = async (cid: CID, bytes: unknown) => {
    source.giveBack?.(bytes as Uint8Array)
    return cid
  }
  const { cid } = await importFile({ content: stream }, { put }, kuboLayout())
  return { cid: cid.toString(), ...result() }
}
