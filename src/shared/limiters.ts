/** Limits: rate limits in the database and in memory, and semaphores with a fair queue. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Database } from '../db/database-types.ts'
import { arrayOf, boolean, float, int, joinedStatement, statement, text } from '../db/sql.ts'
import type { Meter, QueueLoad } from '../telemetry/telemetry-types.ts'
import { createBatchLoader, removeItem } from './async.ts'
import { DomainError, throttled } from './errors.ts'
import { type Limits, limitRules, type RateLimitName } from './limits.ts'
import type { Actor, Caller } from './policy.ts'

/** The 2^64 addresses of an IPv6 customer count as one. */
export const networkOf = (address: string) =>
  address.includes(':') ? `${address.split(':', 4).join(':')}::/64` : address

const addressKey = ({ address }: Caller) => `address:${networkOf(address)}`
const serviceKey = ({ service }: Caller) => (typeof service === 'object' ? `service:${service.id}` : undefined)
export const isServiceKey = (key: string) => key.startsWith('service:')

/** A user counts as an account only, because many people may share an address. */
export function rateLimitKey(actor: Actor): string | undefined {
  if (actor.kind === 'system') return actor.guest && rateLimitKey(actor.guest)
  return actor.kind === 'user' ? `user:${actor.id}` : (serviceKey(actor) ?? addressKey(actor))
}

/** Keys for expensive operations. A trusted service acts for many users, so its requests do not count for the address. */
export function rateLimitKeys(actor: Actor): string[] {
  if (actor.kind === 'system') return actor.guest ? rateLimitKeys(actor.guest) : []
  const origin = serviceKey(actor) ?? addressKey(actor)
  return actor.kind === 'user' ? [`user:${actor.id}`, origin] : [origin]
}

