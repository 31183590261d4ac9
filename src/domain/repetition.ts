/** Milliseconds. */
const DEFAULT_QUIET_MS = 60_000
/** Texts that are remembered. */
const MEMORY = 500

/** Of something that was to be told: how often it came untold since it was told last. */
export interface Repetition {
  untold: number
}

/**
 * For what may come with each request, such as a database that is away: the same text is told once in `quiet` milliseconds.
 * Returns what decides about a text: undefined when it is not to be told now.
 */
export function createRepetition(quiet = DEFAULT_QUIET_MS, now = () => performance.now()) {
  const told = new Map<string, { at: number; untold: number }>()
  return (text: string): Repetition | undefined => {
    const last = told.get(text)
    if (last && now() - last.at < quiet) {
      last.untold += 1
      return undefined
    }
    told.delete(text)
    told.set(text, { at: now(), untold: 0 })
    const [oldest] = told.keys()
    if (told.size > MEMORY && oldest !== undefined) told.delete(oldest)
    return { untold: last?.untold ?? 0 }
  }
}
