/** Collects the evidence of an asset's history from a chain node. Does not check it. */
import { setTimeout as delay } from 'node:timers/promises'
import { getBytes, Interface, keccak256, toQuantity } from 'ethers'
import {
  type ChainNode,
  type RpcRequest,
  type RpcResponse,
  readable,
  requestEach,
  resultOf,
  unreadable,
} from './chain-node.ts'
import {
  type BlockReply,
  decodeHeader,
  encodeHeader,
  encodeReceipt,
  encodeTransaction,
  type Header,
  type ReceiptReply,
  readCommit,
  type TransactionReply,
} from './ethereum.ts'
import { type BlockEvidence, type Evidence, entrySlot, lengthSlot, type MissingBlock } from './evidence.ts'
import { reasonOfSource, SourceError } from './source-error.ts'
import { buildTrie } from './trie.ts'

/** Options for collecting evidence. */
export interface CollectOptions {
  node: ChainNode
  /** Address of the ERC-7053 contract. */
  registry: string
  nid: string
}

const registryCalls = new Interface(['function getCommits(string assetCid) view returns (uint256[])'])
/** Number of blocks per batch. Each is requested with all its receipts. */
const PAGE = 8
/** Number of storage slots per proof request. Nodes allow some thousand. */
const SLOTS = 500
/** Number of attempts, with a pause that doubles. A node that is importing a block may return data of two different blocks. */
const TRIES = 6
const FIRST_PAUSE_MS = 25
/** Maximum number of blocks with commits of one asset. */
const LONGEST_HISTORY = 20_000

/**
 * Collects an asset's history up to the node's newest block. Blocks are requested lazily, a few at a time. Missing or unreadable data is
 * marked as missing in the evidence.
 */
export async function collect(options: CollectOptions): Promise<Evidence> {
  const { nid, registry } = options
  const evidence: Evidence = { nid, registry, chainId: undefined, head: undefined, state: new Map(), blocks: [] }
  try {
    const blocks = await readNewest(options, evidence)
    if (blocks.length > LONGEST_HISTORY) {
      throw new SourceError(`The history is longer than ${LONGEST_HISTORY} blocks, which is the maximum.`)
    }
    // Each iteration requests the blocks again.
    evidence.blocks = { [Symbol.asyncIterator]: () => collectBlocks(options, [...new Set(blocks)]) }
  } catch (error) {
    evidence.missing = reasonOfSource(error)
  }
  return evidence
}

/**
 * Reads the newest block into `evidence` and returns the numbers of the blocks with commits. After the last attempt it accepts a proof of
 * another state, which the verification rejects later. Throws SourceError if the node does not answer, or lists blocks that it does not have.
 */