/** Concurrent hits are joined into one statement, so that the wait for the row lock uses one connection. */
const countHit = joinedStatement(
  'rate_limit_hit',
  { parameters: { key: text, seconds: float, max: int }, columns: { count: int, retry_after: int }, apart: [] },
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

/** `position`: index of the limit, from 1. */
const findFull = statement(
  'rate_limit_find',
  { parameters: { keys: arrayOf(text), maxima: arrayOf(int) }, columns: { position: int, retry_after: int } },
  `select given.position::int, greatest(1, ceil(extract(epoch from l.window_end - now())))::int as retry_after
   from unnest((select $keys), (select $maxima)) with ordinality as given (key, max, position) join limits l using (key)
   where l.window_end > now() and l.count >= given.max`,
)

const DELETED_AT_ONCE = 1_000
/** Does not return keys, because a key may contain an address. */
const deleteEnded = statement(
  'rate_limit_delete_ended',
  { parameters: { limit: int }, columns: { deleted: boolean } },
  `delete from limits where key in (
     select key from limits where window_end < now() - interval '1 minute' limit $limit for update skip locked
   ) returning true as deleted`,
)

export type RateLimiter = ReturnType<typeof createRateLimiter>

export function createRateLimiter(deps: { database: Database; meter: Meter; limits: Limits }) {
  const { database, meter, limits } = deps
  const reject = (limit: RateLimitName, seconds: number) => {
    meter.count('annal_limit_rejections_total', { limit })
    return throttled(seconds)
  }

  const secondsUntilAvailable = createBatchLoader(async (windows: { key: string; max: number }[]) => {
    const keys = windows.map(({ key }) => key)
    const full = await database.query(findFull, { keys, maxima: windows.map(({ max }) => max) })
    const found = new Map(full.map(({ position, retry_after }) => [position, retry_after]))
    return windows.map((_, index) => found.get(index + 1))
  })

  return {
    async assertAvailable(name: RateLimitName, subject: string) {
      const seconds = await secondsUntilAvailable({ key: `${name}:${subject}`, max: limits[name] })
      if (seconds !== undefined) throw reject(name, seconds)
    },
    /** Counts a hit, even if the operation fails later. Throws THROTTLED. */
    async consume(name: RateLimitName, subject: string) {
      const max = limits[name]
      const { seconds } = limitRules[name]
      const [hit] = await database.query(countHit, { key: `${name}:${subject}`, seconds, max })
      if (hit!.count > max) throw reject(name, hit!.retry_after)
    },
    async deleteExpired() {
      while ((await database.query(deleteEnded, { limit: DELETED_AT_ONCE })).length === DELETED_AT_ONCE);
    },
  }
}

/** Number of accounts at one address that can use their whole quota at the same time. */
const ACCOUNTS_PER_ADDRESS = 5
/** Number of accounts of one trusted service that can use their whole quota at the same time. */
const ACCOUNTS_PER_SERVICE = 20

export type RequestQuota = ReturnType<typeof createRequestQuota>

/** In memory, because a database write would cost more than most requests. */
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
    /** Counts `cost` requests for the account, and for the address or the trusted service. Throws THROTTLED. */
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

export interface Holder {
  /** Each key has its own limit. Without keys, only the total is limited. */
  keys?: readonly string[]
  size?: number
}

/** Throws if the queue is full or the wait is too long. */
export interface Semaphore {
  <T>(work: () => Promise<T>, holder?: Holder): Promise<T>
  isFree(holder?: Holder): boolean
  load(): QueueLoad
}

type LimitOfKey = number | ((key: string) => number)

interface SemaphoreOptions {
  slots?: number
  /** Maximum slots of one key. An operation that needs more runs alone. Default: unlimited. */
  perKey?: LimitOfKey
  queue: number
  /** Default: half of the queue, so that no caller fills it. */
  queuePerKey?: LimitOfKey
  /** In milliseconds. */
  maxWait: number
  /** Name in the error message, such as `Exports`. */
  name: string
  /** Creates the error of an operation that cannot wait. Default: UNAVAILABLE. */
  reject?: () => Error
}

interface Waiter extends Required<Holder> {
  start(): void
}

interface KeyState {
  held: number
  waiting: number
  servedAt: number
}

const noState: Readonly<KeyState> = { held: 0, waiting: 0, servedAt: 0 }
const limitFor = (key: string, limit: LimitOfKey) => (typeof limit === 'number' ? limit : limit(key))

/** A free slot goes to the caller with the fewest slots, then to the least recently served, then to the longest waiting. */
export function createSemaphore(options: SemaphoreOptions): Semaphore {
  const { slots = Number.POSITIVE_INFINITY, perKey = Number.POSITIVE_INFINITY, queue, maxWait, name } = options
  const { queuePerKey = Math.ceil(queue / 2) } = options
  const states = new Map<string, KeyState>()
  /** Only the first waiting operation of each caller can start. */
  const queues = new Map<string, Waiter[]>()
  let running = 0
  let waiting = 0
  let rejected = 0
  let starts = 0

  const stateOf = (key: string) => states.get(key) ?? noState
  const queueOf = (keys: readonly string[]) => keys.join(' ')

  function change(keys: readonly string[], field: 'held' | 'waiting', by: number) {
    for (const key of keys) {
      const state = { ...stateOf(key) }
      state[field] += by
      if (field === 'held' && by > 0) state.servedAt = starts
      if (state.held === 0 && state.waiting === 0) states.delete(key)
      else states.set(key, state)
    }
  }

  const hasPlace = ({ keys, size }: Required<Holder>) =>
    running < slots && keys.every((key) => !stateOf(key).held || stateOf(key).held + size <= limitFor(key, perKey))

  function enter({ keys, size }: Required<Holder>) {
    starts += 1
    running += 1
    change(keys, 'held', size)
  }

  /** Of several accounts at one address, the least recently served is first. */
  const total = ({ keys }: Waiter, field: 'held' | 'servedAt') =>
    keys.reduce((sum, key) => sum + stateOf(key)[field], 0)
  const compare = (one: Waiter, other: Waiter) =>
    total(one, 'held') - total(other, 'held') || total(one, 'servedAt') - total(other, 'servedAt')

  function findNext(): Waiter | undefined {
    let best: Waiter | undefined
    for (const [first] of queues.values()) {
      if (first && hasPlace(first) && (!best || compare(first, best) < 0)) best = first
    }
    return best
  }

  function startWaiting() {
    if (waiting > 0) for (let waiter = findNext(); waiter; waiter = findNext()) waiter.start()
  }

  function reject(): Error {
    rejected += 1
    if (options.reject) return options.reject()
    return new DomainError('UNAVAILABLE', `${name}: too many requests right now. Try again shortly.`, { retryAfter: 2 })
  }

  const wait = (holder: Required<Holder>) =>
    new Promise<void>((resolve, fail) => {
      const { keys } = holder
      const isFull = waiting >= queue || keys.some((key) => stateOf(key).waiting >= limitFor(key, queuePerKey))
      if (isFull) return fail(reject())
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
      const waiter: Waiter = {
        ...holder,
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
      running -= 1
      change(holder.keys, 'held', -holder.size)
      startWaiting()
    }
  }
  return Object.assign(run, { isFree, load: () => ({ slots, running, waiting, refused: rejected }) })
}

export type Semaphores = ReturnType<typeof createSemaphores>

/** A trusted service acts for many users and may use more slots. */
const perKey = (ofService: number) => (key: string) => (isServiceKey(key) ? ofService : 1)

export const createSemaphores = (meter: Meter) => ({
  // A verification reads a history from the chain block by block, which takes seconds for a long history.
  verifications: createSemaphore({ name: 'Verifications', slots: 2, perKey: perKey(2), queue: 20, maxWait: 5_000 }),
  // A proof keeps a page of blocks in memory until its client has read the page.
  proofs: createSemaphore({ name: 'Proofs', slots: 6, perKey: perKey(5), queue: 60, maxWait: 5_000 }),
  // An export keeps a few megabytes in memory until its client has read them.
  exports: createSemaphore({ name: 'Exports', slots: 3, perKey: perKey(2), queue: 20, maxWait: 5_000 }),
  // An account can run one export at a time. A second export is rejected.
  accountExports: createSemaphore({
    ...{ name: 'Exports', perKey: 1, queue: 0, maxWait: 0 },
    reject() {
      meter.count('annal_limit_rejections_total', { limit: 'exports' })
      return throttled(30)
    },
  }),
  // Signing a file takes a core for up to half a minute.
  signedCopies: createSemaphore({
    ...{ name: 'Files with Content Credentials', slots: 2, perKey: perKey(2), queue: 20, maxWait: 30_000 },
  }),
  // Password checks of one account run in sequence, so that concurrent requests cannot exceed the limit of wrong guesses.
  passwordGuesses: createSemaphore({
    ...{ name: 'Signing in', perKey: 2, queue: Number.POSITIVE_INFINITY, queuePerKey: 100, maxWait: 30_000 },
    reject: () => throttled(5),
  }),
  // Scaling a picture takes a core for up to ten seconds, and up to 0.7 GB.
  pictures: createSemaphore({
    ...{ name: 'Pictures', slots: 1, perKey: perKey(1), queue: 20, maxWait: 20_000 },
    // One account cannot fill the queue of its address.
    queuePerKey: (key) => (key.startsWith('user:') ? 2 : 3),
    reject: () => throttled(10),
  }),
})
