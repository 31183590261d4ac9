/**
 * Remembers what failed and when to try it again: at first soon, then ever later. In memory: after a restart everything
 * is tried at once, which is what an operator who has mended something wants.
 */
export interface Setbacks {
  /** Whether it is to be tried now. */
  isDue(id: string): boolean
  /** It failed. Returns the seconds until it is to be tried again. */
  note(id: string): number
  /** It worked, or is gone. */
  forget(id: string): void
  /** What is not to be tried now. */
  resting(): string[]
}

/** Seconds: the first pause, and the longest. Each is twice the one before. */
export function createSetbacks({ first, longest }: { first: number; longest: number }): Setbacks {
  const known = new Map<string, { pause: number; until: number }>()
  const isResting = ({ until }: { until: number }) => until > performance.now()
  return {
    isDue(id) {
      const setback = known.get(id)
      return !setback || !isResting(setback)
    },
    note(id) {
      const pause = Math.min(longest, (known.get(id)?.pause ?? first / 2) * 2)
      known.set(id, { pause, until: performance.now() + pause * 1_000 })
      return pause
    },
    forget(id) {
      known.delete(id)
    },
    resting: () => [...known].filter(([, setback]) => isResting(setback)).map(([id]) => id),
  }
}
