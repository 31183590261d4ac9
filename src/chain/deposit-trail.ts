/**
 * Where a scan stands, and blocks it has passed: each of the newest 128, and behind them ever fewer, so that a few of them tell how far back
 * a chain has changed: to the block where that is not deep, and about as far where it is. Written as JSON text, newest block first. Time
 * never runs back on a chain: a lower block that is younger than the newest one here is of another.
 */
import type { BlockId } from './view.ts'

/** `time`: Unix seconds; left out by earlier versions. */
export type PassedBlock = BlockId & { time?: number | undefined }
/** Blocks that a scan has passed, the newest first. */
export type Trail = readonly [PassedBlock, ...PassedBlock[]]

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
