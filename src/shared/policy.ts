/**
 * Who may do what, and who sees what. `canX` answers for one thing; the `visibleX` filters say the same for lists and
 * relations. An administrator runs the store and the service; people's private assets stay theirs alone.
 */
import type { Asset, Prisma } from '../db/prisma/client.ts'
import { type Actor, assertUser, type UserActor } from './actor.ts'
import { DomainError, notAssetOwner, notAuthenticated, notFound } from './errors.ts'

/** Something that somebody may do or not, whatever it is done to. */
export type Action =
  | 'account:create'
  | 'account:delete'
  | 'account:export'
  | 'account:read'
  | 'account:update'
  | 'asset:delete'
  | 'asset:read'
  | 'asset:register'
  | 'asset:update'
  | 'audit:read'
  | 'email:verify'
  | 'event:read'
  | 'order:create'
  | 'order:pay'
  | 'order:read'
  | 'order:cancel'
  | 'password:reset'
  | 'session:create'
  | 'session:end'
  | 'session:read'
  | 'store:administer'
  | 'store:read'
  | 'transfer:read'
  | 'withdrawal:create'
  | 'withdrawal:read'

type AssetFacts = Pick<Asset, 'ownerId' | 'publicAccess'>

const open: ReadonlySet<Action> = new Set<Action>([
  'account:create',
  'asset:read',
  'email:verify',
  'password:reset',
  'session:create',
])

/** Whether somebody who is not signed in may try it. */
export const allowsAnonymous = (action: Action) => open.has(action)

/** Whether this actor runs the store. */
export const canAdminister = (actor: Actor) =>
  actor.kind === 'system' || (actor.kind === 'user' && actor.role === 'ADMIN')

/**
 * May this actor try this kind of thing at all? Asked before a body is read.
 * Raises NOT_AUTHENTICATED, PERMISSION_DENIED.
 */
export function assertMay(actor: Actor, action: Action): void {
  if (actor.kind === 'system' || allowsAnonymous(action)) return
  if (actor.kind === 'anonymous') throw notAuthenticated()
  if (action === 'store:administer' && actor.role !== 'ADMIN') {
    throw new DomainError('PERMISSION_DENIED', 'Only an administrator may do this.')
  }
}

/** As `assertMay`, of what only users do, however trusted the system is. Raises NOT_AUTHENTICATED, PERMISSION_DENIED. */
export function assertUserMay(actor: Actor, action: Action): asserts actor is Extract<Actor, UserActor> {
  assertMay(actor, action)
  assertUser(actor)
}

/**
 * Asked of what is done in somebody's place: only an operator at the machine may, and no door leads there. The system also shows things to
 * guests, who are no operators. Raises NOT_AUTHENTICATED, PERMISSION_DENIED.
 */
export function assertOperator(actor: Actor): void {
  if (actor.kind === 'system' && !actor.guest) return
  if (actor.kind === 'anonymous') throw notAuthenticated()
  throw new DomainError('PERMISSION_DENIED', 'Only an operator may do this, at the command line.')
}

/**
 * Whether a trusted service speaks for the actor. A key that is not valid is refused even where none is needed.
 * Raises UNTRUSTED_CLIENT.
 */
export function assertTrusted(actor: Actor, { needed }: { needed: boolean }): void {
  if (actor.kind === 'system') return
  if (actor.service === 'unknown') throw new DomainError('UNTRUSTED_CLIENT', 'The API key is not valid.')
  if (needed && !actor.service) {
    throw new DomainError('UNTRUSTED_CLIENT', 'An API key is needed: send it as x-api-key.')
  }
}

/** Whether an asset is the actor's; the system's are all. */
export const owns = (actor: Actor, asset: Pick<Asset, 'ownerId'>) =>
  actor.kind === 'system' || (actor.kind === 'user' && actor.id === asset.ownerId)

/** Whether an actor may see an asset: it is public or theirs. */
export const canSeeAsset = (actor: Actor, asset: AssetFacts) => asset.publicAccess || owns(actor, asset)

/**
 * May this actor do this to that asset?
 * Raises NOT_AUTHENTICATED, NOT_FOUND (what you may not see does not exist), ASSET_WRITE_PERMISSION_DENIED.
 */
export function assertMayOnAsset(
  actor: Actor,
  action: 'asset:read' | 'asset:update' | 'asset:delete',
  asset: AssetFacts | null | undefined,
): asserts asset is AssetFacts {
  assertMay(actor, action)
  if (!asset || !canSeeAsset(actor, asset)) throw notFound('Asset')
  if (action !== 'asset:read' && !owns(actor, asset)) {
    throw notAssetOwner()
  }
}

/** What only the person themselves sees of a user's record: e-mail, balances, settings. */
export const canSeePrivateParts = (actor: Actor, userId: string) =>
  actor.kind === 'system' || (actor.kind === 'user' && actor.id === userId)

/** The rows of `assets` an actor may see. */
export function visibleAssets(actor: Actor): Prisma.AssetWhereInput {
  if (actor.kind === 'system') return { deletedAt: null }
  if (actor.kind === 'anonymous') return { deletedAt: null, publicAccess: true }
  return { deletedAt: null, OR: [{ publicAccess: true }, { ownerId: actor.id }] }
}

/** The same rows as SQL, for a reader of whom `$reader` is the UUID, or null: `a` is a row of `assets`. */
export const visibleAssetsSql = 'a.deleted_at is null and (a.public_access or a.owner_id is not distinct from $reader)'

/**
 * The rows of `assets` whose bytes a reader gets: of those the actor may see and, by a link, of the one that it was made for, unless its
 * owner's account is locked. Where a link is good no more, whoever has it sees what they would without it. `linkedAsset`: its UUID.
 */
export function readableAssets(actor: Actor, linkedAsset: string | undefined): Prisma.AssetWhereInput {
  const visible = visibleAssets(actor)
  if (linkedAsset === undefined) return visible
  return { OR: [visible, { id: linkedAsset, deletedAt: null, owner: { lockedAt: null } }] }
}

/** The rows of `network_apps` an actor may see: what is sold. An administrator sees what was sold once, too. */
export function visibleNetworkApps(actor: Actor): Prisma.NetworkAppWhereInput {
  if (canAdminister(actor)) return {}
  return actor.kind === 'user' ? { deactivatedAt: null } : { id: { in: [] } }
}

/** The rows of `orders` an actor may see: their own. The arguments may carry a live token, so nobody else's. */
export function visibleOrders(actor: Actor): Prisma.OrderWhereInput {
  if (actor.kind === 'system') return {}
  return { buyerId: actor.kind === 'user' ? actor.id : { in: [] } }
}

/** The rows of `refunds` an actor may see: of their own orders; an administrator sees all. */
export function visibleRefunds(actor: Actor): Prisma.RefundWhereInput {
  return canAdminister(actor) ? {} : { order: visibleOrders(actor) }
}
