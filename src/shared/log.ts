/** Reports the error of one item of a batch, whose other items are still processed. */
export type OnError = (item: string, error: unknown) => void

/** Neither fields nor messages may contain secrets. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Log
}

const MAX_TEXTS = 500

/** Allows one line per text in `quiet` milliseconds. Returns the number of suppressed lines since the last one, or undefined. */
export function createLogThrottle(quiet = 60_000, now = () => performance.now()) {
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
