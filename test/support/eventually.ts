/** Waits of tests and proofs: they check a condition repeatedly until it holds. */
import { setTimeout as delay } from 'node:timers/promises'

/** Polls until the result is neither `undefined` nor `false`. Throws an error that contains `what` after `milliseconds`. */
export async function until<T>(
  what: string | (() => string),
  look: () => Promise<T | false | undefined> | T | false | undefined,
  milliseconds = 30_000,
  pause = 5,
): Promise<T> {
  const deadline = performance.now() + milliseconds
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) {
      throw new Error(`Not within ${milliseconds / 1000} s: ${typeof what === 'string' ? what : what()}`)
    }
    await delay(pause)
  }
}

/** Polls until the value is truthy, or until `check` accepts it. Returns it. Throws an error with the last value on a timeout. */
export async function eventually<T>(
  look: () => Promise<T> | T,
  check: (value: T) => boolean = Boolean,
  milliseconds = 60_000,
): Promise<T> {
  let seen: { value: T }
  const lastSeen = () => `last seen: ${JSON.stringify(seen.value, null, 2)}`
  const lookAndCheck = async () => {
    seen = { value: await look() }
    return check(seen.value) && seen
  }
  return (await until(lastSeen, lookAndCheck, milliseconds, 20)).value
}

/** Like `eventually`, but reads in order: `await poll(readRows).until((rows) => rows.length === 1)`. */
export const poll = <T>(look: () => Promise<T> | T) => ({
  until: (check: (value: T) => boolean) => eventually(look, check),
})
