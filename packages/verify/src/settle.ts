/** Checks whether blocks are part of the chain. Anyone can invent a header, but not its hash on the chain. */
import { toQuantity } from 'ethers'
import { type ChainNode, type RpcResponse, readable, requestEach, resultOf, unreadable } from './chain-node.ts'
import { type BlockReply, decodeHeader, encodeHeader, type Header } from './ethereum.ts'
import type { Anchor } from './evidence.ts'
import { reasonOfSource } from './source-error.ts'
import { type Finding, right, unknown, wrong } from './verification.ts'

/** Block hashes that the user trusts. `unmatched` contains those that no block of the evidence has. */
interface Trusted {
  hashes: ReadonlySet<string>
  unmatched: string[]
}

/** Parses the block hashes that the user trusts. `known` contains the hashes of blocks in the evidence. */
export function trust(hashes: readonly string[], known: ReadonlySet<string>): Trusted {
  const trusted = new Set(hashes.map((hash) => hash.toLowerCase()))
  return { hashes: trusted, unmatched: [...trusted].filter((hash) => !known.has(hash)) }
}

const unread = unknown('No block could be read.')

/**
 * Compares the blocks with each node. A contradiction makes the result wrong; a node that does not answer makes it unknown. `unmatched` contains
 * trusted hashes that are not in the evidence; each node must know them.
 */
export async function settleByNodes(
  nodes: readonly ChainNode[],
  blocks: readonly Anchor[],
  unmatched: readonly string[] = [],
): Promise<Finding> {
  if (!blocks.length) return unread
  const findings: Finding[] = []
  for (const node of nodes) {
    const byNumber = blocks.map(({ number }) => ({
      method: 'eth_getBlockByNumber',
      params: [toQuantity(number), false],
    }))
    const byHash = unmatched.map((hash) => ({ method: 'eth_getBlockByHash', params: [hash, false] }))
    const responses = await requestEach(node, [...byNumber, ...byHash])
    for (const [index, block] of blocks.entries()) {
      findings.push(tryTo(() => compare(node, block, responses[index])))
    }
    for (const [index, hash] of unmatched.entries()) {
      findings.push(tryTo(() => find(node, hash, { blocks, response: responses[blocks.length + index] })))
    }
  }
  const worst = findings.find(({ result }) => result === 'wrong') ?? findings.find(({ result }) => result === 'unknown')
  return worst ?? (nodes.length ? right : unknown('No node confirmed that the blocks belong to the chain.'))
}

function tryTo(judge: () => Finding): Finding {
  try {
    return judge()
  } catch (error) {
    return unknown(reasonOfSource(error))
  }
}

const HASH = /^0x[0-9a-f]{64}$/i

/** Compares a block with the node's hash for its number. */
function compare(node: ChainNode, { number, hash }: Anchor, response: RpcResponse | undefined): Finding {
  const what = `block ${number}`
  const reply = resultOf<{ number?: unknown; hash?: unknown }>(node, response, what)
  if (Number(reply.number) !== number || typeof reply.hash !== 'string' || !HASH.test(reply.hash)) {
    throw unreadable(node, what)
  }
  if (reply.hash.toLowerCase() === hash) return right
  return wrong(`Block ${number} has the hash ${hash} in the evidence, but the node ${node.name} reports ${reply.hash}.`)
}

/** Looks up the block with a trusted hash. Its number must not be that of a block with another hash. */
function find(
  node: ChainNode,
  hash: string,
  { blocks, response }: { blocks: readonly Anchor[]; response: RpcResponse | undefined },
): Finding {
  const what = `a block with the hash ${hash}`
  const reply = resultOf<BlockReply>(node, response, what)
  const header = readable(node, what, () => decodeHeader(encodeHeader(reply)))
  if (header?.hash !== hash) throw unreadable(node, what)
  const other = blocks.find(({ number }) => number === header.number)
  return other ? wrong(`Block ${other.number} has the hash ${other.hash} in the evidence, not ${hash}.`) : right
}

/** Compares blocks with the hashes that the user trusts. A trusted hash without a block may belong to a later block, so it is no contradiction. */
export function settleByHashes({ hashes, unmatched }: Trusted, anchors: readonly Anchor[]): Finding {
  if (!anchors.length) return unread
  const open = anchors.find(({ hash }) => !hashes.has(hash))
  if (!open) return right
  const unused = unmatched.length ? `No block of the evidence has the hash ${unmatched[0]}. ` : ''
  return unknown(
    `${unused}The history is valid if block ${open.number} has the hash ${open.hash}. Compare this hash with a node that you trust.`,
  )
}

/** Returns the blocks that do not follow from a later block through parent hashes, and all hashes that follow from them. */
export function findAnchors(blocks: readonly Anchor[], headers: ReadonlyMap<string, Header>) {
  const known = new Set<string>()
  const anchors: Anchor[] = []
  for (const block of [...blocks].sort((a, b) => b.number - a.number)) {
    if (known.has(block.hash)) continue
    anchors.push(block)
    for (let hash: string | undefined = block.hash; hash && !known.has(hash); hash = headers.get(hash)?.parentHash)
      known.add(hash)
  }
  return { anchors, known }
}
