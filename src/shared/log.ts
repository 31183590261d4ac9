/** Reports the error of one item of a batch. The other items are still processed. */
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
/** Maximum number of texts whose last log time is stored. */
const MAX_TEXTS = 500

/**
 * Creates a rate limit for repeated log lines: one line per text in `quiet` milliseconds. The returned function returns the
 * number of suppressed lines since the last one, or undefined if the text must not be logged now.
 */
export function createLogThrottle(quiet = DEFAULT_QUIET_MS, now = () => performance.now()) {
  const logged = new Map<string, { at: number; suppressed: number }>()
  return (text: string): { suppressed: number } | undefined => {
    const last = logged.get(text)
    if (last && now() - last.at < quiet) {
      last.suppressed += 1
      return undefined
    }
    logged.delete(text)
    logged.set(text, { at: now(), suppressed: 0 })
    const [oldest] = logged.keys()
    if (logged.size > MAX_TEXTS && oldest !== undefined) logged.delete(oldest)
    return { suppressed: last?.suppressed ?? 0 }
  }
}
