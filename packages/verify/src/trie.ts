/** Merkle-Patricia tries, the authenticated tables of a block. Their roots are in the block's header. */
import { createMPT, type MerklePatriciaTrie } from '@ethereumjs/mpt'
import { getBytes } from 'ethers'
import { encodeRlp, rlpNumber } from './ethereum.ts'

/** Trie nodes by hash (64 hex digits). The source must have checked the hashes. */
export type Nodes = Pick<ReadonlyMap<string, Uint8Array>, 'get'>

/** A trie of which some nodes are known. */
export interface ProvenTrie {
  /** Returns the value of a key. Null if the nodes prove that there is none, undefined if nodes are missing. */
  get(key: Uint8Array): Promise<Uint8Array | null | undefined>
}

/** Maximum number of values per node. A receipt or list entry usually has its own node. */
const MOST_VALUES_OF_A_NODE = 4

/** Trie nodes that record which of them were read. */
export interface WatchedNodes extends Nodes {
  /**
   * Returns true if the nodes read so far can contain this many values. Otherwise a few nodes that refer to each other could describe an
   * endless list.
   */
  mayHold(values: number): boolean
  /** Returns true if one of these hashes was read and is missing. */
  lacks(hashes: ReadonlySet<string> | undefined): boolean
}

/** Wraps nodes and records which of them were read. */
export function watched(nodes: Nodes): WatchedNodes {
  const requested = new Set<string>()
  const missing: string[] = []
  return {
    get(hash) {
      requested.add(hash)
      const bytes = nodes.get(hash)
      if (!bytes) missing.push(hash)
      return bytes
    },
    mayHold: (values) => values <= MOST_VALUES_OF_A_NODE * requested.size,
    lacks: (hashes) => missing.some((hash) => hashes?.has(hash)),
  }
}

type Store = NonNullable<NonNullable<Parameters<typeof createMPT>[0]>['db']>
const VALUES_ARE_BYTES = 'view'

/** Opens the trie with this root. Everything read from it is proven by the root. */
export async function openTrie(root: string, nodes: Nodes): Promise<ProvenTrie> {
  const trie = await createMPT({ db: readOnly(nodes), root: getBytes(root), valueEncoding: VALUES_ARE_BYTES })
  return {
    get: async (key) => {
      try {
        return await trie.get(key, true)
      } catch {
        // The library throws if a node is missing or invalid.
        return undefined
      }
    },
  }
}

const refuse = async () => {
  throw new Error('The trie is read-only.')
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

/** Returns the key of a position in a block's trie. */
export const positionKey = (position: number): Uint8Array => encodeRlp(rlpNumber(position))

/** Builds the trie of a block's receipts or transactions. Returns its root and its nodes by hash. */
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
