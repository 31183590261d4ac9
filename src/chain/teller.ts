import { createRepetition } from '../domain/repetition.ts'

/** When to tell of trouble: once for as long as it lasts, and of what comes and goes once in a while. */
export interface Teller {
  /** Whether to tell of it: it is another one than before, and was not told lately. */
  begins(trouble: string): boolean
  /** There is no trouble any more. Returns whether the one that is over was told. */
  ends(): boolean
}

/** Milliseconds. A node that fails every other time would fill the log. */
const defaultQuiet = 600_000

/** A teller that has told nothing yet. `quiet`: milliseconds within which the same trouble is told once, also when it ends and comes back. */
export function createTeller(quiet = defaultQuiet): Teller {
  const repetition = createRepetition(quiet)
  let current: { trouble: string; isTold: boolean } | undefined
  return {
    begins(trouble) {
      if (current?.trouble === trouble) return false
      current = { trouble, isTold: repetition(trouble) !== undefined }
      return current.isTold
    },
    ends() {
      const wasTold = current?.isTold ?? false
      current = undefined
      return wasTold
    },
  }
}
