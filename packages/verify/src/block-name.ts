/** Content identifiers. The identifier of a block is made from its bytes, so it shows whether given bytes are the block. */
import { createHash } from 'node:crypto'
import { getBytes, keccak256 } from 'ethers'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'

/** The number of SHA2-256 among the hashes of identifiers. */
export const SHA2_256 = 0x12
/** The number of the chain's own hash. */
export const KECCAK_256 = 0x1b

/** The SHA-256 of bytes as 64 lowercase hexadecimal digits. */
export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Reads an identifier; undefined when it is none, or of a hash that is not asked for here. */
export function parseName(text: string): CID | undefined {
  try {
    const cid = CID.parse(text)
    return cid.multihash.code === SHA2_256 ? cid : undefined
  } catch {
    return undefined
  }
}

/** Returns whether a hash function is known here. */
export const isHashKnown = (cid: CID): boolean => hashers[cid.multihash.code] !== undefined

/** Returns whether the bytes are the block with this identifier. Returns false when the hash function is not known. */
export function isBlock(cid: CID, bytes: Uint8Array): boolean {
  const hash = hashers[cid.multihash.code]?.(bytes)
  return hash !== undefined && Buffer.from(hash).equals(cid.multihash.digest)
}

const hashers: Record<number, ((bytes: Uint8Array) => Uint8Array) | undefined> = {
  [SHA2_256]: (bytes) => createHash('sha256').update(bytes).digest(),
  [KECCAK_256]: (bytes) => getBytes(keccak256(bytes)),
}

/** A block of the chain with its name: `code` says what kind it is, and the hash is the one that the chain has. */
export const chainBlock = (code: number, bytes: Uint8Array): { cid: CID; bytes: Uint8Array } => ({
  cid: CID.createV1(code, create(KECCAK_256, getBytes(keccak256(bytes)))),
  bytes,
})

/** The hash of a block of the chain, 64 hexadecimal digits; undefined for blocks of files. */
export const chainHashOf = (cid: CID): string | undefined =>
  cid.multihash.code === KECCAK_256 ? Buffer.from(cid.multihash.digest).toString('hex') : undefined
