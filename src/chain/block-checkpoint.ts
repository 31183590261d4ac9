/**
 * Where a scan stands, and blocks it has passed: each of the newest 128, and behind them ever fewer, so that a few of them tell how far back
 * a chain has changed: to the block where that is not deep, and about as far where it is. Written as JSON text, newest block first. Time
 * never runs back on a chain: a lower block that is younger than the newest one here is of another.
 */
import type { BlockReply } from './replies.ts'
import { contradiction, type Rpc } from './rpc.ts'
import { type BlockId, readBlockHashes } from './view.ts'

/** `time`: Unix seconds; left out by earlier versions. */
export type PassedBlock = BlockId & { time?: number | undefined }
/** Blocks that a scan has passed, the newest first. */
export type Trail = readonly [PassedBlock, ...PassedBlock[]]

/** A block as a trail has it. */
export const passedBlockOf = ({ number, hash, timestamp }: BlockReply): PassedBlock => ({
  ...{ number: Number(number), hash, time: Number(timestamp) },
})

/** Blocks of which each is remembered: more than any chain of note takes to call a block final. */
const EACH = 128

/** A trail as text, as `readTrail` reads it. */
export const writeTrail = (trail: Trail): string =>
  JSON.stringify(trail.map(({ number, hash, time }) => [number, hash, ...(time === undefined ? [] : [time])]))

/** A trail from its text. Raises a TypeError or SyntaxError when the text is none. */
export function readTrail(text: string): Trail {
  const [newest, ...rest] = (JSON.parse(text) as [number, string, number?][]).map(([number, hash, time]) => ({
    ...{ number, hash },
    ...(time !== undefined && { time }),
  }))
  if (!newest) throw new TypeError('A trail has at least one block.')
  return [newest, ...rest]
}

/** The trail after another block: of the blocks that lie 2ⁿ to 2ⁿ⁺¹ behind it and are not among the newest, only the oldest stays. */
export function extendTrail(trail: readonly PassedBlock[], block: PassedBlock): Trail {
  const near: PassedBlock[] = []
  const oldest = new Map<number, PassedBlock>()
  for (const passed of trail) {
    const distance = block.number - passed.number
    if (distance < EACH) near.push(passed)
    else oldest.set(Math.floor(Math.log2(distance)), passed)
  }
  return [block, ...near, ...oldest.values()]
}

/** Blocks of a trail that are held against the chain at once. */
const BATCH = 20

/**
 * The newest block of a trail that the chain still has, with those behind it; undefined when it has none of them. Raises UNAVAILABLE, also when the node
 * shows no block at all where there must be one: it syncs, and says nothing of the chain.
 */
export async function findFork(rpc: Rpc, trail: Trail, head: BlockId): Promise<Trail | undefined> {
  for (let start = 0; start < trail.length; start += BATCH) {
    const part = trail.slice(start, start + BATCH)
    const canonical = await readBlockHashes(
      rpc,
      part.map(({ number }) => number),
    )
    const index = part.findIndex(({ number, hash }) => canonical.get(number) === hash)
    const passed = index < 0 ? part : part.slice(0, index)
    if (passed.some(({ number }) => number <= head.number && canonical.get(number) === undefined))
      throw contradiction(rpc)
    // What a block descends from is on the chain with it.
    if (index >= 0) return [trail[start + index]!, ...trail.slice(start + index + 1)]
  }
  return undefined
}

/**
 * Whether a chain that is no longer than the trail has gone on another way: one that was put back to an earlier moment. A node that is
 * merely behind others is not.
 */
export function isAnother(trail: Trail, head: PassedBlock): boolean {
  const passed = trail.find(({ number }) => number === head.number)
  if (passed) return passed.hash !== head.hash
  const { time } = trail[0]
  return time !== undefined && head.time !== undefined && head.time > time
}
