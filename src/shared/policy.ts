/** Authorization. Administrators manage the store and the service, but cannot read private assets of users. */
import type { Asset, Prisma, User, Wallet } from '../db/prisma/client.ts'
import { DomainError, notAssetOwner, notAuthenticated, notFound } from './errors.ts'

/** A user's record without the password hash, and the wallet. Amounts are decimal strings. */
export type SignedInUser = Omit<User, 'passwordHash'> & {
  wallet: Pick<Wallet, 'userId' | 'address'> & { num: string; points: string }
}

export interface UserActor {
  readonly kind: 'user'
  readonly id: string
  readonly role: User['role']
  /** Record and wallet at the start of the request. */
  readonly user: SignedInUser
  readonly tokenId: string
}

interface Origin {
  /** Network address, for rate limits. */
  readonly address: string
  /** The trusted service that sent the API key. `unknown` for an invalid key. Most operations ignore it. */
  readonly service: { readonly id: string } | 'unknown' | undefined
}

export type Caller = ({ readonly kind: 'anonymous' } | UserActor) & Origin

/** A caller, or the system (jobs and commands). `guest`: the caller whose share link lets the system read an asset. */
export type Actor = Caller | { readonly kind: 'system'; readonly guest?: Caller }

export function assertUser(actor: Actor): asserts actor is UserActor & Origin {
  if (actor.kind !== 'user') throw notAuthenticated()
}

export type Action =
  | `account:${'create' | 'delete' | 'export' | 'read' | 'update'}`
  | `asset:${'delete' | 'read' | 'register' | 'update'}`
  | `order:${'cancel' | 'create' | 'pay' | 'read'}`
  | `session:${'create' | 'end' | 'read'}`
  | `store:${'administer' | 'read'}`
  | `withdrawal:${'create' | 'read'}`
  | 'audit:read'
  | 'email:verify'
  | 'event:read'
  | 'password:reset'
  | 'transfer:read'

type AssetFacts = Pick<Asset, 'ownerId' | 'publicAccess'>

export const allowsAnonymous = (action: Action) =>
  /^(account:create|asset:read|email:verify|password:reset|session:create)$/.test(action)

export const canAdminister = (actor: Actor) =>
  actor.kind === 'system' || (actor.kind === 'user' && actor.role === 'ADMIN')

/** Called before a body is read. Throws NOT_AUTHENTICATED, PERMISSION_DENIED. */
export function assertMay(actor: Actor, action: Action): void {
  if (actor.kind === 'system' || allowsAnonymous(action)) return
  if (actor.kind === 'anonymous') throw notAuthenticated()
  if (action === 'store:administer' && actor.role !== 'ADMIN') {
    throw new DomainError('PERMISSION_DENIED', 'This operation is restricted to administrators.')
  }
}

/** For actions that only users can perform. Throws NOT_AUTHENTICATED, PERMISSION_DENIED. */
export function assertUserMay(actor: Actor, action: Action): asserts actor is Extract<Actor, UserActor> {
  assertMay(actor, action)
  assertUser(actor)
}

/** Checks that the caller is an operator's command, not an API. Throws NOT_AUTHENTICATED, PERMISSION_DENIED. */
export function assertOperator(actor: Actor): void {
  if (actor.kind === 'system' && !actor.guest) return
  if (actor.kind === 'anonymous') throw notAuthenticated()
  throw new DomainError('PERMISSION_DENIED', 'This operation is restricted to operators at the command line.')
}

/** Rejects an invalid API key even if none is needed. Throws UNTRUSTED_CLIENT. */
export function assertTrusted(actor: Actor, { needed }: { needed: boolean }): void {
  if (actor.kind === 'system') return
  if (actor.service === 'unknown') throw new DomainError('UNTRUSTED_CLIENT', 'The API key is not valid.')
  if (needed && !actor.service)
    throw new DomainError('UNTRUSTED_CLIENT', 'An API key is required. Send it in the header x-api-key.')
}

/** The system owns all assets. */
export const owns = (actor: Actor, asset: Pick<Asset, 'ownerId'>) =>
  actor.kind === 'system' || (actor.kind === 'user' && actor.id === asset.ownerId)

export const canSeeAsset = (actor: Actor, asset: AssetFacts) => asset.publicAccess || owns(actor, asset)

/** Throws NOT_AUTHENTICATED, NOT_FOUND (also if invisible), ASSET_WRITE_PERMISSION_DENIED. */
export function assertMayOnAsset(
  actor: Actor,
  action: 'asset:read' | 'asset:update' | 'asset:delete',
  asset: AssetFacts | null | undefined,
): asserts asset is AssetFacts {
  assertMay(actor, action)
  if (!asset || !canSeeAsset(actor, asset)) throw notFound('Asset')
  if (action !== 'asset:read' && !owns(actor, asset)) throw notAssetOwner()
}

/** Private parts of a user: e-mail, balances, settings. */
export const canSeePrivateParts = (actor: Actor, userId: string) =>
  actor.kind === 'system' || (actor.kind === 'user' && actor.id === userId)

export function visibleAssets(actor: Actor): Prisma.AssetWhereInput {
  if (actor.kind === 'system') return { deletedAt: null }
  if (actor.kind === 'anonymous') return { deletedAt: null, publicAccess: true }
  return { deletedAt: null, OR: [{ publicAccess: true }, { ownerId: actor.id }] }
}

/** The same filter as SQL. `a` is a row of `assets`. `$reader` is the UUID of the user, or null. */
export const visibleAssetsSql = 'a.deleted_at is null and (a.public_access or a.owner_id is not distinct from $reader)'

/** `linkedAsset`: UUID of the asset of a valid share link. */
export function readableAssets(actor: Actor, linkedAsset: string | undefined): Prisma.AssetWhereInput {
  const visible = visibleAssets(actor)
  if (linkedAsset === undefined) return visible
  return { OR: [visible, { id: linkedAsset, deletedAt: null, owner: { lockedAt: null } }] }
}

/** Administrators also see deactivated apps. */
export function visibleNetworkApps(actor: Actor): Prisma.NetworkAppWhereInput {
  if (canAdminister(actor)) return {}
  return actor.kind === 'user' ? { deactivatedAt: null } : { id: { in: [] } }
}

/** Only the actor's own orders, because the arguments of an order may contain a valid token. */
export function visibleOrders(actor: Actor): Prisma.OrderWhereInput {
  if (actor.kind === 'system') return {}
  return { buyerId: actor.kind === 'user' ? actor.id : { in: [] } }
}

/** Refunds of the actor's own orders. Administrators see all. */
export function visibleRefunds(actor: Actor): Prisma.RefundWhereInput {
  return canAdminister(actor) ? {} : { order: visibleOrders(actor) }
}
