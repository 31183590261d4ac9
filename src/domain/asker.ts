/** By whom something dear is asked for, so that each has their share of it. */
import type { Actor } from './actor.ts'
import { networkOf } from './request-limits.ts'

/** As a gate tells askers apart: a user, or the network of somebody unknown; nobody when the system asks for itself. */
export function askerOf(actor: Actor): string[] {
  if (actor.kind === 'system') return actor.guest ? askerOf(actor.guest) : []
  return [actor.kind === 'user' ? `user:${actor.id}` : `address:${networkOf(actor.address)}`]
}
