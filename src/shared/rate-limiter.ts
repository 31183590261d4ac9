/** Rate limits. What costs money or trust is counted in the database, by its clock. Requests are counted in memory. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Database } from '../db/database-types.ts'
import { arrayOf, boolean, float, int, joinedStatement, statement, text } from '../db/sql.ts'
import type { Meter } from '../telemetry/telemetry-types.ts'
import type { Actor, Caller } from './actor.ts'
import { createBatchLoader } from './async.ts'
import { throttled } from './errors.ts'
import { type Limits, limitRules, type RateLimitName } from './limits.ts'

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
