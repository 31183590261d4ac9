/** Limits: rate limits in the database and in memory, and semaphores with a fair queue. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Database } from '../db/database-types.ts'
import { arrayOf, boolean, float, int, joinedStatement, statement, text } from '../db/sql.ts'
import type { Meter, QueueLoad } from '../telemetry/telemetry-types.ts'
import { createBatchLoader, removeItem } from './async.ts'
import { DomainError, throttled } from './errors.ts'
import { type Limits, limitRules, type RateLimitName } from './limits.ts'
import type { Actor, Caller } from './policy.ts'

/** Returns the network of an address. One IPv6 customer has at least 2^64 addresses, which count as one. Expects `2001:db8:0:0:0:0:0:1`. */
export const networkOf = (address: string) =>
  address.includes(':') ? `${address.split(':', 4).join(':')}::/64` : address

const addressKey = ({ address }: Caller) => `address:${networkOf(address)}`
const serviceKey = ({ service }: Caller) => (typeof service === 'object' ? `service:${service.id}` : undefined)

/** Returns whether a key identifies a trusted service, which acts for many users. */
export const isServiceKey = (key: string) => key.startsWith('service:')

/** Returns the key of the caller of an ordinary operation. A user counts as an account only, because many people may share an address. */
export function rateLimitKey(actor: Actor): string | undefined {
  if (actor.kind === 'system') return actor.guest && rateLimitKey(actor.guest)
  return actor.kind === 'user' ? `user:${actor.id}` : (serviceKey(actor) ?? addressKey(actor))
}

/**
 * Returns the keys of the caller of an expensive operation: the account, and the address or the trusted service. A request with a valid API
 * key comes from a service that acts for many users from one address, so it does not count for the address.
 */
export function rateLimitKeys(actor: Actor): string[] {
  if (actor.kind === 'system') return actor.guest ? rateLimitKeys(actor.guest) : []
  const origin = serviceKey(actor) ?? addressKey(actor)
  return actor.kind === 'user' ? [`user:${actor.id}`, origin] : [origin]
}

/**
 * Counts a hit in a fixed window that starts with the first hit. Concurrent hits get different counts, because the row lock makes
 * statements wait for each other. Hits that arrive together are one statement, so that waiting for the lock uses one connection.
 * `max` bounds the stored count, so rejected hits do not add up.
 */
const countHit = joinedStatement(
  'rate_limit_hit',
  {
    parameters: { key: text, seconds: float, max: int },
    columns: { count: int, retry_after: int },
    apart: [],
  },
  ({ item, place }) => `with ${item},
   turns as materialized (
     select *, row_number() over (partition by key) as turn, count(*) over (partition by key) as hits from item
   ),
   counted as (
     insert into limits as l (key, window_end, count)
       select key, now() + make_interval(secs => seconds), hits from turns where turn = 1 order by key
     on conflict (key) do update set
       count = case when l.window_end <= now() then excluded.count
         else least(l.count, (select t.max from turns t where t.key = l.key and t.turn = 1)) + excluded.count end,
       window_end = case when l.window_end <= now() then excluded.window_end else l.window_end end
     returning key, count, window_end
   )
   select ${place} (c.count - t.hits + t.turn)::int as count,
     greatest(1, ceil(extract(epoch from c.window_end - now())))::int as retry_after
   from counted c join turns t using (key)`,
)

/** Returns the full windows among these, with the seconds until they end. `position` counts from 1. */
const findFull = statement(
  'rate_limit_find',
  { parameters: { keys: arrayOf(text), maxima: arrayOf(int) }, columns: { position: int, retry_after: int } },
  `select asked.position::int, greatest(1, ceil(extract(epoch from l.window_end - now())))::int as retry_after
   from unnest((select $keys), (select $maxima)) with ordinality as asked (key, max, position) join limits l using (key)
   where l.window_end > now() and l.count >= asked.max`,
)

const DELETED_AT_ONCE = 1_000
/** Deletes some windows that have ended. Returns no key, because a key may contain an address. */
const deleteEnded = statement(
  'rate_limit_sweep',
  { parameters: { limit: int }, columns: { deleted: boolean } },
  `delete from limits where key in (
     select key from limits where window_end < now() - interval '1 minute' limit $limit for update skip locked
   ) returning true as deleted`,
)

/** Rate limits that hold for all processes together, by the database clock. */
export type RateLimiter = ReturnType<typeof createRateLimiter>

