/** The evidence that a verdict is based on. Nothing in it is trusted: every statement must follow from the hashes of blocks. */
import type { Nodes } from './trie.ts'

/** A block that is said to hold commits of the asset. */
export interface BlockEvidence {
  header: Uint8Array
  /** Nodes of the receipts trie. */
  receipts: Nodes
  /** Nodes of the transactions trie; undefined when the source did not give them. */
  transactions: Nodes | undefined
  /** Positions of transactions that are said to hold commits. Only these are read when some receipts are missing. */
  positions: readonly number[]
  /** Set when all receipts, or all transactions, were given and do not match the header. */
  contradicts?: { receipts: boolean; transactions: boolean }
}

/** A block whose evidence is missing or unreadable. */
export interface MissingBlock {
  /** Undefined when the header is missing as well. */
  number: number | undefined
  /** A sentence. */
  reason: string
}

/** The history of an asset, as a node or a proof file gives it. Where a field is undefined, the source did not give it. */
export interface Evidence {
  nid: string
  chainId: number | undefined
  /** Address of the ERC-7053 contract, 0x-prefixed. */
  registry: string
  /** Header of the block at which the registry's own list was read. */
  head: Uint8Array | undefined
  /** Nodes of the state trie at `head`, with the registry's account and its list of the asset's blocks. */
  state: Nodes
  /** Why `state` does not prove the list, if the source said so. */
  unproven?: string
  /** Why the list of blocks could not be read at all: then `blocks` may be incomplete. */
  missing?: string
  /** Hashes (64 hexadecimal digits) of trie nodes that the source gave with other bytes. */
  damaged?: ReadonlySet<string>
  /** Oldest first. */
  blocks: AsyncIterable<BlockEvidence | MissingBlock> | Iterable<BlockEvidence | MissingBlock>
}

/** A block by its number, and the hash that it must have for the verdict to hold. */
export interface Anchor {
  number: number
  /** 0x-prefixed. */
  hash: string
}
