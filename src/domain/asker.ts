/** Identifies callers, for fair queueing. */
import type { Actor, Caller } from './actor.ts'
import type { Asker } from './ports/gate.ts'
import { networkOf } from './request-limits.ts'

const nobody: Asker = { keys: [] }

const networkKeyOf = ({ address }: Caller) => `address:${networkOf(address)}`
const serviceKeyOf = ({ service }: Caller) => (typeof service === 'object' ? `service:${service.id}` : undefined)

/** Identifies the caller of an ordinary operation. A user counts as an account alone: many people may share one address. */
export function accountOf(actor: Actor): string | undefined {
  if (actor.kind === 'system') return actor.guest && accountOf(actor.guest)
  return actor.kind === 'user' ? `user:${actor.id}` : (serviceKeyOf(actor) ?? networkKeyOf(actor))
}

/**
 * Identifies the caller of an expensive operation. A user counts as an account and as a network, so that many accounts at one address
 * share one place. A request with a valid API key comes from a trusted service that acts for many users from one address. It counts for
 * the account and for the service, and not for the network.
 */
export function askerOf(actor: Actor): Asker {
  if (actor.kind === 'system') return actor.guest ? askerOf(actor.guest) : nobody
  const account = actor.kind === 'user' ? [`user:${actor.id}`] : []
  const service = serviceKeyOf(actor)
  return service === undefined ? { keys: [...account, networkKeyOf(actor)] } : { keys: account, service }
}
