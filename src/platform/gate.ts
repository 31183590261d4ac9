/** Concurrency limit with a fair queue. */
import { DomainError } from '../domain/errors.ts'
import type { Asker, Gate } from '../domain/ports/gate.ts'
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
  /** Places that one trusted service holds at most. All when left out. */
  perService?: number
}

/**
 * Creates a gate that lets `places` operations run at once. The others wait for at most `patience` milliseconds. A free place goes to the
 * asker that holds the fewest places; among equals, to the one that waits longest. No account, network or service takes more than half of
 * the queue. Throws UNAVAILABLE when the queue is full or the wait is over.
 */
export function createGate({
  places,
  queue,
  patience,
  what,
  perKey = places,
  perService = places,
}: GateOptions): WatchedGate {
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
  const heldBy = (asker: Asker) => Math.max(0, ...keysOf(asker).map(held.of))
  const hasShare = ({ keys, service }: Asker) =>
    keys.every((key) => held.of(key) < perKey) && (service === undefined || held.of(service) < perService)
  const take = (asker: Asker) => {
    free -= 1
    held.add(keysOf(asker), 1)
  }

  const turn = (asker: Asker) =>
    new Promise<void>((resolve, reject) => {
      const keys = keysOf(asker)
      if (waiting.length >= queue || keys.some((key) => queued.of(key) >= queuePerKey)) return reject(refusal())
      const leave = () => {
        clearTimeout(timer)
        removeItem(waiting, waiter)
        queued.add(keys, -1)
      }
      const waiter = {
        asker,
        go() {
          leave()
          take(asker)
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

  /** The waiter that gets the next place; undefined when nobody may enter. */
  function next() {
    let first: { waiter: Waiter; holds: number } | undefined
    for (const waiter of waiting) {
      const holds = heldBy(waiter.asker)
      if (hasShare(waiter.asker) && holds < (first?.holds ?? Number.POSITIVE_INFINITY)) first = { waiter, holds }
      if (first?.holds === 0) break
    }
    return first?.waiter
  }

  const release = (asker: Asker) => {
    free += 1
    held.add(keysOf(asker), -1)
    // The asker may have kept several others waiting, each because of another key.
    for (let waiter = next(); waiter && free > 0; waiter = next()) waiter.go()
  }

  const enter: Gate = async (work, asker = { keys: [] }) => {
    if (free > 0 && hasShare(asker)) take(asker)
    else await turn(asker)
    try {
      return await work()
    } finally {
      release(asker)
    }
  }
  return Object.assign(enter, {
    load: () => ({ places, running: places - free, waiting: waiting.length, refused }),
  })
}

interface Waiter {
  asker: Asker
  go(): void
}

const keysOf = ({ keys, service }: Asker) => (service === undefined ? keys : [...keys, service])

/** Counts by key. Keys without a count take no memory. */
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
