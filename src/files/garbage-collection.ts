import type { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { forEachConcurrent } from '../shared/async.ts'
import { storageFailure } from '../shared/errors.ts'
import type { OnError } from '../shared/log.ts'
import { type BlockSource, ifThere, isNamedBy } from './block-reader.ts'
import { blockName, linksOf, parseCid } from './cids.ts'

/** Maximum load factor of the hash set. Lookups slow down above this load factor. */
const MAX_LOAD = 0.6
const FIRST_SLOTS = 4_096
/** Range of the base32 letters of a block name that form its key (50 bits). All names start with the same letters. */
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

/** Creates a set for millions of block names with little memory. Its false positive rate is one in thirty million. */
const createCompactHashSet = () => {
  let slots = new Float64Array(FIRST_SLOTS)
  let count = 0

  const slotOf = (key: number) => {
    let at = key % slots.length
    while (slots[at] !== 0 && slots[at] !== key) at = (at + 1) % slots.length
    return at
  }

  return {
    has: (name: string) => slots[slotOf(keyOf(name))] !== 0,
    add(name: string) {
      const key = keyOf(name)
      const at = slotOf(key)
      if (slots[at] !== 0) return
      slots[at] = key
      count += 1
      if (count <= slots.length * MAX_LOAD) return
      const old = slots
      slots = new Float64Array(old.length * 2)
      for (const known of old) if (known !== 0) slots[slotOf(known)] = known
    },
  }
}

/** Creates a collector that passes errors to a listener. Without a listener, `throwFirst` throws the first error. */
export const createErrorCollector = (listener: OnError | undefined) => {
  const errors: unknown[] = []
  const onError: OnError = listener ?? ((_, error) => errors.push(error))
  return {
    onError,
    throwFirst() {
      if (errors.length > 0) throw storageFailure(errors[0])
    },
  }
}

export interface DatedBlocks extends BlockSource {
  nameOf(cid: CID): string
  /** Time when a block was last written or renewed, in milliseconds. Undefined if the block is missing. */
  changedAt(cid: CID): Promise<number | undefined>
}

/** Finds the blocks that pinned CIDs reach. Other blocks are garbage if they are older than `before` (ms). */
export const markPinned = async (
  blocks: DatedBlocks,
  pinned: AsyncIterable<string>,
  options: { now: number; grace: number; onError: OnError; cancel: AbortSignal | undefined },
) => {
  const { now, grace, onError, cancel } = options
  const reached = createCompactHashSet()
  let before = now - grace

  const mark = async (cid: CID): Promise<CID[]> => {
    try {
      const bytes = await ifThere(blocks.get(cid))
      if (bytes && !isNamedBy(cid, bytes)) throw new Error('The block is damaged.')
      return bytes ? linksOf(cid, bytes) : []
    } catch (error) {
      onError(blocks.nameOf(cid), error)
      // The descendants of the block are unknown. But the import that renewed the block also renewed them, within the
      // grace period before. So blocks that were renewed since then are kept until this block is repaired or deleted.
      const changedAt = await blocks.changedAt(cid).catch(() => undefined)
      before = Math.min(before, (changedAt ?? Number.NEGATIVE_INFINITY) - grace)
      return []
    }
  }

  await forEachConcurrent(pinned, 16, async (root) => {
    cancel?.throwIfAborted()
    const stack: CID[] = []
    try {
      stack.push(parseCid(root))
    } catch (error) {
      onError(root, error)
    }
    for (let cid = stack.pop(); cid; cid = stack.pop()) {
      const name = blockName(cid)
      if (reached.has(name)) continue
      reached.add(name)
      if (cid.code !== raw.code) for (const link of await mark(cid)) stack.push(link)
    }
  })
  return { reached, before }
}
