/** Merkle-Patricia tries: the tables of a block, whose roots its header holds. */
import { createMPT, type MerklePatriciaTrie } from '@ethereumjs/mpt'
import { getBytes } from 'ethers'
import { encodeRlp, rlpNumber } from './ethereum.ts'

/** Nodes by their hash, 64 hexadecimal digits. What gives them has hashed them: a node that has another hash is not there. */
export type Nodes = Pick<ReadonlyMap<string, Uint8Array>, 'get'>

/** A table of which some nodes are known. */
export interface ProvenTrie {
  /** The value under a key, null where the nodes prove that there is none, undefined where nodes are missing. */
  get(key: Uint8Array): Promise<Uint8Array | null | undefined>
}

/** A receipt and an entry of a list usually have a node of their own. */
const MOST_VALUES_OF_A_NODE = 4

/** Nodes of a trie, and which of them were read. */
export interface WatchedNodes extends Nodes {
  /** Returns whether the nodes read so far can hold more than this number of values. A few nodes that refer to each other can hold an endless number. */
  mayHold(values: number): boolean
  /** Returns whether one of these hashes was read and is missing. */
  lacks(hashes: ReadonlySet<string> | undefined): boolean
}

/** Watches which nodes are read. */
export function watched(nodes: Nodes): WatchedNodes {
  const asked = new Set<string>()
  const missing: string[] = []
  return {
    get(hash) {
      asked.add(hash)
      const bytes = nodes.get(hash)
      if (!bytes) missing.push(hash)
      return bytes
    },
    mayHold: (values) => values <= MOST_VALUES_OF_A_NODE * asked.size,
    lacks: (hashes) => missing.some((hash) => hashes?.has(hash)),
  }
}

type Store = NonNullable<NonNullable<Parameters<typeof createMPT>[0]>['db']>
const VALUES_ARE_BYTES = 'view'

/** The table with this root. What is read of it follows from the root alone. */
export async function openTrie(root: string, nodes: Nodes): Promise<ProvenTrie> {
  const trie = await createMPT({ db: readOnly(nodes), root: getBytes(root), valueEncoding: VALUES_ARE_BYTES })
  return {
    get: async (key) => {
      try {
        return await trie.get(key, true)
      } catch {
        // The library raises when a node is missing, or is none.
        return undefined
      }
    },
  }
}

const refuse = async () => {
  throw new Error('A table that is proven is not written to.')
}
const readOnly = (nodes: Nodes): Store => {
  const store: Store = {
    get: async (hash) => nodes.get(hash),
    put: refuse,
    del: refuse,
    batch: refuse,
    shallowCopy: () => store,
    open: async () => undefined,
  }
  return store
}

/** The key of what stands at a position of a block's table. */
export const positionKey = (position: number): Uint8Array => encodeRlp(rlpNumber(position))

/** The table of a block's receipts or transactions, and its nodes by their hashes. */
export async function buildTrie(
  values: readonly Uint8Array[],
): Promise<{ root: string; nodes: Map<string, Uint8Array> }> {
  const nodes = new Map<string, Uint8Array>()
  const trie = await createMPT({ db: writable(nodes), useNodePruning: true, valueEncoding: VALUES_ARE_BYTES })
  for (const [position, value] of values.entries()) await trie.put(positionKey(position), value)
  return { root: rootOf(trie), nodes }
}

const rootOf = (trie: MerklePatriciaTrie) => `0x${Buffer.from(trie.root()).toString('hex')}`

const writable = (nodes: Map<string, Uint8Array>): Store => {
  const store: Store = {
    ...readOnly(nodes),
    put: async (hash, node) => void nodes.set(hash, node as Uint8Array),
    del: async (hash) => void nodes.delete(hash),
    batch: async (steps) => {
      for (const step of steps) {
        if (step.type === 'put') nodes.set(step.key, step.value as Uint8Array)
        else nodes.delete(step.key)
      }
    },
    shallowCopy: () => store,
  }
  return store
}
