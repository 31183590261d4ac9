/** Content identifiers. The identifier of a block is made from its bytes, so it shows whether given bytes are the block. */
import { createHash } from 'node:crypto'
import { getBytes, keccak256 } from 'ethers'
import { bases } from 'multiformats/basics'
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

/** Maximum characters of a text that names an identifier, such as a URL. */
const LONGEST_TEXT = 2_048
/** Maximum characters of an identifier. The CID of a file has 289 in base 2, the longest base. Some bases take quadratic time. */
const LONGEST_CID = 300
/** The prefixes of bases that do not distinguish upper and lower case. */
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

/** Returns the only segment behind `ipfs`, or undefined. */
function behindIpfs(segments: readonly string[]): string | undefined {
  return segments.at(-2)?.toLowerCase() === 'ipfs' ? segments.at(-1) : undefined
}

/** Returns the CID that a URL names: `ipfs://<cid>`, `dweb:/ipfs/<cid>`, or the URL of a path gateway or a subdomain gateway. */
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
  // A base may contain slashes.
  const plain = decode(trimmed)
  if (plain !== undefined) return plain
  const named = SCHEME.test(trimmed) ? fromUrl(trimmed) : behindIpfs(segmentsOf(trimmed.split(/[?#]/, 1)[0]!))
  return named === undefined ? undefined : decode(named)
}
