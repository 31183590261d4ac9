/** Content identifiers (CIDs). A CID contains the hash of a block, so it proves whether given bytes are that block. */
import { createHash } from 'node:crypto'
import { getBytes, keccak256 } from 'ethers'
import { bases } from 'multiformats/basics'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'

/** Multihash code of SHA2-256. */
export const SHA2_256 = 0x12
/** Multihash code of Keccak-256, the hash function of the chain. */
export const KECCAK_256 = 0x1b

/** Returns the SHA-256 as 64 lowercase hex digits. */
export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Parses a CID with SHA2-256. Returns undefined if the text is not one. */
export function parseName(text: string): CID | undefined {
  try {
    const cid = CID.parse(text)
    return cid.multihash.code === SHA2_256 ? cid : undefined
  } catch {
    return undefined
  }
}

/** Returns true if the hash function of the CID is supported. */
export const isHashKnown = (cid: CID): boolean => hashers[cid.multihash.code] !== undefined

/** Returns true if the bytes are the block of this CID. Returns false if its hash function is not supported. */
export function isBlock(cid: CID, bytes: Uint8Array): boolean {
  const hash = hashers[cid.multihash.code]?.(bytes)
  return hash !== undefined && Buffer.from(hash).equals(cid.multihash.digest)
}

const hashers: Record<number, ((bytes: Uint8Array) => Uint8Array) | undefined> = {
  [SHA2_256]: (bytes) => createHash('sha256').update(bytes).digest(),
  [KECCAK_256]: (bytes) => getBytes(keccak256(bytes)),
}

/** Returns a piece of chain data with its CID. `code` is its multicodec, and the CID contains the hash that the chain uses. */
export const chainBlock = (code: number, bytes: Uint8Array): { cid: CID; bytes: Uint8Array } => ({
  cid: CID.createV1(code, create(KECCAK_256, getBytes(keccak256(bytes)))),
  bytes,
})

/** Returns the Keccak-256 hash of a CID, 64 hex digits. Returns undefined for other hash functions. */
export const chainHashOf = (cid: CID): string | undefined =>
  cid.multihash.code === KECCAK_256 ? Buffer.from(cid.multihash.digest).toString('hex') : undefined

/** Maximum length in characters of a text that contains a CID, such as a URL. */
const LONGEST_TEXT = 2_048
/** Maximum length of a CID in characters. Decoding takes quadratic time in some bases. A CID in base 2, the longest form, has 289. */
const LONGEST_CID = 300
/** Multibase prefixes of bases that ignore case. */
const CASE_INSENSITIVE = /^[bcfhktv]/i
const SCHEME = /^[a-z][a-z\d+.-]*:/i

/** Returns the CID in version 1 and base 32, or undefined if the text is not a CID. */
function decode(text: string): string | undefined {
  if (text.length > LONGEST_CID) return undefined
  const written = CASE_INSENSITIVE.test(text) ? text.toLowerCase() : text
  const base = Object.values(bases).find(({ prefix }) => written.startsWith(prefix))
  try {
    const cid = base ? CID.decode(base.decode(written)) : CID.parse(written)
    return CID.createV1(cid.code, cid.multihash).toString()
  } catch {
    return undefined
  }
}

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '')

/** Returns the segment after `ipfs` if it is the last one. */
function behindIpfs(segments: readonly string[]): string | undefined {
  return segments.at(-2)?.toLowerCase() === 'ipfs' ? segments.at(-1) : undefined
}

/** Returns the CID in a URL: `ipfs://<cid>`, `dweb:/ipfs/<cid>`, or a path gateway or subdomain gateway. */
function fromUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, pathname } = new URL(text)
  const segments = segmentsOf(pathname)
  if (protocol === 'ipfs:') return behindIpfs(['ipfs', ...segmentsOf(hostname), ...segments])
  if (protocol === 'dweb:') return behindIpfs(segments)
  if (protocol !== 'http:' && protocol !== 'https:') return undefined
  const [label, kind] = hostname.split('.')
  return kind === 'ipfs' && segments.length === 0 ? label : behindIpfs(segments)
}

/**
 * Returns a CID in its canonical form: version 1 in base 32. Accepts every multibase, version 0, `ipfs://<cid>`, `/ipfs/<cid>` and URLs of gateways.
 * Returns undefined for anything else, such as a path below a CID.
 */
export function canonicalCid(text: string): string | undefined {
  if (text.length > LONGEST_TEXT) return undefined
  const trimmed = text.trim()
  // Try this first, because some bases contain slashes.
  const plain = decode(trimmed)
  if (plain !== undefined) return plain
  const named = SCHEME.test(trimmed) ? fromUrl(trimmed) : behindIpfs(segmentsOf(trimmed.split(/[?#]/, 1)[0]!))
  return named === undefined ? undefined : decode(named)
}
