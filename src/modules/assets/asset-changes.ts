/** Changing what assets say: each change is one commit, and is paid for. Part of the asset service. */

import type { Chain } from '../../chain/chain-types.ts'
import type { Database } from '../../db/database-types.ts'
import type { Asset, Prisma } from '../../db/prisma/client.ts'
import type { ContentStore } from '../../files/file-types.ts'
import type { Actor, UserActor } from '../../shared/actor.ts'
import { DomainError } from '../../shared/errors.ts'
import { fingerprintOf, type Idempotency, type IdempotencyContext } from '../../shared/idempotency.ts'
import { canonicalNid } from '../../shared/ids.ts'
import { parse } from '../../shared/input.ts'
import { assertMayOnAsset, assertUserMay } from '../../shared/policy.ts'
import type { VersionService } from '../commits/version-service.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import { commitCost, type Prices } from '../wallet/pricing.ts'
import { type Funds, refusalsOf } from '../wallet/quote.ts'
import { type RevertInput, revertInput, type UpdateInput, updateInput } from './asset-input.ts'
import { type AssetQuery, type AssetToUpdate, survivesUpdate } from './asset-selection.ts'
import { type Changes, writeTree } from './asset-tree.ts'
import { type Change, judgeUpdate } from './asset-validation.ts'
import { updateAsset } from './assets.sql.ts'
import { parametersOf } from './metadata.ts'

interface Dependencies {
  database: Database
  contentStore: Pick<ContentStore, 'identify'>
  chain: Pick<Chain, 'wake'>
  notifications: Pick<FeedNotifications, 'notify'>
  idempotency: Idempotency
  pricing: Prices
  versions: Pick<VersionService, 'changeBackTo'>
  /** Raises AUTHENTICATION_FAILED when the account was deleted since the request was let in. */
  currentFunds: (actor: UserActor) => Promise<Funds>
  load: (nid: string, query?: AssetQuery) => Promise<AssetToUpdate | null>
  /** Raises NOT_FOUND, IDEMPOTENCY_KEY_REUSED. */
  getOwn: (actor: Actor, nid: string, context: IdempotencyContext, query: AssetQuery) => Promise<Asset>
}

/** Which asset is to be changed; `expectedHead` is the id of the head commit the writer saw. */
interface Target {
  nid: string
  expectedHead?: string | undefined
}

/** A stale writer tries again from what is there now, for so many milliseconds: callers give up after 20 s. */
const PATIENCE_MS = 8_000

/** What a commit writes about itself: author, message, changes, and the tree with its identity. */
export function commitOf(
  { identify }: Pick<ContentStore, 'identify'>,
  { id }: UserActor,
  { message = '', changes, tree }: { message?: string | undefined; changes: Changes; tree: string },
) {
  const { cid: treeCid, sha256: treeSha256 } = identify(Buffer.from(tree))
  return { user: id, message, changes: JSON.stringify(changes), tree, treeCid, treeSha256 }
}

/** Updates and reverts of assets. `load` reads an asset as an update must know it. */
export function createAssetChanges(deps: Dependencies) {
  const { database, contentStore, chain, notifications, idempotency, pricing, versions, currentFunds, load, getOwn } =
    deps
  const costNow = () => commitCost(pricing())

  /**
   * One try of a change of the asset as it is now. Undefined: somebody else was quicker, or the wallet cannot pay.
   * Raises CONFLICT, VALIDATION_FAILED, PRICE_EXCEEDS_MAX_COST.
   */
  async function tryChange(
    actor: UserActor,
    asset: AssetToUpdate,
    change: Change,
    expectedHead: string | undefined,
    context: IdempotencyContext,
  ): Promise<AssetToUpdate | undefined> {
    const cost = costNow()
    const { after, changes, isNothing, refusals } = judgeUpdate(asset, change, { cost, expectedHead })
    if (refusals[0]) throw refusals[0]
    if (isNothing) {
      await idempotency.remember(context, asset.nid)
      return asset
    }
    const tree = writeTree({
      ...asset,
      ...after,
      creatorName: asset.creator.username,
      creatorAddress: asset.creator.wallet!.address,
    })
    const [written] = await database.query(updateAsset, {
      ...commitOf(contentStore, actor, { message: change.commitMessage, changes, tree }),
      ...{ fee: cost.price, gas: cost.gas },
      ...{ asset: asset.id, nid: asset.nid, headSequence: asset.headSequence },
      ...parametersOf(after),
      ...fingerprintOf(context),
    })
    if (!written) return undefined
    chain.wake()
    notifications.notify(actor.id)
    const { commit_id: commitId, updated_at: updatedAt } = written
    const head = { headSequence: asset.headSequence + 1, headCommitId: commitId, updatedAt }
    return { ...asset, ...after, custom: after.custom as Prisma.JsonObject, ...head }
  }

  /** Carries out once what `changeOf` makes of the asset as it is. `request` is what the idempotency key stands for, of this `operation`. */
  async function change(
    actor: Extract<Actor, UserActor>,
    { nid: id, expectedHead }: Target,
    operation: 'updateAssetMetadata' | 'revertAsset',
    request: object,
    context: IdempotencyContext,
    query: AssetQuery,
    changeOf: (asset: AssetToUpdate) => Promise<Change>,
  ): Promise<Asset> {
    const nid = canonicalNid(id) ?? id
    let changed: AssetToUpdate | undefined
    await idempotency.once(actor, context, operation, { nid, ...request, expectedHead }, async () => {
      for (const start = performance.now(); performance.now() - start < PATIENCE_MS; ) {
        const asset = await load(nid, query)
        assertMayOnAsset(actor, 'asset:update', asset)
        changed = await tryChange(actor, asset, await changeOf(asset), expectedHead, context)
        if (changed) return nid
        const [refusal] = refusalsOf('commit', costNow(), { funds: await currentFunds(actor) })
        if (refusal) throw refusal
      }
      throw new DomainError('CONFLICT', 'The asset is being changed by others. Try again.')
    })
    const isKnown = changed && survivesUpdate(query.select ?? {})
    return isKnown ? (changed as unknown as Asset) : getOwn(actor, nid, context, query)
  }

  return {
    /**
     * Changes what is given of an asset's metadata in one commit and charges for it; nothing to change means no commit and
     * no charge. Raises NOT_AUTHENTICATED, VALIDATION_FAILED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, CONFLICT,
     * PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND.
     */
    async update(
      actor: Actor,
      { nid, expectedHead, ...rawInput }: UpdateInput & Target,
      context: IdempotencyContext,
      query: AssetQuery = {},
    ): Promise<Asset> {
      assertUserMay(actor, 'asset:update')
      const input = parse(updateInput, rawInput)
      const target = { nid, expectedHead }
      return change(actor, target, 'updateAssetMetadata', input, context, query, async () => input)
    },

    /**
     * Reverts the metadata in the asset tree to a version, as an update does. Raises the errors of `update`, and NOT_FOUND if the asset was
     * not registered yet, or the commit belongs to another asset.
     */
    async revert(
      actor: Actor,
      { nid, expectedHead, ...rawInput }: RevertInput & Target,
      context: IdempotencyContext,
      query: AssetQuery = {},
    ): Promise<Asset> {
      assertUserMay(actor, 'asset:update')
      const input = parse(revertInput, rawInput)
      const target = { nid, expectedHead }
      return change(actor, target, 'revertAsset', input, context, query, (asset) => versions.changeBackTo(asset, input))
    },
  }
}
