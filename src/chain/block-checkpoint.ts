/** The position of a chain scan and hashes of earlier blocks, to detect a reorg: each of the newest 128 blocks, and exponentially fewer older ones. */
import { type BlockReply, contradiction, type Rpc } from './rpc.ts'
import { type BlockId, readBlockHashes } from './view.ts'

/** A scanned block. `time` is in Unix seconds; checkpoints of earlier versions do not have it. */
export type PassedBlock = BlockId & { time?: number | undefined }
/** Scanned blocks, newest first. */
export type Trail = readonly [PassedBlock, ...PassedBlock[]]

export const passedBlockOf = ({ number, hash, timestamp: time }: BlockReply): PassedBlock => {
  return { number: Number(number), hash, time: Number(time) }
}

/** Number of newest blocks that are all kept. Chains finalize blocks in fewer. */
const EACH = 128

export const writeTrail = (trail: Trail): string =>
  JSON.stringify(trail.map(({ number, hash, time }) => [number, hash, time]))

/** Parses a trail. Throws TypeError or SyntaxError if the text is invalid. */
export function readTrail(text: string): Trail {
  const stored = JSON.parse(text) as [number, string, (number | null)?][]
  const [newest, ...rest] = stored.map(([number, hash, time]) => ({ number, hash, time: time ?? undefined }))
  if (!newest) throw new TypeError('A trail has at least one block.')
  return [newest, ...rest]
}

/** Adds a block to a trail. Of the older blocks at a distance of 2ⁿ to 2ⁿ⁺¹, keeps only the oldest. */
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

const BATCH = 20

/** Returns the trail from its newest block that is still on the chain, or undefined. Throws UNAVAILABLE, also if the node lacks a block below its head. */
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
    // The ancestors of a canonical block are canonical too.
    if (index >= 0) return [trail[start + index]!, ...trail.slice(start + index + 1)]
  }
  return undefined
}

/** Returns true if the chain was reset and took another branch. Timestamps increase along a chain, so a lower block with a later time is on another one. */
export function isOtherBranch(trail: Trail, head: PassedBlock): boolean {
  const passed = trail.find(({ number }) => number === head.number)
  if (passed) return passed.hash !== head.hash
  const { time } = trail[0]
  return time !== undefined && head.time !== undefined && head.time > time
}
