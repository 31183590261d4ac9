/** Collects the evidence of an asset's history from a chain node. Whether it is true is judged by others. */
import { setTimeout as delay } from 'node:timers/promises'
import { getBytes, Interface, keccak256, toQuantity } from 'ethers'
import { type ChainNode, type Question, resultOf } from './chain-node.ts'
import type { BlockEvidence, Evidence } from './evidence.ts'
import { type BlockReply, decodeHeader, encodeHeader } from './header.ts'
import { encodeReceipt, type ReceiptReply, readCommit } from './receipt.ts'
import { entrySlot, lengthSlot } from './registry-list.ts'
import { SourceError } from './source-error.ts'
import { encodeTransaction, type TransactionReply } from './transaction.ts'
import { buildTrie } from './trie.ts'

/** Whose history is collected, and where. */
export interface CollectOptions {
  node: ChainNode
  /** Address of the ERC-7053 contract. */
  registry: string
  nid: string
}

const registryCalls = new Interface(['function getCommits(string assetCid) view returns (uint256[])'])
/** Blocks asked for at once: each comes with all its receipts. */
const PAGE = 8
/** Slots asked for at once; nodes allow some thousand. */
const SLOTS = 500
/** A node that is just writing a block may answer out of it and out of the one before: then it is asked again, after a pause that doubles. */
const TRIES = 6
const FIRST_PAUSE_MS = 25
/** Blocks with commits of one asset. */
const LONGEST_HISTORY = 20_000

/**
 * What a node says about an asset's history, up to its newest block. Blocks are asked for while they are read, some at a time. Raises
 * SourceError when the node does not answer, or knows no such registry.
 */
export async function collect({ node, registry, nid }: CollectOptions): Promise<Evidence> {
  const { chainId, head, proven, blocks } = await readNewest({ node, registry, nid })
  if (blocks.length > LONGEST_HISTORY) {
    throw new SourceError(`The history is longer than ${LONGEST_HISTORY} blocks, which is more than is read.`)
  }
  return {
    nid,
    registry,
    chainId,
    head: readable(node, head.number, () => encodeHeader(head)),
    state: proven?.nodes ?? new Map(),
    // Begins anew each time that it is read.
    blocks: { [Symbol.asyncIterator]: () => collectBlocks({ node, registry, nid }, [...new Set(blocks)]) },
  }
}

/**
 * The newest block, and the list of blocks with commits as of it. The last answer of a node that proves another state again and again
 * is left to be judged; raises SourceError when it tells again and again of blocks that it does not have.
 */
