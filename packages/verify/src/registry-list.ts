/**
 * The registry's own list of the blocks that hold an asset's commits, as it lies in the chain's state: the first variable of the
 * contract, `mapping(string => uint256[])`. It is what shows that no commit was left out.
 */
import { concat, decodeRlp, getBytes, keccak256, toBeHex, toUtf8Bytes } from 'ethers'
import type { Evidence } from './evidence.ts'
import type { Header } from './header.ts'
import { openTrie, type ProvenTrie, watched } from './trie.ts'

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
