/** The evidence that a verdict is based on. Nothing in it is trusted: every statement must follow from the hashes of blocks. */

import { concat, decodeRlp, getBytes, keccak256, toBeHex, toUtf8Bytes } from 'ethers'
import type { Header } from './ethereum.ts'
import { type Nodes, openTrie, type ProvenTrie, watched } from './trie.ts'

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

/** Where the list's length lies, 32 bytes, 0x-prefixed. */
export const lengthSlot = (nid: string): string => keccak256(concat([toUtf8Bytes(nid), toBeHex(0, 32)]))

/** Where an entry of the list lies. */
export const entrySlot = (nid: string, index: number): string =>
  toBeHex(BigInt(keccak256(lengthSlot(nid))) + BigInt(index), 32)

/** A longer list is not a list of ours. */
const LONGEST_LIST = 1_000_000

/** The registry's list, as far as the state proves it. */
export interface ProvenBlocks {
  /** Proven length, with repetitions. */
  length: number
  /** Numbers of the blocks, each once, oldest first. */
  blocks: number[]
  /** True when every entry is proven. */
  isWhole: boolean
}

/** Reads the list from the state. Returns undefined when the nodes do not prove its length, or are not a state trie. */
export async function readList(head: Header, evidence: Evidence): Promise<ProvenBlocks | undefined> {
  try {
    return await readProven(head, evidence)
  } catch {
    return undefined
  }
}

async function readProven(
  { stateRoot }: Header,
  { nid, registry, state }: Evidence,
): Promise<ProvenBlocks | undefined> {
  const accounts = await openTrie(stateRoot, state)
  const account = await accounts.get(getBytes(keccak256(registry)))
  if (!account) return undefined
  const [, , storageRoot] = decodeRlp(account) as string[]
  const own = watched(state)
  const storage = await openTrie(storageRoot!, own)
  const length = await readNumber(storage, lengthSlot(nid))
  if (length === undefined || length > LONGEST_LIST) return undefined
  const blocks = new Set<number>()
  for (let index = 0; index < length; index += 1) {
    const block = own.mayHold(index) ? await readNumber(storage, entrySlot(nid, index)) : undefined
    if (block === undefined) return { length, blocks: [...blocks], isWhole: false }
    blocks.add(block)
  }
  return { length, blocks: [...blocks], isWhole: true }
}

/** What lies in a slot; 0 where nothing does, undefined where the nodes do not lead there. */
async function readNumber(storage: ProvenTrie, slot: string): Promise<number | undefined> {
  const value = await storage.get(getBytes(keccak256(slot)))
  if (value === undefined) return undefined
  return value === null ? 0 : Number(BigInt(decodeRlp(value) as string))
}