async function readNewest({ node, registry, nid }: CollectOptions) {
  for (let tries = 1; ; tries += 1) {
    const [chainId, latest] = await node.ask([
      { method: 'eth_chainId', params: [] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
    ])
    const head = resultOf<BlockReply>(node, latest)
    const proven = await proveList({ node, registry, nid }, head)
    // A registry of another maker keeps its list elsewhere, and some nodes prove nothing.
    const blocks = proven?.blocks.length ? proven.blocks : await askForList({ node, registry, nid }, head.number)
    const isOfHead = blocks.every((block) => block > 0 && block <= Number(head.number))
    const isSettled = isOfHead && proven?.isOfHead !== false
    if (isSettled || (isOfHead && tries === TRIES)) {
      return { chainId: Number(resultOf<string>(node, chainId)), head, proven, blocks }
    }
    if (tries === TRIES)
      throw new SourceError(`The node ${node.name} tells of commits in blocks that it does not have.`)
    await delay(FIRST_PAUSE_MS * 2 ** (tries - 1))
  }
}

/** As the registry answers: registries of other makers name a block once for each commit. */
async function askForList({ node, registry, nid }: CollectOptions, at: string): Promise<number[]> {
  const data = registryCalls.encodeFunctionData('getCommits', [nid])
  const [answer] = await node.ask([{ method: 'eth_call', params: [{ to: registry, data }, at] }])
  const text = resultOf<string>(node, answer)
  if (text === '0x') throw new SourceError(`The node ${node.name} knows no registry at ${registry}.`)
  return readable(node, at, () => (registryCalls.decodeFunctionResult('getCommits', text)[0] as bigint[]).map(Number))
}

interface ProofReply {
  accountProof: string[]
  storageProof: { value: string; proof: string[] }[]
}

/**
 * The registry's list as it lies in the state, with what proves it, and whether all of that begins at the block's own root; undefined
 * where the node does not prove its state.
 */
async function proveList({ node, registry, nid }: CollectOptions, { number: at, stateRoot }: BlockReply) {
  const nodes = new Map<string, Uint8Array>()
  let isOfHead = true
  const prove = async (slots: readonly string[]): Promise<number[] | undefined> => {
    const [answer] = await node.ask([{ method: 'eth_getProof', params: [registry, slots, at] }])
    if (answer?.refusal !== undefined) return undefined
    const { accountProof, storageProof } = resultOf<ProofReply>(node, answer)
    return readable(node, at, () => {
      isOfHead &&= accountProof[0] !== undefined && keccak256(accountProof[0]) === stateRoot
      const paths = [accountProof, ...storageProof.map(({ proof }) => proof)]
      for (const bytes of paths.flat().map((hex) => getBytes(hex))) nodes.set(keccak256(bytes).slice(2), bytes)
      return storageProof.map(({ value }) => Number(value))
    })
  }
  const [length = 0] = (await prove([lengthSlot(nid)])) ?? []
  const slots = Array.from({ length: Math.min(length, LONGEST_HISTORY + 1) }, (_, index) => entrySlot(nid, index))
  const blocks: number[] = []
  for (let from = 0; from < slots.length; from += SLOTS) {
    const page = await prove(slots.slice(from, from + SLOTS))
    if (!page) return undefined
    blocks.push(...page)
  }
  return { nodes, blocks, isOfHead }
}

async function* collectBlocks(
  { node, ...asset }: CollectOptions,
  blocks: readonly number[],
): AsyncGenerator<BlockEvidence> {
  for (let from = 0; from < blocks.length; from += PAGE) {
    const page = blocks.slice(from, from + PAGE)
    const answers = await node.ask(page.map((block) => toQuantity(block)).flatMap(questionsAbout))
    for (const [index, block] of page.entries()) {
      const reply = resultOf<BlockReply>(node, answers[2 * index])
      const receipts = resultOf<ReceiptReply[]>(node, answers[2 * index + 1])
      yield await encodeBlock(node, String(block), asset, reply, receipts)
    }
  }
}

const questionsAbout = (block: string): Question[] => [
  { method: 'eth_getBlockByNumber', params: [block, true] },
  { method: 'eth_getBlockReceipts', params: [block] },
]

async function encodeBlock(
  node: ChainNode,
  block: string,
  { registry, nid }: Omit<CollectOptions, 'node'>,
  reply: BlockReply,
  receipts: ReceiptReply[],
): Promise<BlockEvidence> {
  const encoded = readable(node, block, () => ({
    header: headerOf(block, reply),
    receipts: receipts.map(encodeReceipt),
    positions: receipts.flatMap(({ logs }, position) =>
      logs.some((log) => readCommit(log, registry, nid)) ? [position] : [],
    ),
  }))
  const transactions = await encodeTransactions(node, reply.transactions as TransactionReply[])
  const [table, signed] = await Promise.all([buildTrie(encoded.receipts), transactions && buildTrie(transactions)])
  return {
    header: encoded.header,
    positions: encoded.positions,
    receipts: table.nodes,
    transactions: signed?.nodes,
  }
}

/** Raises an Error when it is no header, or that of another block. */
function headerOf(block: string, reply: BlockReply): Uint8Array {
  const bytes = encodeHeader(reply)
  if (decodeHeader(bytes)?.number !== Number(block)) throw new Error('It is not the header of that block.')
  return bytes
}

/** Undefined where the node cannot give the bytes of one: a table is whole or nothing. */
async function encodeTransactions(
  node: ChainNode,
  replies: readonly TransactionReply[],
): Promise<Uint8Array[] | undefined> {
  const encoded = replies.map(encodeTransaction)
  const missing = replies.filter((_, position) => !encoded[position])
  const answers = await node.ask(missing.map(({ hash }) => ({ method: 'eth_getRawTransactionByHash', params: [hash] })))
  if (answers.some(({ refusal }) => refusal !== undefined)) return undefined
  const asked = answers.map(({ result }) => getBytes(String(result)))
  return encoded.map((bytes) => bytes ?? asked.shift()!)
}

/** Raises SourceError where a node's answer is not what it should look like. */
function readable<T>(node: ChainNode, block: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new SourceError(`What the node ${node.name} tells of block ${Number(block)} cannot be read.`, {
      cause: error,
    })
  }
}
