/** The caller of a request, or the system. */
import type { User, Wallet } from '../db/prisma/client.ts'
import { notAuthenticated } from './errors.ts'

/** A user's record without the password hash, and the wallet. Amounts are decimal strings. */
export type SignedInUser = Omit<User, 'passwordHash'> & {
  wallet: Pick<Wallet, 'userId' | 'address'> & { num: string; points: string }
}

/** A signed-in user. */
export interface UserActor {
  readonly kind: 'user'
  readonly id: string
  readonly role: User['role']
  /** Record and wallet at the start of the request. */
  readonly user: SignedInUser
  /** ID of the access token of the request. */
  readonly tokenId: string
}

interface Origin {
  /** Network address, for rate limits. */
  readonly address: string
  /** The trusted service that sent the API key. `unknown` for an invalid key, which only matters where a key is accepted. */
  readonly service: { readonly id: string } | 'unknown' | undefined
}

/** An anonymous caller or a user. */
export type Caller = ({ readonly kind: 'anonymous' } | UserActor) & Origin

/** A caller, or the system: jobs and commands. `guest`: the caller with a share link, for whom the system reads an asset. */
export type Actor = Caller | { readonly kind: 'system'; readonly guest?: Caller }

/** Throws NOT_AUTHENTICATED unless the actor is a user. */
export function assertUser(actor: Actor): asserts actor is UserActor & Origin {
  if (actor.kind !== 'user') throw notAuthenticated()
}
