/** Reads a proof file. Blocks are identified by their hashes. */
import { CarBlockIterator } from '@ipld/car/iterator'
import { CID } from 'multiformats/cid'
import { chainHashOf, isBlock, isHashKnown } from './block-name.ts'
import type { BlockEvidence, Evidence, MissingBlock } from './evidence.ts'
import { type Finding, unknown, wrong } from './finding.ts'
import { decodeHeader, type Header } from './header.ts'
import { type Link, type Manifest, parseManifest } from './proof-layout.ts'
import { UnreadableInput } from './source-error.ts'

/** The content of a proof. */
export interface Proof {
  evidence: Evidence
  /** Returns the bytes of a tree, or why there are none. */
  readTree(cid: string): Promise<Uint8Array | Finding>
  /** All headers by their hashes. */
  headers: ReadonlyMap<string, Header>
  /** Identifiers of blocks whose bytes have another hash. */
  damaged: string[]
}

const LARGEST_PROOF_BYTES = 1024 * 1024 * 1024

/** Reads a CAR. Throws UnreadableInput when it is not a proof, or its first block is missing. */
export async function readProof(source: AsyncIterable<Uint8Array>): Promise<Proof> {
  const { roots, chain, documents, damaged } = await readBlocks(source)
  const root = roots[0]?.toString() ?? ''
  const bytes = documents.get(root)
  if (!bytes)
    throw new UnreadableInput(`The file does not hold its first block, or other bytes than its name says: ${root}.`)
  const manifest = parseManifest(bytes)
  if (typeof manifest === 'string') throw new UnreadableInput(manifest)
  const names = new Set(damaged.map(String))
  return {
    evidence: evidenceOf(manifest, chain, new Set(damaged.flatMap((cid) => chainHashOf(cid) ?? []))),
    readTree: async (cid) =>
      documents.get(cid) ??
      (names.has(cid) ? wrong('The proof holds other bytes of the tree.') : unknown('The tree is not in the proof.')),
    headers: headersOf(chain),
    damaged: [...names],
  }
}

async function readBlocks(source: AsyncIterable<Uint8Array>) {
  const chain = new Map<string, Uint8Array>()
  const documents = new Map<string, Uint8Array>()
  const damaged: CID[] = []
  const parts = bounded(source)
  try {
    const car = await CarBlockIterator.fromIterable(parts)
    const roots = await car.getRoots()
    for await (const { cid, bytes } of car) {
      const hash = chainHashOf(cid)
      if (!isHashKnown(cid)) continue
      if (!isBlock(cid, bytes)) damaged.push(cid)
      else if (hash) chain.set(hash, bytes)
      else documents.set(cid.toString(), bytes)
    }
    return { roots, chain, documents, damaged }
  } catch (error) {
    if (error instanceof UnreadableInput) throw error
    throw new UnreadableInput(`The proof cannot be read: ${reasonOf(error)}.`, { cause: error })
  } finally {
    // Closes the file when reading stopped early.
    await parts.return(undefined)
  }
}

/** The library's own messages do not say what the caller can do. */
const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException
  return code ? (systemReasons[code] ?? message) : 'it is not a CAR file, or it is cut off'
}
const systemReasons: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
}

/** Counts the bytes while they are read, because a block may claim any length. */
async function* bounded(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const part of source) {
    size += part.length
    if (size > LARGEST_PROOF_BYTES)
      throw new UnreadableInput('The proof is larger than 1 GiB, which is more than is read.')
    yield part
  }
}

function evidenceOf(
  { nid, chainId, registry, head, blocks }: Manifest,
  chain: ReadonlyMap<string, Uint8Array>,
  damaged: ReadonlySet<string>,
): Evidence {
  const headerOf = (link: Link): Uint8Array | undefined => chain.get(hashOf(link) ?? '')
  const evidence = blocks.map((block, index): BlockEvidence | MissingBlock => {
    const header = headerOf(block.header)
    if (header) return { header, receipts: chain, transactions: chain, positions: block.transactions }
    const which = `the block at position ${index + 1} of its list`
    return { number: undefined, reason: `The proof does not hold the header of ${which}: ${block.header['/']}.` }
  })
  const newest = headerOf(head)
  const missing = newest ? undefined : `The proof does not hold the header of its newest block: ${head['/']}.`
  return { nid, chainId, registry, head: newest, ...(missing && { missing }), damaged, state: chain, blocks: evidence }
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
