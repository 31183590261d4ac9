/** Keyed semaphore with a fair queue. */
import type { QueueLoad } from '../telemetry/telemetry-types.ts'
import { removeItem } from './async.ts'
import { DomainError } from './errors.ts'

/** The caller of an operation, and how many places the operation takes. */
export interface Holder {
  /** Account, address and service. Each key has a share of its own. Without keys only the total is limited. */
  keys?: readonly string[]
  /** 1 when missing. */
  size?: number
}

/** Runs a limited number of operations at once. The others wait in a bounded queue. Throws when the queue is full or the wait is over. */
export interface Semaphore {
  <T>(work: () => Promise<T>, holder?: Holder): Promise<T>
  /** Returns whether an operation would start immediately. */
  isFree(holder?: Holder): boolean
  load(): QueueLoad
}

/** Limits of running and waiting operations. */
export interface SemaphoreOptions {
  /** Operations that run at once. Unlimited when missing. */
  places?: number
  /** Places that one key holds at most; by key for a function. An operation that is larger runs alone. Unlimited when missing. */
  perKey?: number | ((key: string) => number)
  /** Operations that wait. */
  queue: number
  /** Waiting operations of one key; by key for a function. Half of the queue when missing, so that no caller fills it. */
  queuePerKey?: number | ((key: string) => number)
  /** Longest wait, in milliseconds. */
  maxWait: number
  /** Name of the operations in the error message, such as `Exports`. */
  name: string
  /** Returns the error of an operation that cannot wait. UNAVAILABLE when missing. */
  reject?: () => Error
}

interface Waiter extends Required<Holder> {
  order: number
  start(): void
}

/** Places that a key holds and waits for, and the time when it was served last. */
interface KeyState {
  held: number
  waiting: number
  servedAt: number
}

const noState: Readonly<KeyState> = { held: 0, waiting: 0, servedAt: 0 }

/**
 * Creates a semaphore. A free place goes to the caller whose keys hold the fewest places, among equals to the one that was served least
 * recently, and then to the one that waits longest. Operations of one caller start in order.
 */
export function createSemaphore(options: SemaphoreOptions): Semaphore {
  const { places = Number.POSITIVE_INFINITY, perKey = Number.POSITIVE_INFINITY, queue, maxWait, name } = options
  const { queuePerKey = Math.ceil(queue / 2) } = options
  const maxOf = typeof perKey === 'number' ? () => perKey : perKey
  const maxWaitingOf = typeof queuePerKey === 'number' ? () => queuePerKey : queuePerKey
  const states = new Map<string, KeyState>()
  /** Waiting operations by caller. Only the first of each caller can start. */
  const queues = new Map<string, Waiter[]>()
  let running = 0
  let waiting = 0
  let rejected = 0
  let order = 0

  const stateOf = (key: string) => states.get(key) ?? noState
  const queueOf = (keys: readonly string[]) => keys.join(' ')

  function change(keys: readonly string[], field: 'held' | 'waiting', by: number) {
    for (const key of keys) {
      const state = states.get(key) ?? { ...noState }
      state[field] += by
      if (field === 'held' && by > 0) state.servedAt = order
      if (state.held === 0 && state.waiting === 0) states.delete(key)
      else states.set(key, state)
    }
  }

  const hasPlace = ({ keys, size }: Required<Holder>) =>
    running < places && keys.every((key) => stateOf(key).held === 0 || stateOf(key).held + size <= maxOf(key))

  function enter({ keys, size }: Required<Holder>) {
    order += 1
    running += 1
    change(keys, 'held', size)
  }

  function leave({ keys, size }: Required<Holder>) {
    running -= 1
    change(keys, 'held', -size)
    startWaiting()
  }

  /** Sums over all keys, so that among the accounts at one address the one that was served least recently comes first. */
  const rank = ({ keys }: Waiter) => {
    let held = 0
    let servedAt = 0
    for (const key of keys) {
      const state = stateOf(key)
      held += state.held
      servedAt += state.servedAt
    }
    return [held, servedAt] as const
  }

  /** Returns the waiting operation that starts next, or undefined. */
  function next(): Waiter | undefined {
    let best: { waiter: Waiter; rank: readonly [number, number] } | undefined
    for (const [waiter] of queues.values()) {
      if (!waiter || !hasPlace(waiter)) continue
      const ranked = rank(waiter)
      const difference = best ? ranked[0] - best.rank[0] || ranked[1] - best.rank[1] : -1
      if (difference < 0 || (difference === 0 && waiter.order < best!.waiter.order)) best = { waiter, rank: ranked }
    }
    return best?.waiter
  }

  function startWaiting() {
    if (waiting === 0) return
    for (let waiter = next(); waiter; waiter = next()) waiter.start()
  }

  function reject(): Error {
    rejected += 1
    if (options.reject) return options.reject()
    return new DomainError('UNAVAILABLE', `${name}: too many requests right now. Try again shortly.`, { retryAfter: 2 })
  }

  const wait = (holder: Required<Holder>) =>
    new Promise<void>((resolve, fail) => {
      const { keys } = holder
      if (waiting >= queue || keys.some((key) => stateOf(key).waiting >= maxWaitingOf(key))) return fail(reject())
      const id = queueOf(keys)
      const line = queues.get(id) ?? []
      queues.set(id, line)
      const stopWaiting = () => {
        clearTimeout(timer)
        removeItem(line, waiter)
        if (line.length === 0) queues.delete(id)
        waiting -= 1
        change(keys, 'waiting', -1)
      }
      order += 1
      const waiter: Waiter = {
        ...holder,
        order,
        start() {
          enter(holder)
          stopWaiting()
          resolve()
        },
      }
      const timer = setTimeout(() => {
        stopWaiting()
        fail(reject())
        // A smaller operation of this caller may have waited behind it.
        startWaiting()
      }, maxWait)
      line.push(waiter)
      waiting += 1
      change(keys, 'waiting', 1)
    })

  const isFree = ({ keys = [], size = 1 }: Holder = {}) =>
    hasPlace({ keys, size }) && (waiting === 0 || !queues.has(queueOf(keys)))

  const run = async <T>(work: () => Promise<T>, { keys = [], size = 1 }: Holder = {}): Promise<T> => {
    const holder = { keys, size }
    if (isFree(holder)) enter(holder)
    else await wait(holder)
    try {
      return await work()
    } finally {
      leave(holder)
    }
  }

  return Object.assign(run, {
    isFree,
    load: () => ({ places, running, waiting, refused: rejected }),
  })
}
