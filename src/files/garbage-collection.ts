/** Parts of garbage collection that all stores share. */
import type { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { storageFailure } from '../shared/errors.ts'
import type { OnError } from '../shared/log.ts'
import { type BlockSource, ifThere, isNamedBy } from './block-reader.ts'
import { blockName, linksOf, parseCid } from './cids.ts'

/** Maximum load factor. Lookups slow down above it. */
const MAX_LOAD = 0.6
const FIRST_SLOTS = 4_096
/** Ten base32 letters of a name are the key: 50 bits of its hash. All names have the same letters before them. */
const [FROM, TO] = [5, 15]

const keyOf = (name: string): number => {
  let key = 0
  for (let at = FROM; at < TO; at += 1) {
    const code = name.charCodeAt(at) || 65
    key = key * 32 + (code >= 65 ? code - 65 : code - 24)
  }
  // 0 marks an empty slot.
  return key + 1
}

/** A set of block names. */
export interface CompactHashSet {
  has(name: string): boolean
  add(name: string): void
}

/**
 * Creates a set for many millions of block names, which a `Set` cannot hold. It takes 14 to 27 bytes per name. With forty million names, one of
 * thirty million other names is a false positive: garbage that stays.
 */
export const createCompactHashSet = (): CompactHashSet => {
  let slots = new Float64Array(FIRST_SLOTS)
  let count = 0

  const slotOf = (key: number) => {
    let at = key % slots.length
    while (slots[at] !== 0 && slots[at] !== key) at = (at + 1) % slots.length
    return at
  }
  const grow = () => {
    const old = slots
    slots = new Float64Array(old.length * 2)
    for (const key of old) if (key !== 0) slots[slotOf(key)] = key
  }

  return {
    has: (name) => slots[slotOf(keyOf(name))] !== 0,
    add(name) {
      const key = keyOf(name)
      const at = slotOf(key)
      if (slots[at] !== 0) return
      slots[at] = key
      count += 1
      if (count > slots.length * MAX_LOAD) grow()
    },
  }
}

/** Passes errors to a listener. Without a listener it collects them, and `throwFirst` throws the first one. */
export const createErrorCollector = (listener: OnError | undefined): { onError: OnError; throwFirst(): void } => {
  const errors: unknown[] = []
  return {
    onError: listener ?? ((_, error) => errors.push(error)),
    throwFirst() {
      if (errors.length > 0) throw storageFailure(errors[0])
    },
  }
}

/** Returns the links of a block. Throws if the bytes do not match its CID. */
const readLinks = (cid: CID, bytes: Uint8Array): CID[] => {
  if (!isNamedBy(cid, bytes)) throw new Error('The block is damaged.')
  return linksOf(cid, bytes)
}

/**
 * Adds the names of all blocks of a DAG to `kept`. Skips missing blocks and does not read leaves. Reports blocks that cannot be read to `onError`,
 * and returns them.
 */
export const markReachable = async (
  blocks: BlockSource,
  root: string,
  kept: CompactHashSet,
  onError: (cid: CID | string, error: unknown) => void,
): Promise<CID[]> => {
  const unread: CID[] = []
  const stack = parsed(root, onError)
  for (let cid = stack.pop(); cid; cid = stack.pop()) {
    const name = blockName(cid)
    if (kept.has(name)) continue
    kept.add(name)
    if (cid.code === raw.code) continue
    try {
      const bytes = await ifThere(blocks.get(cid))
      for (const link of bytes ? readLinks(cid, bytes) : []) stack.push(link)
    } catch (error) {
      onError(cid, error)
      unread.push(cid)
    }
  }
  return unread
}

const parsed = (root: string, onError: OnError): CID[] => {
  try {
    return [parseCid(root)]
  } catch (error) {
    onError(root, error)
    return []
  }
}
