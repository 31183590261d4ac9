import type { Use } from '../../context.ts'
import type { Asset, Prisma } from '../../db/prisma/client.ts'
import { notFound } from '../../shared/errors.ts'
import { outlived } from '../../shared/idempotency.ts'
import { canonicalNid } from '../../shared/ids.ts'
import { visibleAssets } from '../../shared/policy.ts'
import { metadataSelection } from './metadata.ts'

type Reader = Use<'actor' | 'database'>

export type AssetQuery = Omit<Prisma.AssetFindManyArgs, 'where'>

/** Returns the asset, or null if it does not exist or the caller may not see it. */
export async function findAsset({ actor, database }: Reader, id: string, query: AssetQuery = {}) {
  const nid = canonicalNid(id)
  if (nid === undefined) return null
  return database.read.asset.findFirst({ ...query, where: { nid, ...visibleAssets(actor) } })
}

/** Returns the asset. Throws NOT_FOUND if it does not exist or the caller may not see it. */
export async function getAsset(context: Reader, id: string, query?: AssetQuery): Promise<Asset> {
  const asset = await findAsset(context, id, query)
  if (!asset) throw notFound('Asset')
  return asset
}

/**
 * Returns the caller's own asset after a write. Throws NOT_FOUND. Throws IDEMPOTENCY_KEY_REUSED for a retry after the asset was deleted,
 * because another user may have registered the same file since.
 */
export async function getOwnAsset(
  { actor, database, idempotency }: Reader & Use<'idempotency'>,
  nid: string,
  query?: AssetQuery,
): Promise<Asset> {
  const ownerId = actor.kind === 'user' ? actor.id : { in: [] }
  const asset = await database.read.asset.findFirst({ ...query, where: { nid, ownerId, deletedAt: null } })
  if (!asset) throw idempotency.replayed ? outlived('the asset was deleted') : notFound('Asset')
  return asset
}

const updateSelection = {
  id: true,
  nid: true,
  ownerId: true,
  mimeType: true,
  sha256: true,
  uploadedAt: true,
  ...metadataSelection,
  headSequence: true,
  headCommitId: true,
  creator: { select: { username: true, wallet: { select: { address: true } } } },
} as const satisfies Prisma.AssetSelect

/** An asset with all values that an update checks and writes into the tree. */
export type AssetToUpdate = Prisma.AssetGetPayload<{ select: typeof updateSelection }>

/** Returns an asset with all values that a write needs, and with the selection of `query`. The caller must check permissions. */
export async function findAssetToUpdate({ database }: Use<'database'>, id: string, query: AssetQuery = {}) {
  const nid = canonicalNid(id)
  if (nid === undefined) return null
  const select = mergeSelections(updateSelection, query.select ?? {})
  return database.read.asset.findFirst({ select, where: { nid, deletedAt: null } }) as Promise<AssetToUpdate | null>
}

type Selection = Record<string, unknown>
const nested = (selected: unknown) => (selected as { select?: Selection } | undefined)?.select

function mergeSelections(first: Selection, second: Selection): Selection {
  const merged: Selection = { ...first, ...second }
  for (const [name, selected] of Object.entries(second)) {
    const both = [nested(first[name]), nested(selected)] as const
    if (both[0] && both[1]) merged[name] = { ...(selected as object), select: mergeSelections(both[0], both[1]) }
  }
  return merged
}

/** Relations that an update of the asset does not change. */
const unaffected: Record<string, (selected: unknown) => boolean> = {
  owner: () => true,
  creator: () => true,
  wallet: () => true,
  relay: () => true,
  commits: (selected) => (selected as { where?: { sequence?: unknown } }).where?.sequence === 1,
}
/** Wallet columns that a charge changes. */
const affected = new Set(['num', 'points'])

/** Returns true if an update cannot change the selected values, apart from the updated columns of the asset itself. */
export const isUnaffectedByUpdate = (selection: Selection): boolean =>
  Object.entries(selection).every(([name, selected]) => {
    if (selected === true) return !affected.has(name)
    const select = nested(selected)
    return select !== undefined && unaffected[name]?.(selected) === true && isUnaffectedByUpdate(select)
  })
