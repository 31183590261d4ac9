/** The evidence for a verdict. It is untrusted: every statement must follow from block hashes. */

import { concat, decodeRlp, getBytes, keccak256, toBeHex, toUtf8Bytes } from 'ethers'
import type { Header } from './ethereum.ts'
import { type Nodes, openTrie, type ProvenTrie, watched } from './trie.ts'

/** A block that, according to the source, contains commits of the asset. */
export interface BlockEvidence {
  header: Uint8Array
  /** Nodes of the receipts trie. */
  receipts: Nodes
  /** Nodes of the transactions trie. Undefined if the source did not provide them. */
  transactions: Nodes | undefined
  /** Positions of transactions that contain commits, according to the source. If receipts are missing, only these are read. */
  positions: readonly number[]
  /** True values mean that the complete receipts or transactions do not match the header. */
  contradicts?: { receipts: boolean; transactions: boolean }
}

/** A block whose evidence is missing or unreadable. */
export interface MissingBlock {
  /** Undefined if the header is missing too. */
  number: number | undefined
  /** Reason as a sentence. */
  reason: string
}

/** The history of an asset from a node or a proof file. Undefined fields were not provided by the source. */
export interface Evidence {
  nid: string
  chainId: number | undefined
  /** Address of the ERC-7053 contract, 0x-prefixed. */
  registry: string
  /** Header of the block at which the registry's list was read. */
  head: Uint8Array | undefined
  /** Nodes of the state trie at `head`, with the registry's account and its list of the asset's blocks. */
  state: Nodes
  /** Reason why `state` does not prove the list, according to the source. */
  unproven?: string
  /** Reason why the list of blocks could not be read. `blocks` may be incomplete then. */
  missing?: string
  /** Hashes (64 hex digits) of trie nodes whose bytes did not match. */
  damaged?: ReadonlySet<string>
  /** Blocks with commits, oldest first. */
  blocks: AsyncIterable<BlockEvidence | MissingBlock> | Iterable<BlockEvidence | MissingBlock>
}

/** A block number with the hash that the block must have for the verdict to be valid. */
export interface Anchor {
  number: number
  /** 0x-prefixed. */
  hash: string
}

/** Returns the storage slot of the list's length, 32 bytes, 0x-prefixed. */
export const lengthSlot = (nid: string): string => keccak256(concat([toUtf8Bytes(nid), toBeHex(0, 32)]))

/** Returns the storage slot of an entry of the list. */
export const entrySlot = (nid: string, index: number): string =>
  toBeHex(BigInt(keccak256(lengthSlot(nid))) + BigInt(index), 32)

/** Maximum length of a list. A longer one is not from our contract. */
const LONGEST_LIST = 1_000_000

/** The part of the registry's list that the state proves. */
export interface ProvenBlocks {
  /** Proven length of the list, including duplicates. */
  length: number
  /** Block numbers without duplicates, oldest first. */
  blocks: number[]
  /** True if every entry is proven. */
  isWhole: boolean
}

/** Reads the list from the state trie. Returns undefined if the nodes do not prove its length, or are not a state trie. */
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

/** Returns the value of a slot. Returns 0 if it is empty, undefined if trie nodes are missing. */
async function readNumber(storage: ProvenTrie, slot: string): Promise<number | undefined> {
  const value = await storage.get(getBytes(keccak256(slot)))
  if (value === undefined) return undefined
  return value === null ? 0 : Number(BigInt(decodeRlp(value) as string))
}
