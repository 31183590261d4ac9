/** Milliseconds. */
const DEFAULT_QUIET_MS = 60_000
/** Texts that are remembered. */
const MEMORY = 500

/** A line that is to be logged: how often it was suppressed since it was logged last. */
export interface ThrottledLine {
  untold: number
}

/**
 * For what may come with each request, such as a database that is away: the same text is logged once in `quiet` milliseconds.
 * Returns what decides about a text: undefined when it is not to be logged now.
 */
export function createLogThrottle(quiet = DEFAULT_QUIET_MS, now = () => performance.now()) {
  const logged = new Map<string, { at: number; untold: number }>()
  return (text: string): ThrottledLine | undefined => {
    const last = logged.get(text)
    if (last && now() - last.at < quiet) {
      last.untold += 1
      return undefined
    }
    logged.delete(text)
    logged.set(text, { at: now(), untold: 0 })
    const [oldest] = logged.keys()
    if (logged.size > MEMORY && oldest !== undefined) logged.delete(oldest)
    return { untold: last?.untold ?? 0 }
  }
}
