/** Identifies callers, for rate limits and fair queueing. */
import type { Actor, Caller } from './actor.ts'

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
