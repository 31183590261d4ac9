/** Writes a proof file with all data for a verdict. */
import { createHash } from 'node:crypto'
import { CarWriter } from '@ipld/car/writer'
import { getBytes, toQuantity } from 'ethers'
import { CID } from 'multiformats/cid'
import { create } from 'multiformats/hashes/digest'
import { type ChainNode, readable, resultOf } from './chain-node.ts'
import { chainBlock, isBlock, KECCAK_256, parseName, SHA2_256 } from './cids.ts'
import { collect } from './collect.ts'
import { parseCommitData } from './commit-data.ts'
import { type BlockReply, decodeHeader, decodeLogs, encodeHeader, type Header, readCommit } from './ethereum.ts'
import { type BlockEvidence, type Evidence, readList } from './evidence.ts'
import { CODES, type Link, type Manifest } from './read-proof.ts'
import { NothingCommitted, SourceError } from './source-error.ts'
import { type Nodes, openTrie, positionKey } from './trie.ts'

/** The asset of a proof, and the sources of its data. */
export interface ProofSources {
  nid: string
  node: ChainNode
  /** Address of the ERC-7053 contract. */
  registry: string
  /** Returns the bytes of a tree. Undefined if it is missing or not public. Throws SourceError. */
  readTree(cid: string): Promise<Uint8Array | undefined>
}

interface Block {
  cid: CID
  bytes: Uint8Array
}

/** Maximum size in bytes of other receipts in the same blocks. They prove that no commit of the asset is missing. */
const MOST_FOREIGN_BYTES = 64 * 1024 * 1024
/** Maximum number of headers between the blocks, about 600 bytes each. With them, one trusted hash is enough for all blocks. */
const MOST_LINKING_HEADERS = 2_000
const HEADERS_AT_ONCE = 20

/**
 * Streams a proof as a CAR. Throws SourceError before the first byte if the node does not answer or the chain has no commit of the asset.
 * Throws it later if the chain changes. An aborted stream is not a valid proof.
 */
export async function* writeProof(sources: ProofSources): AsyncGenerator<Uint8Array> {
  const { nid, node, registry } = sources
  const evidence = await collect({ node, registry, nid })
  const { chainId, missing } = evidence
  if (missing !== undefined) throw new SourceError(missing)
  if (chainId === undefined) throw new SourceError(`The node ${node.name} does not report its chain ID.`)
  const head = headerOf(evidence.head)
  const blocks: Manifest['blocks'] = []
  for await (const { header, positions } of wholeBlocks(evidence)) {
    blocks.push({ header: linkTo(headerOf(header)), transactions: [...positions] })
  }
  if (!blocks.length) throw new NothingCommitted(`The chain has no commit of ${nid}.`)
  const manifest: Manifest = { format: 'annal-proof', version: 1, nid, chainId, registry, head: linkTo(head), blocks }
  yield* carOf(nameDocument(manifest), listBlocks(sources, evidence, manifest))
}

/** Yields the blocks. Throws SourceError if a block is missing, or its receipts do not match it. */
async function* wholeBlocks({ blocks }: Evidence): AsyncGenerator<BlockEvidence> {
  for await (const block of blocks) {
    if ('reason' in block) throw new SourceError(block.reason)
    if (block.contradicts?.receipts) throw new SourceError('The node sent receipts that do not match their block.')
    yield block
  }
}

const headerOf = (bytes: Uint8Array | undefined): Header => {
  const header = bytes && decodeHeader(bytes)
  if (!header) throw new SourceError('The node sent an unreadable header.')
  return header
}

const linkTo = ({ hash }: Header): Link => ({
  '/': CID.createV1(CODES.header, create(KECCAK_256, getBytes(hash))).toString(),
})

function nameDocument(manifest: Manifest): Block {
  const bytes = Buffer.from(JSON.stringify(manifest))
  return { bytes, cid: CID.createV1(CODES.dagJson, create(SHA2_256, createHash('sha256').update(bytes).digest())) }
}

async function* carOf(root: Block, blocks: AsyncIterable<Block>): AsyncGenerator<Uint8Array> {
  const { writer, out } = CarWriter.create([root.cid])
  // `put` resolves only after its bytes were read from `out`, so writing runs concurrently with the reading below.
  const writing = (async () => {
    const written = new Set<string>()
    try {
      await writer.put(root)
      for await (const block of blocks) {
        if (written.has(block.cid.toString())) continue
        written.add(block.cid.toString())
        await writer.put(block)
      }
    } finally {
      await writer.close()
    }
  })()
  // This promise is awaited after `out` has ended. Until then its rejection must not count as unhandled.
  writing.catch(() => undefined)
  yield* out
  await writing
}

