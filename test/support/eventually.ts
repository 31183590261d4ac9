import { setTimeout as delay } from 'node:timers/promises'

const POLL_MILLISECONDS = 20

/** Looks again and again until `check` holds. Raises with what was seen last. */
export async function eventually<T>(
  look: () => Promise<T> | T,
  check: (value: T) => boolean,
  milliseconds = 60_000,
): Promise<T> {
  const deadline = performance.now() + milliseconds
  for (;;) {
    const value = await look()
    if (check(value)) return value
    if (performance.now() > deadline) {
      throw new Error(`Not within ${milliseconds} ms; last seen: ${JSON.stringify(value, null, 2)}`)
    }
    await delay(POLL_MILLISECONDS)
  }
}
