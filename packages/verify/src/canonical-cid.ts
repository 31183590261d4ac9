/** Reads a content identifier in every form in which people and programs write it. */
import { bases } from 'multiformats/basics'
import { CID } from 'multiformats/cid'

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
