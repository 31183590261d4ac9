import { createHash } from 'node:crypto'
import * as dagPb from '@ipld/dag-pb'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import * as digests from 'multiformats/hashes/digest'
import { sha256 } from 'multiformats/hashes/sha2'
import { canonicalCid } from '../../packages/verify/src/cids.ts'
import { notFound, validationFailed } from '../shared/errors.ts'

/**
 * A CID that the store may hold: raw or dag-pb under sha2-256. Raises NOT_FOUND for everything else, because nothing
 * else is ever stored. An identity CID in particular carries its bytes itself and would read as a file that nobody added.
 */
export const parseCid = (text: string): CID => {
  let cid: CID
  try {
    cid = CID.parse(text)
  } catch {
    throw notFound('File')
  }
  const known = cid.multihash.code === sha256.code && (cid.code === raw.code || cid.code === dagPb.code)
  if (!known) throw notFound('File')
  return cid
}

/** Whether a CID is that of a single block of bytes, below which there is nothing. Raises NOT_FOUND. */
export const isLeaf = (text: string): boolean => parseCid(text).code === raw.code

/** Returns the canonical form of a CID. Raises VALIDATION_FAILED if the text is not a CID. */
export const assertCid = (text: string): string => {
  const cid = canonicalCid(text)
  if (cid === undefined) throw validationFailed({ cid: ['Expected a CID, as in bafkrei….'] })
  return cid
}

/** The identity of bytes that fit one raw block. */
export const identifyDocument = (bytes: Uint8Array) => {
  const hash = createHash('sha256').update(bytes).digest()
  return { cid: CID.createV1(raw.code, digests.create(sha256.code, hash)), sha256: hash.toString('hex') }
}

/** The CIDs that a block links to, in order. Only dag-pb blocks link; a block that does not decode links to nothing. */
export const linksOf = (cid: CID, bytes: Uint8Array): CID[] => {
  if (cid.code !== dagPb.code) return []
  try {
    return dagPb.decode(bytes).Links.map((link) => link.Hash)
  } catch {
    return []
  }
}

/** Passes a stream through and measures it on the way. Read the result after the stream has ended. */
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
