/** Registering, changing, reading and deleting assets. Contract: `/api/v3/assets/` and the asset parts of the schema. */
import type { Asset, Commit, Prisma } from '../../db/prisma/client.ts'
import type { Actor, UserActor } from '../../shared/actor.ts'
import { authenticationFailed, notFound } from '../../shared/errors.ts'
import { fingerprintOf, type IdempotencyContext, outlived } from '../../shared/idempotency.ts'
import { canonicalNid, uuidFrom } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import {
  assertOffset,
  type Cuttable,
  countLimit,
  type ListOrder,
  MAX_FOREIGN_OFFSET,
  readClientOf,
  type Search,
  searched,
} from '../../shared/lists.ts'
import { assertMayOnAsset, visibleAssets } from '../../shared/policy.ts'
import type { VersionService } from '../commits/version-service.ts'
import type { FundsService } from '../wallet/funds.ts'
import { createAssetChanges } from './asset-changes.ts'
import { type AssetFilter, type FileInput, fileInput, filterInput } from './asset-input.ts'
import { createAssetQuotes } from './asset-quotes.ts'
import { createAssetRegistration, type RegistrationDependencies } from './asset-registration.ts'
import { type AssetQuery, type AssetToUpdate, merge, updateSelection } from './asset-selection.ts'
import { deleteAsset, findOwner } from './assets.sql.ts'
import { createFindFile } from './find-file.ts'

type CommitQuery = Pick<Prisma.CommitFindManyArgs, 'select' | 'include'>

/** The part of a history that is read, by position. */
interface HistoryPart {
  limit: number
  offset: number
  after: number | undefined
  isNewestFirst: boolean
  search: Search
}

/** Which time sorts a list. */
interface Ordered {
  listOrder?: ListOrder | undefined
}

const orderOf = (listOrder: ListOrder | undefined, order: Prisma.SortOrder): Prisma.AssetOrderByWithRelationInput[] =>
  listOrder === 'UPDATED_AT' ? [{ updatedAt: order }, { id: order }] : [{ id: order }]

const foundBy = (search: Search) =>
  searched<Prisma.AssetWhereInput>(search, (word) => [
    ...[{ headline: word }, { caption: word }],
    ...[{ fileName: word }, { tag: word }],
  ])

const messagesWith = (search: Search) => searched<Prisma.CommitWhereInput>(search, (word) => [{ message: word }])

interface Dependencies extends Omit<RegistrationDependencies, 'currentFunds'> {
  funds: FundsService
  versions: Pick<VersionService, 'changeBackTo'>
  /** `verifiesAddresses`: whether only verified addresses count. */
  config: { verifiesAddresses: boolean }
}

/** What reads and changes assets. */
export type AssetService = ReturnType<typeof createAssetService>

const ownIdOf = (actor: Actor) => (actor.kind === 'user' ? actor.id : undefined)

/** Whether a list of assets holds none but the actor's own. */
const isOwn = (actor: Actor, ownerId: Prisma.AssetWhereInput['ownerId']) =>
  actor.kind === 'system' || (ownerId !== undefined && ownerId === ownIdOf(actor))

