/** Reports the error of one item. The other items are still processed. */
export type OnError = (item: string, error: unknown) => void

/** A log of JSON lines. Neither fields nor messages contain secrets. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Log
}

const DEFAULT_QUIET_MS = 60_000
/** Maximum number of remembered texts. */
const MAX_REMEMBERED = 500

/** A line to log now. */
export interface ThrottledLine {
  /** Number of times the line was left out since it was last logged. */
  suppressed: number
}

/**
 * Creates a rate limit for repeated lines: the same text is logged once in `quiet` milliseconds. The returned function returns undefined
 * for a text that should not be logged now.
 */
export function createLogThrottle(quiet = DEFAULT_QUIET_MS, now = () => performance.now()) {
  const logged = new Map<string, { at: number; suppressed: number }>()
  return (text: string): ThrottledLine | undefined => {
    const last = logged.get(text)
    if (last && now() - last.at < quiet) {
      last.suppressed += 1
      return undefined
    }
    logged.delete(text)
    logged.set(text, { at: now(), suppressed: 0 })
    const [oldest] = logged.keys()
    if (logged.size > MAX_REMEMBERED && oldest !== undefined) logged.delete(oldest)
    return { suppressed: last?.suppressed ?? 0 }
  }
}