async function readNewest(options: CollectOptions, evidence: Evidence): Promise<number[]> {
  const { node } = options
  for (let tries = 1; ; tries += 1) {
    const [chainId, latest] = await requestEach(node, [
      { method: 'eth_chainId', params: [] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
    ])
    const reply = resultOf<BlockReply>(node, latest, 'a newest block')
    const { bytes, header } = readable(node, 'the newest block', () => readHeader(reply))
    evidence.head = bytes
    evidence.chainId = readChainId(chainId)
    const proven = await proveList(options, header)
    evidence.state = proven.nodes
    evidence.unproven = proven.problem
    // Other registry contracts store their list elsewhere, and some nodes do not support proofs.
    const blocks = proven.blocks.length ? proven.blocks : await requestList(options, header)
    const isOfHead = blocks.every((block) => block > 0 && block <= header.number)
    const isSettled = isOfHead && proven.isOfHead
    if (isSettled || (isOfHead && tries === TRIES)) return blocks
    if (tries === TRIES) throw new SourceError(`The node ${node.name} lists commits in blocks that it does not have.`)
    await delay(FIRST_PAUSE_MS * 2 ** (tries - 1))
  }
}

/** Returns undefined if the node does not return a chain ID. */
function readChainId({ result }: RpcResponse = { result: undefined }): number | undefined {
  const chainId = typeof result === 'string' && /^0x[0-9a-f]+$/i.test(result) ? Number(result) : undefined
  return Number.isSafeInteger(chainId) ? chainId : undefined
}

/** Calls the registry for the list of blocks. Some registry contracts list a block once per commit. */
async function requestList({ node, registry, nid }: CollectOptions, { number }: Header): Promise<number[]> {
  const data = registryCalls.encodeFunctionData('getCommits', [nid])
  const [response] = await requestEach(node, [
    { method: 'eth_call', params: [{ to: registry, data }, toQuantity(number)] },
  ])
  const text = resultOf<string>(node, response, 'the list of blocks with commits')
  if (text === '0x') throw new SourceError(`The node ${node.name} has no registry at ${registry}.`)
  return readable(node, 'the list of blocks with commits', () =>
    (registryCalls.decodeFunctionResult('getCommits', text)[0] as bigint[]).map(Number),
  )
}

interface ProofReply {
  accountProof: string[]
  storageProof: { value: string; proof: string[] }[]
}

interface ProvenList {
  /** Nodes of the state trie. */
  nodes: Map<string, Uint8Array>
  blocks: number[]
  /** True if the proof starts at the state root of the header. */
  isOfHead: boolean
  /** Reason why there is no proof. */
  problem?: string
}

/** Reads the registry's list from its storage, with the trie nodes that prove it. The list is empty if the node does not support proofs. */
async function proveList({ node, registry, nid }: CollectOptions, head: Header): Promise<ProvenList> {
  const nodes = new Map<string, Uint8Array>()
  let isOfHead = true
  const prove = async (slots: readonly string[]): Promise<number[]> => {
    const params = [registry, slots, toQuantity(head.number)]
    const [response] = await requestEach(node, [{ method: 'eth_getProof', params }])
    const { accountProof, storageProof } = resultOf<ProofReply>(node, response, 'a proof of its state')
    return readable(node, 'the proof of its state', () => {
      isOfHead &&= accountProof[0] !== undefined && keccak256(accountProof[0]) === head.stateRoot
      const paths = [accountProof, ...storageProof.map(({ proof }) => proof)]
      for (const bytes of paths.flat().map((hex) => getBytes(hex))) nodes.set(keccak256(bytes).slice(2), bytes)
      return storageProof.slice(0, slots.length).map(({ value }) => Number(value))
    })
  }
  try {
    const [length = 0] = await prove([lengthSlot(nid)])
    const slots = Array.from({ length: Math.min(length, LONGEST_HISTORY + 1) }, (_, index) => entrySlot(nid, index))
    const blocks: number[] = []
    for (let from = 0; from < slots.length; from += SLOTS)
      blocks.push(...(await prove(slots.slice(from, from + SLOTS))))
    return { nodes, blocks, isOfHead }
  } catch (error) {
    return { nodes: new Map(), blocks: [], isOfHead: true, problem: reasonOfSource(error) }
  }
}

async function* collectBlocks(
  options: CollectOptions,
  blocks: readonly number[],
): AsyncGenerator<BlockEvidence | MissingBlock> {
  const { node } = options
  let silence: string | undefined
  for (let from = 0; from < blocks.length; from += PAGE) {
    const page = blocks.slice(from, from + PAGE)
    const requests = page.map((block) => toQuantity(block)).flatMap(requestsFor)
    const responses = silence === undefined ? await requestEach(node, requests) : []
    // Stop requesting pages after a page without any response.
    if (responses.length && responses.every(({ isSilent }) => isSilent)) silence = responses[0]!.refusal
    for (const [index, number] of page.entries()) {
      if (silence !== undefined) yield { number, reason: silence }
      else
        yield await encodeBlock(options, number, responses.slice(2 * index, 2 * index + 2)).catch((error: unknown) => ({
          number,
          reason: reasonOfSource(error),
        }))
    }
  }
}

const requestsFor = (block: string): RpcRequest[] => [
  { method: 'eth_getBlockByNumber', params: [block, true] },
  { method: 'eth_getBlockReceipts', params: [block] },
]

async function encodeBlock(
  { node, registry, nid }: CollectOptions,
  number: number,
  [block, receipts]: readonly RpcResponse[],
): Promise<BlockEvidence> {
  const reply = resultOf<BlockReply>(node, block, `block ${number}`)
  const replies = resultOf<ReceiptReply[]>(node, receipts, `the receipts of block ${number}`)
  const { bytes, header } = readable(node, `block ${number}`, () => readHeader(reply))
  if (header.number !== number) throw unreadable(node, `block ${number}`)
  const encoded = readable(node, `the receipts of block ${number}`, () => replies.map(encodeReceipt))
  const positions = readable(node, `the receipts of block ${number}`, () =>
    replies.flatMap(({ logs }, position) => (logs.some((log) => readCommit(log, registry, nid)) ? [position] : [])),
  )
  const given = Array.isArray(reply.transactions) ? (reply.transactions as TransactionReply[]) : []
  const table = await buildTrie(encoded)
  const contradicts = { receipts: table.root !== header.receiptsRoot, transactions: false }
  if (contradicts.receipts && encoded.length !== given.length) {
    const counts = `${encoded.length} receipts for ${given.length} transactions`
    throw new SourceError(`The node ${node.name} sent ${counts} in block ${number}.`)
  }
  const transactions = given.length < encoded.length ? undefined : await encodeTransactions(node, given)
  const signed = transactions && (await buildTrie(transactions))
  if (signed) contradicts.transactions = signed.root !== header.transactionsRoot
  return { header: bytes, positions, receipts: table.nodes, transactions: signed?.nodes, contradicts }
}

/** Encodes and decodes a header. Throws an Error if the reply is not a block. */
function readHeader(reply: BlockReply): { bytes: Uint8Array; header: Header } {
  const bytes = encodeHeader(reply)
  const header = decodeHeader(bytes)
  if (!header) throw new Error('The response is not a block.')
  return { bytes, header }
}

/** Returns undefined if the bytes of any transaction are missing, because a trie needs all of them. */
async function encodeTransactions(
  node: ChainNode,
  replies: readonly TransactionReply[],
): Promise<Uint8Array[] | undefined> {
  const encoded = replies.map(encodeTransaction)
  const missing = replies.filter((_, position) => !encoded[position])
  const responses = await requestEach(
    node,
    missing.map((reply) => ({ method: 'eth_getRawTransactionByHash', params: [reply?.hash] })),
  )
  try {
    const requested = responses.map(({ result }) => getBytes(result as string))
    return encoded.map((bytes) => bytes ?? requested.shift()!)
  } catch {
    return undefined
  }
}