/** Creates the service that registers, changes, reads and deletes assets, and quotes what that costs. */
export function createAssetService(deps: Dependencies) {
  const { database, contentStore, notifications, idempotency, pricing, funds, versions, config } = deps

  /** The asset as an update or a deletion must know it, with what the caller wants to see. */
  async function load(id: string, query: AssetQuery = {}): Promise<AssetToUpdate | null> {
    const nid = canonicalNid(id)
    if (nid === undefined) return null
    const select = merge(updateSelection, query.select ?? {})
    return database.read.asset.findFirst({ select, where: { nid, deletedAt: null } }) as Promise<AssetToUpdate | null>
  }

  /** Returns the asset, or null if it does not exist or the actor may not see it. */
  async function find(actor: Actor, id: string, query: AssetQuery = {}): Promise<Asset | null> {
    const nid = canonicalNid(id)
    if (nid === undefined) return null
    return database.read.asset.findFirst({ ...query, where: { nid, ...visibleAssets(actor) } })
  }

  /** The asset. Raises NOT_FOUND. */
  async function get(actor: Actor, nid: string, query?: AssetQuery): Promise<Asset> {
    const asset = await find(actor, nid, query)
    if (!asset) throw notFound('Asset')
    return asset
  }

  /**
   * The actor's own asset that a request of theirs was about. Raises NOT_FOUND, and IDEMPOTENCY_KEY_REUSED for a retry whose asset was
   * deleted, also when somebody else has registered the file since: their asset is not what the request made.
   */
  async function getOwn(actor: Actor, nid: string, context: IdempotencyContext, query?: AssetQuery): Promise<Asset> {
    const asset = await database.read.asset.findFirst({
      ...query,
      where: { nid, ownerId: ownIdOf(actor) ?? { in: [] }, deletedAt: null },
    })
    if (!asset) throw context.replayed ? outlived('the asset was deleted') : notFound('Asset')
    return asset
  }

  /** Raises AUTHENTICATION_FAILED when the account was deleted since the request was let in. */
  async function currentFunds(actor: UserActor) {
    const current = await funds.of(actor.id)
    if (current.closed) throw authenticationFailed()
    return current
  }

  async function ownerOf(actor: Actor, email: string): Promise<string | { in: string[] }> {
    const asker = actor.kind === 'user' ? actor.id : null
    const [owner] = await database.query(findOwner, { email, mustBeVerified: config.verifiesAddresses, asker })
    return owner ? owner.id : { in: [] }
  }

  function registeredAs(actor: Actor, rawFile: FileInput, search: Search): Prisma.AssetWhereInput {
    const { sha256, cid } = parse(fileInput, rawFile)
    return { ...visibleAssets(actor), ...(sha256 === undefined ? { nid: cid! } : { sha256 }), ...foundBy(search) }
  }

  async function listed(
    actor: Actor,
    rawFilter: AssetFilter,
    listOrder: ListOrder | undefined,
  ): Promise<Prisma.AssetWhereInput> {
    const filter = parse(filterInput, rawFilter)
    // Callers narrow their own collection by filters: strangers' assets come only to who asks for a stranger.
    const ownerId = filter.owner === undefined ? ownIdOf(actor) : await ownerOf(actor, filter.owner)
    const where: Prisma.AssetWhereInput = {
      // One's own are all to be seen, which the index of owners tells alone.
      ...(isOwn(actor, ownerId) ? { deletedAt: null } : visibleAssets(actor)),
      ...(ownerId !== undefined && { ownerId }),
      ...(filter.proofHash !== undefined && { sha256: filter.proofHash }),
      ...(filter.tag !== undefined && { tag: filter.tag }),
      // Assets never change hands yet, so every owner is the original one.
      ...(filter.isOriginalOwner === false && { id: { in: [] } }),
    }
    const found = foundBy(filter.search)
    if (isOwn(actor, ownerId) || !(found.AND || listOrder === 'UPDATED_AT')) return { ...where, ...found }
    const beyond = await firstBeyond(where)
    return { ...where, ...(beyond && { id: { gt: beyond.id } }), ...found }
  }

  /**
   * The newest asset of a list beyond the positions that other users may read. No index helps a search or an order by update, so in lists of
   * other users' assets they consider only the assets before it.
   */
  const firstBeyond = (where: Prisma.AssetWhereInput) =>
    database.read.asset.findFirst({ select: { id: true }, where, orderBy: { id: 'desc' }, skip: MAX_FOREIGN_OFFSET })

  return {
    ...createAssetQuotes({ database, contentStore, pricing, funds, versions, load }),
    ...createAssetRegistration({ ...deps, currentFunds }),
    ...createAssetChanges({ ...deps, currentFunds, load, getOwn }),

    find,
    get,
    getOwn,
    findFile: createFindFile(deps),

    /** A commit of an asset that this actor may see, by its UUID; else null. */
    async findCommit(actor: Actor, id: string): Promise<Commit | null> {
      return database.read.commit.findFirst({ where: { id, asset: visibleAssets(actor) } })
    },

    /**
     * A user's own assets, or the public ones for an anonymous actor; of an owner that is named, those the actor may see.
     * Newest first by the time of `listOrder`. Raises VALIDATION_FAILED.
     */
    async list(
      actor: Actor,
      filter: AssetFilter,
      { cutsPages, listOrder, ...query }: AssetQuery & Cuttable & Ordered,
    ): Promise<Asset[]> {
      const where = await listed(actor, filter, listOrder)
      if (!isOwn(actor, where.ownerId)) assertOffset(query.skip ?? 0)
      return readClientOf(database, cutsPages).asset.findMany({ ...query, orderBy: orderOf(listOrder, 'desc'), where })
    },

    /**
     * A part of the history of an asset that the caller has read. `assetId` is its UUID. `after` is the sequence of the commit before the
     * part.
     */
    async history(
      assetId: string,
      { limit, offset, after, isNewestFirst, search, cutsPages }: HistoryPart & Cuttable,
      query: CommitQuery,
    ): Promise<Commit[]> {
      const { commit } = readClientOf(database, cutsPages)
      const found = messagesWith(search)
      const page = { ...query, take: limit, ...(offset > 0 && { skip: offset }) }
      if (isNewestFirst) {
        const sequence = after === undefined ? {} : { lt: after }
        return commit.findMany({ ...page, where: { assetId, sequence, ...found }, orderBy: { sequence: 'desc' } })
      }
      if (found.AND) {
        const sequence = { gt: after ?? 0 }
        return commit.findMany({ ...page, where: { assetId, sequence, ...found }, orderBy: { sequence: 'asc' } })
      }
      // Sequences have no gaps, so a position is found without counting.
      const where = { assetId, sequence: { gt: (after ?? 0) + offset } }
      return commit.findMany({ ...query, where, orderBy: { sequence: 'asc' }, take: limit })
    },

    /** Number of commits of an asset, by its UUID, that match a search. Raises VALIDATION_FAILED. */
    async countHistory(assetId: string, search: Search): Promise<number> {
      return database.read.commit.count({ where: { assetId, ...messagesWith(search) }, take: countLimit(0) })
    },

    /**
     * The registrations of a file that the actor may see, oldest first by the time of `listOrder`. Registrations that the actor may not see
     * are treated as missing. Raises VALIDATION_FAILED.
     */
    async lookUp(
      actor: Actor,
      file: FileInput,
      { cutsPages, listOrder, search, ...query }: AssetQuery & Cuttable & Ordered & { search?: Search },
    ): Promise<Asset[]> {
      const where = registeredAs(actor, file, search)
      assertOffset(query.skip ?? 0)
      return readClientOf(database, cutsPages).asset.findMany({ ...query, orderBy: orderOf(listOrder, 'asc'), where })
    },

    /** Number of registrations that `lookUp` returns on all pages, counted no further than a page after `offset` needs. */
    async countRegistrations(actor: Actor, file: FileInput, search?: Search, offset?: number | null): Promise<number> {
      return database.read.asset.count({ where: registeredAs(actor, file, search), take: countLimit(offset) })
    },

    /** Returns the commit with a sequence, of an asset that the caller may see. */
    async commitAt(assetId: string, sequence: number, query: CommitQuery): Promise<Commit | null> {
      return database.read.commit.findFirst({ ...query, where: { assetId, sequence } })
    },

    /** Returns a commit of an asset that the caller may see, by its identifier. Raises NOT_FOUND. */
    async commitOf(assetId: string, commitId: string, query: CommitQuery): Promise<Commit> {
      const found = await database.read.commit.findFirst({
        ...query,
        where: { assetId, id: uuidFrom(commitId, 'commit', 'Commit') },
      })
      if (!found) throw notFound('Commit')
      return found
    },

    /** Number of assets that `list` returns on all pages. For anonymous callers it is counted no further than a page after `offset` needs. */
    async count(actor: Actor, filter: AssetFilter, listOrder?: ListOrder, offset?: number | null): Promise<number> {
      const where = await listed(actor, filter, listOrder)
      return database.read.asset.count({ where, ...(actor.kind === 'anonymous' && { take: countLimit(offset) }) })
    },

    /**
     * Takes an asset out of the service: its metadata is erased and its file and trees are unpinned. The chain keeps its commits.
     * Raises NOT_AUTHENTICATED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED.
     */
    async remove(actor: Actor, id: string, context: IdempotencyContext): Promise<string> {
      const nid = canonicalNid(id) ?? id
      return idempotency.once(actor, context, 'deleteAsset', { nid }, async () => {
        const asset = await load(nid)
        assertMayOnAsset(actor, 'asset:delete', asset)
        const [gone] = await database.query(deleteAsset, { asset: asset.id, ...fingerprintOf(context) })
        if (!gone) throw notFound('Asset')
        notifications.notify(asset.ownerId)
        return gone.nid
      })
    },
  }
}
