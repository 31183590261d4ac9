/** What a verdict is made from. Nothing in it is believed: whatever it says must follow from the hashes of blocks. */
import type { Nodes } from './trie.ts'

/** A block that is said to hold commits of the asset. */
export interface BlockEvidence {
  header: Uint8Array
  /** Nodes of the table of receipts. */
  receipts: Nodes
  /** Nodes of the table of transactions; undefined where whoever gave the block could not give them. */
  transactions: Nodes | undefined
  /** Positions of transactions that are said to hold commits: where not all receipts are there, only these are looked at. */
  positions: readonly number[]
}

/** An asset's history, as a node or a file tells it. */
export interface Evidence {
  nid: string
  chainId: number
  /** The ERC-7053 contract, 0x-prefixed. */
  registry: string
  /** Header of the block as of which the registry's own list was read. */
  head: Uint8Array
  /** Nodes of the chain's state at `head`, with the registry's account and its list of the asset's blocks. */
  state: Nodes
  /** Oldest first. */
  blocks: AsyncIterable<BlockEvidence> | Iterable<BlockEvidence>
}

/** A block by its number, and the hash that it must have for the verdict to hold. */
export interface Anchor {
  number: number
  /** 0x-prefixed. */
  hash: string
}
