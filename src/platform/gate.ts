/** So many at once, and the others wait their turn for a while. */
import { DomainError } from '../domain/errors.ts'
import type { Gate } from '../domain/ports/gate.ts'
import type { QueueLoad } from '../domain/telemetry.ts'
import { removeItem } from './remove-item.ts'

/** Lets everything in. */
export const openGate: Gate = (work) => work()

/** A gate that tells how full it is. */
export type WatchedGate = Gate & { load(): QueueLoad }

/** How many are let in, and how many wait for how long. */
export interface GateOptions {
  places: number
  /** How many may wait. */
  queue: number
  /** Milliseconds that one waits at most. */
  patience: number
  /** What there is too much of, as the beginning of a sentence. */
  what: string
  /** Places that one key holds at most, where work may take longer than others are patient. All when left out. */
  perKey?: number
}

/**
 * A gate that lets `places` in at once; the others wait, for `patience` milliseconds at most. A place goes to those whose keys hold the
 * fewest, of them to whoever waits longest, and no key takes more than half of the queue: who asks without end waits for themselves.
 * Raises UNAVAILABLE to those who wait too long or are too many.
 */
export function createGate({ places, queue, patience, what, perKey = places }: GateOptions): WatchedGate {
  const queuePerKey = Math.ceil(queue / 2)
  let free = places
  let refused = 0
  const held = createCounts()
  const queued = createCounts()
  const waiting: Waiter[] = []
  const refusal = () => {
    refused += 1
    const message = `${what} are asked for too often right now. Try again shortly.`
    return new DomainError('UNAVAILABLE', message, { retryAfter: 2 })
  }
  const heldBy = (keys: readonly string[]) => Math.max(0, ...keys.map(held.of))
  const mayEnter = (keys: readonly string[]) => free > 0 && heldBy(keys) < perKey
  const take = (keys: readonly string[]) => {
    free -= 1
    held.add(keys, 1)
  }

  const turn = (keys: readonly string[]) =>
    new Promise<void>((resolve, reject) => {
      if (waiting.length >= queue || keys.some((key) => queued.of(key) >= queuePerKey)) return reject(refusal())
      const leave = () => {
        clearTimeout(timer)
        removeItem(waiting, waiter)
        queued.add(keys, -1)
      }
      const waiter = {
        keys,
        go() {
          leave()
          take(keys)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        leave()
        reject(refusal())
      }, patience)
      waiting.push(waiter)
      queued.add(keys, 1)
    })

  /** Of those who wait; undefined when nobody may enter. */
  function next() {
    let first: { waiter: Waiter; holds: number } | undefined
    for (const waiter of waiting) {
      const holds = heldBy(waiter.keys)
      if (holds < perKey && holds < (first?.holds ?? Number.POSITIVE_INFINITY)) first = { waiter, holds }
      if (first?.holds === 0) break
    }
    return first?.waiter
  }

  const giveBack = (keys: readonly string[]) => {
    free += 1
    held.add(keys, -1)
    // One who goes may have kept several waiting, each for another key.
    for (let waiter = next(); waiter && free > 0; waiter = next()) waiter.go()
  }

  const enter: Gate = async (work, keys = []) => {
    if (mayEnter(keys)) take(keys)
    else await turn(keys)
    try {
      return await work()
    } finally {
      giveBack(keys)
    }
  }
  return Object.assign(enter, {
    load: () => ({ places, running: places - free, waiting: waiting.length, refused }),
  })
}

interface Waiter {
  keys: readonly string[]
  go(): void
}

/** How many there are of each key; those of which there are none take no room. */
function createCounts() {
  const counts = new Map<string, number>()
  const of = (key: string) => counts.get(key) ?? 0
  return {
    of,
    add(keys: readonly string[], change: 1 | -1) {
      for (const key of keys) {
        const count = of(key) + change
        if (count > 0) counts.set(key, count)
        else counts.delete(key)
      }
    },
  }
}