/** Creates the rate limiter of what costs money or trust. */
export function createRateLimiter(deps: { database: Database; meter: Meter; limits: Limits }) {
  const { database, meter, limits } = deps
  const reject = (name: RateLimitName, seconds: number) => {
    meter.count('annal_limit_rejections_total', { limit: name })
    return throttled(seconds)
  }

  const secondsUntilAvailable = createBatchLoader(async (windows: { key: string; max: number }[]) => {
    const keys = windows.map(({ key }) => key)
    const full = await database.query(findFull, { keys, maxima: windows.map(({ max }) => max) })
    const found = new Map(full.map(({ position, retry_after }) => [position, retry_after]))
    return windows.map((_, index) => found.get(index + 1))
  })

  return {
    /** Throws THROTTLED if another hit would be rejected now. Counts nothing. */
    async assertAvailable(name: RateLimitName, subject: string) {
      const seconds = await secondsUntilAvailable({ key: `${name}:${subject}`, max: limits[name] })
      if (seconds !== undefined) throw reject(name, seconds)
    },
    /** Counts a hit, even if the operation fails later. Throws THROTTLED with the seconds to wait. */
    async consume(name: RateLimitName, subject: string) {
      const max = limits[name]
      const { seconds } = limitRules[name]
      const [hit] = await database.query(countHit, { key: `${name}:${subject}`, seconds, max })
      if (hit!.count > max) throw reject(name, hit!.retry_after)
    },
    /** Deletes windows that have ended. */
    async deleteExpired() {
      while ((await database.query(deleteEnded, { limit: DELETED_AT_ONCE })).length === DELETED_AT_ONCE);
    },
  }
}

/** Requests from one address count for all accounts there together. Five accounts can use their whole quota at the same time. */
const ACCOUNTS_PER_ADDRESS = 5
/** The same for one trusted service, which sends the requests of many users. */
const ACCOUNTS_PER_SERVICE = 20

/** Limits requests, and the other work of a caller, per minute and process. */
export type RequestQuota = ReturnType<typeof createRequestQuota>

/** Creates the quota of requests. It is kept in memory, because a database write would cost more than most requests. */
export function createRequestQuota({ meter, limits }: { meter: Meter; limits: Limits }) {
  const { seconds: duration } = limitRules['requests-per-user']
  const perUser = limits['requests-per-user']
  const quota = (name: string, points: number) => ({ name, limiter: new RateLimiterMemory({ points, duration }) })
  const user = quota('requests-per-user', perUser)
  const address = quota('requests-per-address', perUser * ACCOUNTS_PER_ADDRESS)
  const service = quota('requests-per-service', perUser * ACCOUNTS_PER_SERVICE)
  const anonymous = quota('requests-per-address', limits['requests-per-address'])

  function quotaOf(key: string, { kind }: Actor) {
    if (isServiceKey(key)) return service
    if (kind === 'anonymous') return anonymous
    return key.startsWith('user:') ? user : address
  }

  return {
    /** Counts `cost` requests of a caller: for the account, and for the address or the trusted service. Throws THROTTLED. */
    async consume(caller: Actor, cost: number): Promise<void> {
      for (const key of rateLimitKeys(caller)) {
        const { name, limiter } = quotaOf(key, caller)
        await limiter.consume(key, cost).catch((rejection: unknown) => {
          if (!(rejection instanceof RateLimiterRes)) throw rejection
          meter.count('annal_limit_rejections_total', { limit: name })
          throw throttled(Math.max(1, Math.ceil(rejection.msBeforeNext / 1_000)))
        })
      }
    },
  }
}

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

/** Semaphores of expensive operations. */
export type Semaphores = ReturnType<typeof createSemaphores>

/** Returns the places that a caller may hold. A trusted service acts for many users and may hold more. */
const perKey = (ofService: number) => (key: string) => (isServiceKey(key) ? ofService : 1)

/** Creates the semaphores of a process. */
export const createSemaphores = (meter: Meter) => ({
  // A verification reads a history from the chain block by block, which takes seconds for a long history.
  verifications: createSemaphore({ name: 'Verifications', places: 2, perKey: perKey(2), queue: 20, maxWait: 5_000 }),
  // A proof holds a page of blocks as long as its reader takes.
  proofs: createSemaphore({ name: 'Proofs', places: 6, perKey: perKey(5), queue: 60, maxWait: 5_000 }),
  // An export holds a few megabytes as long as its reader takes.
  exports: createSemaphore({ name: 'Exports', places: 3, perKey: perKey(2), queue: 20, maxWait: 5_000 }),
  // One export per account. A second one is rejected.
  accountExports: createSemaphore({
    ...{ name: 'Exports', perKey: 1, queue: 0, maxWait: 0 },
    reject() {
      meter.count('annal_limit_rejections_total', { limit: 'exports' })
      return throttled(30)
    },
  }),
  // Signing a file takes a core for up to half a minute.
  signedCopies: createSemaphore({
    ...{ name: 'Files with Content Credentials', places: 2, perKey: perKey(2), queue: 20, maxWait: 30_000 },
  }),
  // Guesses at one account wait for each other, so that concurrent requests cannot exceed the limit of wrong guesses.
  passwordGuesses: createSemaphore({
    ...{ name: 'Signing in', perKey: 2, queue: Number.POSITIVE_INFINITY, queuePerKey: 100, maxWait: 30_000 },
    reject: () => throttled(5),
  }),
  // Scaling a picture takes a core for up to ten seconds, and up to 0.7 GB.
  pictures: createSemaphore({
    ...{ name: 'Pictures', places: 1, perKey: perKey(1), queue: 20, maxWait: 20_000 },
    // An account leaves a waiting place for others at its address.
    queuePerKey: (key) => (key.startsWith('user:') ? 2 : 3),
    reject: () => throttled(10),
  }),
})
