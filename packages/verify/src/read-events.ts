/** Reads the commits in the evidence. Each must follow from its block's hash. */

import {
  type CommitEvent,
  decodeHeader,
  decodeLogs,
  decodeTransaction,
  type Header,
  readCommit,
  type SignedTransaction,
} from './ethereum.ts'
import { type Anchor, type BlockEvidence, type Evidence, type MissingBlock, readList } from './evidence.ts'
import { openTrie, positionKey, watched } from './trie.ts'
import { type Finding, holds, right, unknown, wrong } from './verification.ts'

/** A commit with its position on the chain. */
export interface ProvenEvent {
  blockNumber: number
  blockHash: string
  /** Time of the block, in Unix seconds. */
  blockTime: number
  /** Position of the transaction in its block. */
  transactionIndex: number
  /** Position of the event in its transaction. */
  eventIndex: number
  /** Undefined if the transaction is missing from the evidence. */
  transactionHash: string | undefined
  recorder: string
  text: string | undefined
  /** Result of the check of its transaction. */
  transaction: Finding
}

/** A block whose evidence contradicts itself. */
export interface BrokenBlock {
  blockNumber: number
  blockHash: string
  blockTime: number
  finding: string
}

/** The history that the evidence proves. */
export interface ProvenHistory {
  /** Commits in the order of the chain. */
  events: ProvenEvent[]
  broken: BrokenBlock[]
  /** Blocks that may contain commits missing from `events`. */
  missing: MissingBlock[]
  /** Undefined if the header is missing or unreadable. */
  head: Header | undefined
  /** Result of the comparison with the registry's own list of blocks. */
  complete: Finding
  /** Blocks that were read, including `head`. */
  blocks: Anchor[]
}

/** Reads the evidence. Missing data and contradictions are part of the result and are not thrown. */
export async function readEvents(evidence: Evidence): Promise<ProvenHistory> {
  const head = evidence.head && decodeHeader(evidence.head)
  const events: ProvenEvent[] = []
  const broken: BrokenBlock[] = []
  const missing: MissingBlock[] = []
  const blocks = new Map<string, Anchor>(head && [[head.hash, head]])
  const read = new Set<string>()
  for await (const block of evidence.blocks) {
    if ('reason' in block) {
      missing.push(block)
      continue
    }
    const header = decodeHeader(block.header)
    if (!header) {
      missing.push({ number: undefined, reason: 'The header of a block cannot be read.' })
      continue
    }
    const { number, hash, timestamp } = header
    // Count a block once, even if the evidence contains it several times.
    if (read.has(hash)) continue
    read.add(hash)
    // The key is the hash. Two blocks can have the same number, and each must be checked against the chain.
    blocks.set(hash, header)
    const found = await readBlock(header, block, evidence)
    if (found.finding)
      broken.push({ blockNumber: number, blockHash: hash, blockTime: timestamp, finding: found.finding })
    if (found.missing) missing.push({ number, reason: found.missing })
    for (const event of found.events) events.push(event)
  }
  events.sort(
    (a, b) => a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex || a.eventIndex - b.eventIndex,
  )
  const complete = await judgeCompleteness(head, evidence, { events, broken, missing })
  const anchors = [...blocks.values()].map(({ number, hash }) => ({ number, hash }))
  return { events, broken, missing, head, complete, blocks: anchors.sort((a, b) => a.number - b.number) }
}

interface ReadBlock {
  events: ProvenEvent[]
  /** A contradiction. */
  finding?: string
  /** Reason why receipts could not be read. */
  missing?: string
}

async function readBlock(header: Header, block: BlockEvidence, evidence: Evidence): Promise<ReadBlock> {
  const { found, isWhole, isUnreadable, nodes } = await readReceipts(header.receiptsRoot, block, evidence)
  const readTransaction = await openTransactions(header, block, evidence)
  const events: ProvenEvent[] = []
  for (const [transactionIndex, commits] of found) {
    if (!commits.length) continue
    const signed = await readTransaction(transactionIndex)
    const place = { blockNumber: header.number, blockHash: header.hash, blockTime: header.timestamp, transactionIndex }
    for (const commit of commits) events.push({ ...place, ...commit, ...signed })
  }
  if (block.contradicts?.receipts || nodes.lacks(evidence.damaged)) {
    return {
      events,
      finding: `The receipts do not match the receipts root of block ${header.number}.`,
    }
  }
  if (isUnreadable) return { events, missing: `A receipt of block ${header.number} cannot be read.` }
  if (!isWhole) return { events, missing: `Some receipts of block ${header.number} are missing.` }
  const absent = block.positions.find((position) => !found.has(position))
  if (absent === undefined) return { events }
  return { events, finding: `Block ${header.number} has no transaction at position ${absent}.` }
}

type FoundCommit = CommitEvent & { eventIndex: number }

