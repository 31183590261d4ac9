/** Reads a proof file. What it holds is known by its hashes; what has another hash than it says is not there. */
import { CarBlockIterator } from '@ipld/car/iterator'
import { CID } from 'multiformats/cid'
import { chainHashOf, isBlock } from './block-name.ts'
import type { BlockEvidence, Evidence } from './evidence.ts'
import { decodeHeader, type Header } from './header.ts'
import { type Link, type Manifest, parseManifest } from './proof-layout.ts'
import { SourceError } from './source-error.ts'

/** A proof that was read. */
export interface Proof {
  evidence: Evidence
  /** Bytes of a tree, if the proof holds it. */
  readTree(cid: string): Promise<Uint8Array | undefined>
  /** All headers by their hashes. */
  headers: ReadonlyMap<string, Header>
  /** Names of blocks whose bytes are others. */
  damaged: string[]
}

const LARGEST_PROOF_BYTES = 1024 * 1024 * 1024

/** Reads a CAR. Raises SourceError when it is no proof, or holds not even what it begins with. */
export async function readProof(source: AsyncIterable<Uint8Array>): Promise<Proof> {
  const { roots, chain, documents, damaged } = await readBlocks(source)
  const root = roots[0]?.toString() ?? ''
  const bytes = documents.get(root)
  if (!bytes || damaged.includes(root))
    throw new SourceError(`The file does not hold its first block, or other bytes than its name says: ${root}.`)
  const manifest = parseManifest(bytes)
  if (typeof manifest === 'string') throw new SourceError(manifest)
  return {
    evidence: evidenceOf(manifest, chain),
    readTree: async (cid) => documents.get(cid),
    headers: headersOf(chain),
    damaged,
  }
}

async function readBlocks(source: AsyncIterable<Uint8Array>) {
  const chain = new Map<string, Uint8Array>()
  const documents = new Map<string, Uint8Array>()
  const damaged: string[] = []
  try {
    const car = await CarBlockIterator.fromIterable(bounded(source))
    const roots = await car.getRoots()
    for await (const { cid, bytes } of car) {
      const hash = chainHashOf(cid)
      const isWhole = isBlock(cid, bytes)
      if (!isWhole) damaged.push(cid.toString())
      // Trees are told from others where they are judged; what a hash of the chain leads to has that hash.
      if (!hash) documents.set(cid.toString(), bytes)
      else if (isWhole) chain.set(hash, bytes)
    }
    return { roots, chain, documents, damaged }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SourceError(`The file is no CAR, or breaks off: ${reason}`, { cause: error })
  }
}

/** Counted as it comes: a block may claim any length. */
async function* bounded(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const part of source) {
    size += part.length
    if (size > LARGEST_PROOF_BYTES) throw new Error('It is too large.')
    yield part
  }
}

function evidenceOf(
  { nid, chainId, registry, head, blocks }: Manifest,
  chain: ReadonlyMap<string, Uint8Array>,
): Evidence {
  const header = (link: Link, what: string): Uint8Array => {
    const hash = hashOf(link)
    const bytes = hash === undefined ? undefined : chain.get(hash)
    if (!bytes) throw new SourceError(`The proof does not hold the header of ${what}: ${link['/']}.`)
    return bytes
  }
  const evidence = blocks.map(
    (block, index): BlockEvidence => ({
      header: header(block.header, `the block that is number ${index + 1} in its list`),
      receipts: chain,
      transactions: chain,
      positions: block.transactions,
    }),
  )
  return { nid, chainId, registry, head: header(head, 'its newest block'), state: chain, blocks: evidence }
}

function hashOf(link: Link): string | undefined {
  try {
    return chainHashOf(CID.parse(link['/']))
  } catch {
    return undefined
  }
}

function headersOf(chain: ReadonlyMap<string, Uint8Array>): Map<string, Header> {
  const headers = [...chain.values()].flatMap((bytes) => decodeHeader(bytes) ?? [])
  return new Map(headers.map((header) => [header.hash, header]))
}
