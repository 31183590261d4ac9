/**
 * Where a scan stands, and blocks it has passed: close together near its end and ever farther apart behind, so that a
 * few of them tell how far back a chain has changed. Written as JSON text, newest block first.
 */
import type { BlockId } from './view.ts'

export type Trail = readonly [BlockId, ...BlockId[]]

export const writeTrail = (trail: Trail): string => JSON.stringify(trail.map(({ number, hash }) => [number, hash]))

/** Raises when the text is not a trail. */
export function readTrail(text: string): Trail {
  const [newest, ...rest] = (JSON.parse(text) as [number, string][]).map(([number, hash]) => ({ number, hash }))
  if (!newest) throw new TypeError('A trail has at least one block.')
  return [newest, ...rest]
}

/** The trail after another block: of the blocks that lie 2ⁿ to 2ⁿ⁺¹ behind it, only the oldest stays. */
export function extendTrail(trail: readonly BlockId[], block: BlockId): Trail {
  const oldest = new Map<number, BlockId>()
  for (const passed of trail) oldest.set(Math.floor(Math.log2(block.number - passed.number)), passed)
  return [block, ...oldest.values()]
}