/** Reads the commits in all receipts, by position. If receipts are missing, still reads those of `positions`. */
async function readReceipts(root: string, block: BlockEvidence, { registry, nid }: Evidence) {
  const nodes = watched(block.receipts)
  const receipts = await openTrie(root, nodes)
  const found = new Map<number, FoundCommit[]>()
  let isUnreadable = false
  const keep = (position: number, bytes: Uint8Array) => {
    const logs = decodeLogs(bytes)
    isUnreadable ||= !logs
    const commits = logs?.flatMap((log, eventIndex) => {
      const commit = readCommit(log, registry, nid)
      return commit ? [{ ...commit, eventIndex }] : []
    })
    if (commits) found.set(position, commits)
  }
  let isWhole = false
  for (let position = 0; !isWhole && nodes.mayHold(position); position += 1) {
    const bytes = await receipts.get(positionKey(position))
    if (bytes === undefined) break
    isWhole = bytes === null
    if (bytes) keep(position, bytes)
  }
  for (const position of isWhole ? [] : block.positions) {
    const bytes = await receipts.get(positionKey(position))
    if (bytes) keep(position, bytes)
  }
  return { found, isWhole, isUnreadable, nodes }
}

async function openTransactions(
  { transactionsRoot }: Header,
  { transactions, contradicts }: BlockEvidence,
  { chainId, damaged }: Evidence,
) {
  const nodes = transactions && watched(transactions)
  const trie = nodes && (await openTrie(transactionsRoot, nodes))
  const unread = (transaction: Finding) => ({ transactionHash: undefined, transaction })
  return async (position: number) => {
    if (!trie) return unread(unknown('The transaction is missing.'))
    const bytes = await trie.get(positionKey(position))
    if (bytes) {
      const signed = decodeTransaction(bytes)
      return { transactionHash: signed.hash, transaction: judgeChain(signed, chainId) }
    }
    if (bytes === null || contradicts?.transactions || nodes.lacks(damaged)) {
      return unread(wrong('The transactions do not match the transactions root of the block.'))
    }
    return unread(unknown('A part of the transaction is missing.'))
  }
}

function judgeChain(signed: SignedTransaction, chainId: number | undefined): Finding {
  if (signed.chainId === undefined) return right
  if (chainId === undefined) return unknown('The chain ID is missing.')
  return holds(signed.chainId === chainId, `The transaction was signed for chain ${signed.chainId}, not ${chainId}.`)
}

type Read = Pick<ProvenHistory, 'events' | 'broken' | 'missing'>

/** Compares the commits with the registry's own list of blocks. An unreadable block is missing evidence and not a contradiction. */
async function judgeCompleteness(
  head: Header | undefined,
  evidence: Evidence,
  { events, broken, missing }: Read,
): Promise<Finding> {
  if (evidence.missing !== undefined) return unknown(evidence.missing)
  if (!head) return unknown('The header of the newest block cannot be read.')
  const list = await readList(head, evidence)
  const [gap] = missing
  const open = gap ? unknown(gap.reason) : right
  if (!list) {
    const why = evidence.unproven === undefined ? '' : ` ${evidence.unproven}`
    return gap ? open : unknown(`There is no proof of the list of blocks in the registry.${why}`)
  }
  const seen = new Set(events.map(({ blockNumber }) => blockNumber))
  const unread = new Set([...missing.map(({ number }) => number), ...broken.map(({ blockNumber }) => blockNumber)])
  // A block without a header has no number, so it could be any block on the list.
  const unnamed = missing.filter(({ number }) => number === undefined).length
  if (!list.isWhole) {
    const shown = new Set([...seen, ...unread]).size - (unnamed ? 1 : 0) + unnamed
    if (list.length > shown)
      return wrong(`The registry lists ${list.length} blocks with commits, but the evidence has ${shown}.`)
    return unknown('The proof of the list of blocks in the registry is incomplete.')
  }
  if (!list.length && seen.size) return unknown('The registry stores its list of blocks in an unknown format.')
  const absent = list.blocks.filter((block) => !seen.has(block) && !unread.has(block))
  if (absent.length > unnamed)
    return wrong(`The registry lists commits in ${blocksOf(absent)}, which the evidence lacks.`)
  const listed = new Set(list.blocks)
  const unlisted = [...seen].filter((block) => !listed.has(block))
  const older = unlisted.filter((block) => block <= head.number)
  if (older.length) return wrong(`The registry lists no commit in ${blocksOf(older)}.`)
  if (unlisted.length)
    return unknown(`The list of blocks was read at block ${head.number}, before ${blocksOf(unlisted)}.`)
  return open
}

const blocksOf = (numbers: readonly number[]) => {
  const few = numbers.slice(0, 10).join(', ')
  return `${numbers.length === 1 ? 'block' : 'blocks'} ${few}${numbers.length > 10 ? ' and others' : ''}`
}
