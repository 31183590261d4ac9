/** Who is asking. Every service method takes the actor first. */
import type { User, Wallet } from '../platform/prisma/client.ts'
import { notAuthenticated } from './errors.ts'

/** Amounts are decimal strings. */
export type SignedInUser = Omit<User, 'passwordHash'> & {
  wallet: Omit<Wallet, 'num' | 'points'> & { num: string; points: string }
}

export interface UserActor {
  readonly kind: 'user'
  readonly id: string
  readonly role: User['role']
  /** Their record and wallet as they were when the request came in. */
  readonly user: SignedInUser
  /** The access token they came with: sign-out ends this one. */
  readonly tokenId: string
}

/** The network address limits are counted by, and the API key that came along, still to be verified where it matters. */
interface Origin {
  readonly address: string
  readonly apiKey: string | undefined
}

export type Actor = (({ readonly kind: 'anonymous' } | UserActor) & Origin) | { readonly kind: 'system' }

/** Raises NOT_AUTHENTICATED unless a user asks. */
export function assertUser(actor: Actor): asserts actor is UserActor & Origin {
  if (actor.kind !== 'user') throw notAuthenticated()
}