/**
 * Yields the blocks of a proof in the order in which a reader needs them: the newest block with the registry's list, each block with its
 * commits, and the headers between them.
 */
async function* listBlocks(sources: ProofSources, evidence: Evidence, manifest: Manifest): AsyncGenerator<Block> {
  const head = headerOf(evidence.head)
  yield chainBlock(CODES.header, evidence.head!)
  const state = recording(evidence.state)
  await readList(head, { ...evidence, state })
  for (const bytes of state.read.values()) yield chainBlock(CODES.stateNode, bytes)
  const headers: Header[] = []
  let foreignBytes = 0
  for await (const block of wholeBlocks(evidence)) {
    const header = headerOf(block.header)
    if (linkTo(header)['/'] !== manifest.blocks[headers.length]?.header['/']) {
      throw new SourceError('The chain changed while the proof was written. Try again.')
    }
    headers.push(header)
    yield chainBlock(CODES.header, block.header)
    const receipts = await pickReceipts(header, block, foreignBytes < MOST_FOREIGN_BYTES)
    foreignBytes += receipts.foreignBytes
    for (const bytes of receipts.nodes) yield chainBlock(CODES.receiptNode, bytes)
    for (const bytes of await pickTransactions(header, block)) yield chainBlock(CODES.transactionNode, bytes)
    for (const cid of treesOf(receipts.own, evidence)) {
      const bytes = await sources.readTree(cid.toString())
      // The source may return other bytes, such as an error page.
      if (bytes && isBlock(cid, bytes)) yield { cid, bytes }
    }
  }
  yield* linkHeaders(sources.node, [...headers, head])
}

/** Wraps nodes and records which of them were read. */
function recording(nodes: Nodes): Nodes & { read: Map<string, Uint8Array> } {
  const read = new Map<string, Uint8Array>()
  return {
    read,
    get(hash) {
      const bytes = nodes.get(hash)
      if (bytes) read.set(hash, bytes)
      return bytes
    },
  }
}

/** Returns the receipts with commits. Adds all others if there is room, to prove that no commit is missing. */
async function pickReceipts({ receiptsRoot }: Header, { receipts, positions }: BlockEvidence, isRoom: boolean) {
  const nodes = recording(receipts)
  const table = await openTrie(receiptsRoot, nodes)
  const own: Uint8Array[] = []
  for (const position of positions) {
    const bytes = await table.get(positionKey(position))
    if (bytes) own.push(bytes)
  }
  const before = sizeOf(nodes.read)
  if (isRoom) for (let position = 0; await table.get(positionKey(position)); ) position += 1
  return { nodes: nodes.read.values(), own, foreignBytes: sizeOf(nodes.read) - before }
}

const sizeOf = (nodes: ReadonlyMap<string, Uint8Array>) =>
  [...nodes.values()].reduce((size, bytes) => size + bytes.length, 0)

async function pickTransactions({ transactionsRoot }: Header, { transactions, positions }: BlockEvidence) {
  if (!transactions) return []
  const nodes = recording(transactions)
  const table = await openTrie(transactionsRoot, nodes)
  for (const position of positions) await table.get(positionKey(position))
  return nodes.read.values()
}

/** Returns the CIDs of the trees in these receipts' commits. */
const treesOf = (receipts: readonly Uint8Array[], { registry, nid }: Evidence): CID[] =>
  receipts
    .flatMap((bytes) => decodeLogs(bytes) ?? [])
    .flatMap((log) => parseCommitData(readCommit(log, registry, nid)?.text ?? '') ?? [])
    .flatMap(({ assetTreeCid }) => parseName(assetTreeCid) ?? [])

/** Yields the headers between the blocks, newest gap first, up to the maximum. Each header proves the previous one by its parent hash. */
async function* linkHeaders(node: ChainNode, headers: readonly Header[]): AsyncGenerator<Block> {
  let room = MOST_LINKING_HEADERS
  for (const [index, older] of [...headers.entries()].toReversed()) {
    const newer = headers[index + 1]
    if (!newer) continue
    const gap = newer.number - older.number - 1
    if (gap > room) return
    room -= Math.max(gap, 0)
    for (let from = older.number + 1; from < newer.number; from += HEADERS_AT_ONCE) {
      const numbers = Array.from({ length: Math.min(HEADERS_AT_ONCE, newer.number - from) }, (_, at) => from + at)
      const responses = await node.request(
        numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] })),
      )
      for (const [index, response] of responses.entries()) {
        const what = `the header of block ${numbers[index]}`
        const reply = resultOf<BlockReply>(node, response, what)
        yield chainBlock(
          CODES.header,
          readable(node, what, () => encodeHeader(reply)),
        )
      }
    }
  }
}
