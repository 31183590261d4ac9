/** The layout of a proof: a CAR whose root says what it is, and whose other blocks are those of the chain and of the file network. */

/** What the first block says, as DAG-JSON. A link is `{"/": "<CID>"}`. */
export interface Manifest {
  format: 'annal-proof'
  version: 1
  nid: string
  chainId: number
  registry: string
  /** Header of the block as of which the registry's list was read. */
  head: Link
  /** The blocks that hold commits, oldest first, and the positions of the transactions that do. */
  blocks: { header: Link; transactions: number[] }[]
}

/** A link of DAG-JSON. */
export interface Link {
  '/': string
}

/** Numbers of the kinds of blocks (https://github.com/multiformats/multicodec). */
export const CODES = {
  raw: 0x55,
  dagJson: 0x0129,
  header: 0x90,
  transactionNode: 0x92,
  receiptNode: 0x94,
  stateNode: 0x96,
} as const

const isLink = (value: unknown): value is Link => typeof (value as Link | null)?.['/'] === 'string'

/** Reads a manifest. Returns a sentence when the bytes are not one. */
export function parseManifest(bytes: Uint8Array): Manifest | string {
  let manifest: Manifest
  try {
    manifest = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return 'The file begins with something else than a proof.'
  }
  if (manifest?.format !== 'annal-proof') return 'The file begins with something else than a proof.'
  if (typeof manifest.version !== 'number') return 'The proof does not say its version.'
  if (manifest.version !== 1) return `The proof is of version ${manifest.version}, which this verifier does not know.`
  const { nid, chainId, registry, head, blocks } = manifest
  const isAddress = typeof registry === 'string' && /^0x[0-9a-fA-F]{40}$/.test(registry)
  const isWhole = typeof nid === 'string' && Number.isSafeInteger(chainId) && isAddress
  const areBlocks =
    Array.isArray(blocks) &&
    blocks.every(
      (each) => isLink(each?.header) && Array.isArray(each.transactions) && each.transactions.every(isPosition),
    )
  return isWhole && isLink(head) && areBlocks ? manifest : 'The first block of the proof is not in the known layout.'
}

const isPosition = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
