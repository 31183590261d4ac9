/** Reads the commits that the evidence shows, each as it follows from the hash of its block. */
import type { Anchor, BlockEvidence, Evidence } from './evidence.ts'
import { type Finding, holds, right, unknown, wrong } from './finding.ts'
import { decodeHeader, type Header } from './header.ts'
import { decodeLogs, readCommit } from './receipt.ts'
import { readList } from './registry-list.ts'
import { SourceError } from './source-error.ts'
import { decodeTransaction } from './transaction.ts'
import { counted, type Nodes, openTrie, type ProvenTrie, positionKey } from './trie.ts'

/** A commit where it stands on the chain. */
export interface ProvenEvent {
  blockNumber: number
  blockHash: string
  /** Unix seconds, of the block. */
  blockTime: number
  /** Position of the transaction in its block. */
  transactionIndex: number
  /** Position of the event among those of its transaction. */
  eventIndex: number
  /** Undefined when the transaction is not there. */
  transactionHash: string | undefined
  recorder: string
  text: string | undefined
  /** Whether its transaction is the one at this place. */
  transaction: Finding
}

/** A block of which nothing can be read. */
export interface BrokenBlock {
  blockNumber: number
  blockHash: string
  blockTime: number
  finding: string
}

/** All that the evidence shows. */
export interface ProvenHistory {
  /** In the order of the chain. */
  events: ProvenEvent[]
  broken: BrokenBlock[]
  head: Header
  /** Whether it is whole: as the registry's own list of blocks says. */
  complete: Finding
  /** Every block that was read, `head` included. */
  blocks: Anchor[]
}

/** Reads evidence. Raises SourceError where a header is none. */
export async function readEvents(evidence: Evidence): Promise<ProvenHistory> {
  const head = decodeHeader(evidence.head)
  if (!head) throw new SourceError('The evidence has no header of a newest block.')
  const events: ProvenEvent[] = []
  const broken: BrokenBlock[] = []
  const gaps: number[] = []
  const blocks = new Map<string, Anchor>([[head.hash, head]])
  const read = new Set<string>()
  for await (const block of evidence.blocks) {
    const header = decodeHeader(block.header)
    if (!header) throw new SourceError('The evidence holds a header that cannot be read.')
    const { number, hash, timestamp } = header
    // What stands in a block counts once, however often the block is shown.
    if (read.has(hash)) continue
    read.add(hash)
    // By its hash: of two blocks of one number at most one is the chain's, and each has to be settled.
    blocks.set(hash, header)
    const { events: found, finding, isWhole } = await readBlock(header, block, evidence)
    if (finding) broken.push({ blockNumber: number, blockHash: hash, blockTime: timestamp, finding })
    if (!isWhole) gaps.push(number)
    events.push(...found)
  }
  events.sort(
    (a, b) => a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex || a.eventIndex - b.eventIndex,
  )
  const complete = await judgeCompleteness(head, evidence, events, gaps)
  const anchors = [...blocks.values()].map(({ number, hash }) => ({ number, hash }))
  return { events, broken, head, complete, blocks: anchors.sort((a, b) => a.number - b.number) }
}

interface ReadBlock {
  events: ProvenEvent[]
  /** Whether every receipt of the block was there. */
  isWhole: boolean
  finding?: string
}

async function readBlock(
  header: Header,
  block: BlockEvidence,
  { registry, nid, chainId }: Evidence,
): Promise<ReadBlock> {
  const transactions = block.transactions && (await openTrie(header.transactionsRoot, block.transactions))
  const { found, isWhole } = await readReceipts(header.receiptsRoot, block.receipts, block.positions)
  const missing = block.positions.filter((position) => !found.has(position))
  const events: ProvenEvent[] = []
  for (const [transactionIndex, bytes] of found) {
    const logs = decodeLogs(bytes) ?? []
    const commits = logs.flatMap((log, eventIndex) => {
      const commit = readCommit(log, registry, nid)
      return commit ? [{ ...commit, eventIndex }] : []
    })
    if (!commits.length) continue
    const signed = await readTransaction(transactions, transactionIndex, chainId)
    const place = { blockNumber: header.number, blockHash: header.hash, blockTime: header.timestamp, transactionIndex }
    events.push(...commits.map((commit) => ({ ...place, ...commit, ...signed })))
  }
  if (found.size === 0 || missing.length) {
    const finding = `The receipts that were given do not lead to the receipts root of block ${header.number}.`
    return { events, isWhole: false, finding }
  }
  return { events, isWhole }
}

/** All receipts, by position, or those of `positions` where not all are there. */
async function readReceipts(root: string, nodes: Nodes, positions: readonly number[]) {
  const own = counted(nodes)
  const receipts = await openTrie(root, own)
  const found = new Map<number, Uint8Array>()
  for (let position = 0; own.mayHold(position); position += 1) {
    const bytes = await receipts.get(positionKey(position))
    if (bytes === null) return { found, isWhole: true }
    if (bytes === undefined) break
    found.set(position, bytes)
  }
  for (const position of positions) {
    const bytes = await receipts.get(positionKey(position))
    if (bytes) found.set(position, bytes)
  }
  return { found, isWhole: false }
}

async function readTransaction(transactions: ProvenTrie | undefined, position: number, chainId: number) {
  if (!transactions) {
    return { transactionHash: undefined, transaction: unknown('The bytes of the transaction were not given.') }
  }
  const bytes = await transactions.get(positionKey(position))
  if (!bytes) {
    const finding = 'The transactions that were given do not lead to the transactions root of the block.'
    return { transactionHash: undefined, transaction: wrong(finding) }
  }
  const signed = decodeTransaction(bytes)
  const transaction =
    signed.chainId === undefined
      ? right
      : holds(signed.chainId === chainId, `The transaction was signed for chain ${signed.chainId}, not ${chainId}.`)
  return { transactionHash: signed.hash, transaction }
}

/** Holds what was found against the registry's own list. */
async function judgeCompleteness(
  head: Header,
  evidence: Evidence,
  events: ProvenEvent[],
  gaps: number[],
): Promise<Finding> {
  const list = await readList(head, evidence)
  if (!list) return unknown('Nothing proves the list of blocks that the registry keeps.')
  if (list === 'cutOff') return wrong('The list of blocks that the registry keeps is longer than what is shown of it.')
  const seen = new Set(events.map(({ blockNumber }) => blockNumber))
  if (!list.length && seen.size) return unknown('The registry keeps its list of blocks in a way that is not known.')
  const missing = list.filter((block) => !seen.has(block))
  if (missing.length) return wrong(`The registry lists commits in ${blocksOf(missing)}, which are not shown.`)
  const listed = new Set(list)
  const unlisted = [...seen].filter((block) => !listed.has(block))
  if (unlisted.length) return wrong(`The registry lists no commit in ${blocksOf(unlisted)}.`)
  return gaps.length ? unknown(`Not all receipts of ${blocksOf(gaps)} are there.`) : right
}

const blocksOf = (numbers: readonly number[]) => {
  const few = numbers.slice(0, 10).join(', ')
  return `${numbers.length === 1 ? 'block' : 'blocks'} ${few}${numbers.length > 10 ? ' and others' : ''}`
}
