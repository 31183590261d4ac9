/** When to tell of trouble: once for as long as it lasts, and of what comes and goes once in a while. */
export interface Teller {
  /** Whether to tell of it: it is another one than before, and was not told lately. */
  begins(trouble: string): boolean
  /** There is no trouble any more. Returns whether the one that is over was told. */
  ends(): boolean
}

/** Milliseconds. A node that fails every other time would fill the log. */
const defaultQuiet = 600_000
/** Texts that are remembered; they may name transactions. */
const memory = 50

export function createTeller(quiet = defaultQuiet): Teller {
  const told = new Map<string, number>()
  let current: { trouble: string; isTold: boolean } | undefined
  return {
    begins(trouble) {
      if (current?.trouble === trouble) return false
      const isTold = performance.now() - (told.get(trouble) ?? -Infinity) >= quiet
      current = { trouble, isTold }
      if (!isTold) return false
      told.delete(trouble)
      told.set(trouble, performance.now())
      const [oldest] = told.keys()
      if (told.size > memory && oldest !== undefined) told.delete(oldest)
      return true
    },
    ends() {
      const wasTold = current?.isTold ?? false
      current = undefined
      return wasTold
    },
  }
}
