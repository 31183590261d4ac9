/** Whether blocks are those of the chain: a header can be invented, its hash on the chain cannot. */
import { toQuantity } from 'ethers'
import type { ChainNode } from './chain-node.ts'
import type { Anchor } from './evidence.ts'
import { type Finding, right, unknown, wrong } from './finding.ts'
import type { Header } from './header.ts'

/** Asks each node for the hashes of these blocks. Raises SourceError when one does not answer. */
export async function settleByNodes(nodes: readonly ChainNode[], blocks: readonly Anchor[]): Promise<Finding> {
  for (const node of nodes) {
    const answers = await node.ask(
      blocks.map(({ number }) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] })),
    )
    for (const [index, { number, hash }] of blocks.entries()) {
      const block = answers[index]?.result as { hash?: unknown } | null | undefined
      if (!block) return unknown(`The node ${node.name} does not have block ${number}.`)
      if (block.hash !== hash) {
        return wrong(
          `Block ${number} as it is shown here has the hash ${hash}, the node ${node.name} says ${block.hash}.`,
        )
      }
    }
  }
  return nodes.length ? right : unknown('Nobody was asked whether the blocks are those of the chain.')
}

/** Holds blocks against hashes that the reader got from somebody they believe. */
export function settleByHashes(
  hashes: readonly string[],
  anchors: readonly Anchor[],
  known: ReadonlySet<string>,
): Finding {
  const given = new Set(hashes.map((hash) => hash.toLowerCase()))
  const strange = [...given].find((hash) => !known.has(hash))
  if (strange) return wrong(`No block here has the hash ${strange}.`)
  const open = anchors.find(({ hash }) => !given.has(hash))
  if (!open) return right
  return unknown(`It holds if block ${open.number} has the hash ${open.hash}: ask any node of the chain.`)
}

/** Of these blocks, those that no later one vouches for by the hashes of parents; and all whose hashes follow from theirs. */
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
