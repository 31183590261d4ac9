/**
 * Where a scan stands, and blocks it has passed: close together near its end and ever farther apart behind, so that a
 * few of them tell how far back a chain has changed. Written as JSON text, newest block first. Time never runs back on a chain:
 * a lower block that is younger than the newest one here is of another.
 */
import type { BlockId } from './view.ts'

/** `time`: Unix seconds; left out by earlier versions. */
export type PassedBlock = BlockId & { time?: number | undefined }
/** Blocks that a scan has passed, the newest first. */
export type Trail = readonly [PassedBlock, ...PassedBlock[]]

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

/** The trail after another block: of the blocks that lie 2ⁿ to 2ⁿ⁺¹ behind it, only the oldest stays. */
export function extendTrail(trail: readonly PassedBlock[], block: PassedBlock): Trail {
  const oldest = new Map<number, PassedBlock>()
  for (const passed of trail) oldest.set(Math.floor(Math.log2(block.number - passed.number)), passed)
  return [block, ...oldest.values()]
}
