/** A seeded random number generator. The same seed gives the same schedule. */
export interface Random {
  /** Returns a number that is at least 0 and below 1. */
  next(): number
  /** Returns an integer from 0 to below `end`. */
  below(end: number): number
  pick<T>(list: readonly T[]): T
  shuffle<T>(list: readonly T[]): T[]
  /** Returns an independent generator, so that concurrent parts do not change each other's sequence. */
  fork(name: string): Random
}

const hash = (text: string) => {
  let value = 2166136261
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 16777619)
  return value >>> 0
}

export function createRandom(seed: string): Random {
  let state = hash(seed)
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    next,
    below,
    pick: (list) => list[below(list.length)]!,
    shuffle(list) {
      const shuffled = [...list]
      for (let last = shuffled.length - 1; last > 0; last -= 1) {
        const other = below(last + 1)
        ;[shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!]
      }
      return shuffled
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  }
}
