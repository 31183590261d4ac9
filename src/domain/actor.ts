/** Who is asking. Every service method takes the actor first. */
import type { User } from '../platform/prisma/client.ts'
import { notAuthenticated } from './errors.ts'

export interface UserActor {
  readonly kind: 'user'
  readonly id: string
  readonly role: User['role']
  readonly username: string
  /** As it was when the request came in: amounts as decimal strings. */
  readonly wallet: { readonly address: string; readonly num: string; readonly points: string }
  /** The access token they came with: sign-out ends this one. */
  readonly tokenId: string
}

/** The network address limits are counted by, and the trusted service that speaks for the person, if any. */
interface Origin {
  readonly address: string
  readonly apiKeyId: string | null
}

export type Actor = (({ readonly kind: 'anonymous' } | UserActor) & Origin) | { readonly kind: 'system' }

/** Raises NOT_AUTHENTICATED unless a user asks. */
export function assertUser(actor: Actor): asserts actor is UserActor & Origin {
  if (actor.kind !== 'user') throw notAuthenticated()
}
