import { setTimeout as delay } from 'node:timers/promises'

/** Looks again and again until there is an answer. Raises when there is none within `milliseconds`. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  milliseconds = 30_000,
  pause = 5,
): Promise<T> {
  const deadline = performance.now() + milliseconds
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`Not within ${milliseconds / 1000} s: ${what}`)
    await delay(pause)
  }
}
