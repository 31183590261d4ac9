/** How many blocks a node is asked for at once: nodes allow some thousands, ours all of them, and none says so before. */

const FIRST_RANGE = 2_000
const LARGEST_RANGE = 100_000
/** Ranges after which one is tried again that was refused: what lies in the blocks may have been too much, and not their number. */
const FORGOTTEN_AFTER = 50

/** A size that grows while ranges are answered, and stays at what was answered last for a while when a larger one is refused. */
export interface BlockRange {
  readonly size: number
  /** So many blocks were answered. */
  answered(asked: number): void
  /** So many were refused. Returns whether there is something smaller to ask for. */
  refused(asked: number): boolean
}

/** A range of which nothing is known yet. */
export function createBlockRange(): BlockRange {
  let size = FIRST_RANGE
  let ceiling = LARGEST_RANGE
  let last = 0
  let since = 0
  return {
    get size() {
      return size
    },
    answered(asked) {
      last = asked
      since += 1
      if (since >= FORGOTTEN_AFTER) {
        since = 0
        ceiling = Math.min(ceiling * 2, LARGEST_RANGE)
      }
      size = Math.min(size * 2, ceiling)
    },
    refused(asked) {
      since = 0
      const half = Math.max(Math.floor(asked / 2), 1)
      size = last < asked ? Math.max(half, last) : half
      ceiling = size
      return asked > 1
    },
  }
}
