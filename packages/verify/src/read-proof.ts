/** Reads a proof file. Its blocks are identified by their hashes. */
import { CarBlockIterator } from '@ipld/car/iterator'
import { CID } from 'multiformats/cid'
import { chainHashOf, isBlock, isHashKnown } from './cids.ts'
import { decodeHeader, type Header } from './ethereum.ts'
import type { BlockEvidence, Evidence, MissingBlock } from './evidence.ts'
import { InputError } from './source-error.ts'
import { type Finding, unknown, wrong } from './verification.ts'

/** Content of the first block, in DAG-JSON. A link is `{"/": "<CID>"}`. */
export interface Manifest {
  format: 'annal-proof'
  version: 1
  nid: string
  chainId: number
  registry: string
  /** Header of the block at which the registry's list was read. */
  head: Link
  /** Blocks with commits, oldest first, and the positions of the transactions that contain them. */
  blocks: { header: Link; transactions: number[] }[]
}

/** A link of DAG-JSON. */
export interface Link {
  '/': string
}

/** Multicodec codes of the kinds of blocks (https://github.com/multiformats/multicodec). */
export const CODES = {
  raw: 0x55,
  dagJson: 0x0129,
  header: 0x90,
  transactionNode: 0x92,
  receiptNode: 0x94,
  stateNode: 0x96,
} as const

const isLink = (value: unknown): value is Link => typeof (value as Link | null)?.['/'] === 'string'

/** Parses a manifest. Returns an error sentence if the bytes are not one. */
export function parseManifest(bytes: Uint8Array): Manifest | string {
  let manifest: Manifest
  try {
    manifest = JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return 'The file is not a proof.'
  }
  if (manifest?.format !== 'annal-proof') return 'The file is not a proof.'
  if (typeof manifest.version !== 'number') return 'The proof has no version.'
  if (manifest.version !== 1) return `This verifier does not support version ${manifest.version} of proofs.`
  const { nid, chainId, registry, head, blocks } = manifest
  const isAddress = typeof registry === 'string' && /^0x[0-9a-fA-F]{40}$/.test(registry)
  const isWhole = typeof nid === 'string' && Number.isSafeInteger(chainId) && isAddress
  const areBlocks =
    Array.isArray(blocks) &&
    blocks.every(
      (each) => isLink(each?.header) && Array.isArray(each.transactions) && each.transactions.every(isPosition),
    )
  return isWhole && isLink(head) && areBlocks ? manifest : 'The first block of the proof has an unknown format.'
}

const isPosition = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0

/** The content of a proof. */
export interface Proof {
  evidence: Evidence
  /** Returns the bytes of a tree, or the reason why they are missing. */
  readTree(cid: string): Promise<Uint8Array | Finding>
  /** Headers by hash. */
  headers: ReadonlyMap<string, Header>
  /** CIDs of blocks whose bytes have another hash. */
  damaged: string[]
}

const LARGEST_PROOF_BYTES = 1024 * 1024 * 1024

/** Reads a proof from a CAR. Throws InputError if it is not a proof, or its first block is missing. */
export async function readProof(source: AsyncIterable<Uint8Array>): Promise<Proof> {
  const { roots, chain, documents, damaged } = await readBlocks(source)
  const root = roots[0]?.toString() ?? ''
  const bytes = documents.get(root)
  if (!bytes) throw new InputError(`The first block of the proof is missing, or does not match its CID: ${root}.`)
  const manifest = parseManifest(bytes)
  if (typeof manifest === 'string') throw new InputError(manifest)
  const names = new Set(damaged.map(String))
  return {
    evidence: evidenceOf(manifest, chain, new Set(damaged.flatMap((cid) => chainHashOf(cid) ?? []))),
    readTree: async (cid) =>
      documents.get(cid) ??
      (names.has(cid)
        ? wrong('The tree in the proof does not match its CID.')
        : unknown('The tree is not in the proof.')),
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
    if (error instanceof InputError) throw error
    throw new InputError(`The proof cannot be read: ${reasonOf(error)}.`, { cause: error })
  } finally {
    // Close the file, even if reading stopped early.
    await parts.return(undefined)
  }
}

/** Replaces the library's messages, which do not help the caller. */
const reasonOf = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException
  return code ? (systemReasons[code] ?? message) : 'it is not a CAR file, or it is truncated'
}
const systemReasons: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
}

/** Limits the bytes while they are read, because a block can claim any length. */
async function* bounded(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const part of source) {
    size += part.length
    if (size > LARGEST_PROOF_BYTES) throw new InputError('The proof is larger than 1 GiB, which is the maximum.')
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
    return { number: undefined, reason: `The proof does not contain the header of ${which}: ${block.header['/']}.` }
  })
  const newest = headerOf(head)
  const missing = newest ? undefined : `The proof does not contain the header of its newest block: ${head['/']}.`
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
