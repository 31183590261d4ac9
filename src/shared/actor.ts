/** Who is asking. Every service method takes the actor first. */
import type { User, Wallet } from '../db/prisma/client.ts'
import { notAuthenticated } from './errors.ts'

/** A user's record without the password's hash, and their wallet. Amounts are decimal strings. */
export type SignedInUser = Omit<User, 'passwordHash'> & {
  wallet: Pick<Wallet, 'userId' | 'address'> & { num: string; points: string }
}

/** A user who is signed in, by an access token. */
export interface UserActor {
  readonly kind: 'user'
  readonly id: string
  readonly role: User['role']
  /** Their record and wallet as they were when the request came in. */
  readonly user: SignedInUser
  /** The access token they came with: sign-out ends this one. */
  readonly tokenId: string
}

interface Origin {
  /** The network address limits are counted by. */
  readonly address: string
  /** The trusted service that speaks for the actor, by its API key. A key that is not valid counts only where one matters. */
  readonly service: { readonly id: string } | 'unknown' | undefined
}

/** Somebody from outside: unknown, or a user, each perhaps through a trusted service. */
export type Caller = ({ readonly kind: 'anonymous' } | UserActor) & Origin

/** Who is asking: somebody from outside, or the system itself: jobs, commands, and what is shown to a `guest` who came with a link. */
export type Actor = Caller | { readonly kind: 'system'; readonly guest?: Caller }

/** Raises NOT_AUTHENTICATED unless a user asks. */
export function assertUser(actor: Actor): asserts actor is UserActor & Origin {
  if (actor.kind !== 'user') throw notAuthenticated()
}
