/** Metadata changes of assets. Each change is one commit that the caller pays for. */
import type { Use } from '../../context.ts'
import type { Asset, Prisma } from '../../db/prisma/client.ts'
import type { UserActor } from '../../shared/actor.ts'
import { authenticationFailed, DomainError, validationFailed } from '../../shared/errors.ts'
import { type IdempotentContext, idempotencyParams, once, remember } from '../../shared/idempotency.ts'
import { canonicalNid, toId } from '../../shared/ids.ts'
import { inspect, parse } from '../../shared/input.ts'
import { assertMayOnAsset, assertUserMay } from '../../shared/policy.ts'
import { findVersion, readTrees } from '../commits/asset-versions.ts'
import {
  type Cost,
  type Funds,
  noCost,
  type Quote,
  quoteOf,
  readCommitCost,
  readFunds,
  validateCharge,
} from '../wallet/quote.ts'
import {
  customFits,
  type RevertFields,
  type RevertInput,
  revertInput,
  tooLargeCustom,
  type UpdateInput,
  updateInput,
} from './asset-input.ts'
import { type Changes, compare, mergeCustom, metadataIn, writeTree } from './asset-tree.ts'
import { commitParams, updateAssetStatement } from './assets.sql.ts'
import {
  type AssetQuery,
  type AssetToUpdate,
  findAssetToUpdate,
  getOwnAsset,
  isUnaffectedByUpdate,
} from './find-asset.ts'
import { type Metadata, metadataOf, metadataParams } from './metadata.ts'

export type QuoteContext = Use<'actor' | 'config' | 'database' | 'gasFee'>
export type ChangeContext = QuoteContext & IdempotentContext & Use<'chain' | 'contentStore' | 'notifications'>

/** An asset, by its nid. `expectedHead`: ID of the newest commit that the caller has seen, or `*` for any commit. */
export interface Target {
  id: string
  expectedHead?: string | undefined
}

/** Fields to change. A custom key with the value null is removed. */
export type Change = Partial<Omit<Metadata, 'custom'>> & {
  nitCommitCustom?: Record<string, unknown> | undefined
  commitMessage?: string | undefined
  maxCost?: string | undefined
}

/** Maximum time to retry after conflicts with concurrent writers, in milliseconds. Clients time out after 20 seconds. */
const MAX_RETRY_MS = 8_000

/**
 * Changes the given metadata fields in one commit, and charges the caller. If nothing differs, it writes no commit and charges nothing.
 * Throws VALIDATION_FAILED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, CONFLICT, PRICE_EXCEEDS_MAX_COST, ASSET_COMMIT_INSUFFICIENT_FUND.
 */
export async function updateAsset(
  context: ChangeContext,
  { id, expectedHead, ...fields }: UpdateInput & Target,
  query: AssetQuery = {},
): Promise<Asset> {
  const { actor } = context
  assertUserMay(actor, 'asset:update')
  const input = parse(updateInput, fields)
  return changeAsset(context, 'updateAssetMetadata', { id, expectedHead }, input, query, async () => input)
}

/** Quotes `updateAsset`. Errors are part of the quote. Throws only NOT_AUTHENTICATED, NOT_FOUND and ASSET_WRITE_PERMISSION_DENIED. */
export const quoteUpdate = async (
  context: QuoteContext,
  { id, expectedHead, ...fields }: UpdateInput & Target,
): Promise<Quote> => quoteChange(context, { id, expectedHead }, async () => inspect(updateInput, fields))

/** Applies the change from `changeOf` to the current asset, exactly once. `input` identifies the request for its idempotency key. */
export async function changeAsset(
  context: ChangeContext,
  operation: 'updateAssetMetadata' | 'revertAsset',
  { id, expectedHead }: Target,
  input: object,
  query: AssetQuery,
  changeOf: (asset: AssetToUpdate) => Promise<Change>,
): Promise<Asset> {
  const { actor } = context
  assertUserMay(actor, 'asset:update')
  const nid = canonicalNid(id) ?? id
  let changed: AssetToUpdate | undefined
  await once(context, operation, { nid, ...input, expectedHead }, async () => {
    for (const start = performance.now(); performance.now() - start < MAX_RETRY_MS; ) {
      const asset = await findAssetToUpdate(context, nid, query)
      assertMayOnAsset(actor, 'asset:update', asset)
      changed = await tryChange(context, actor, asset, await changeOf(asset), expectedHead)
      if (changed) return nid
      const funds = await readOpenFunds(context, actor)
      const [error] = validateCharge('commit', readCommitCost(context), { funds })
      if (error) throw error
    }
    throw new DomainError('CONFLICT', 'The asset is being changed by others. Try again.')
  })
  const isComplete = changed && isUnaffectedByUpdate(query.select ?? {})
  return isComplete ? (changed as unknown as Asset) : getOwnAsset(context, nid, query)
}

/** Tries to change the asset once, and returns it. Returns undefined if another commit was written first, or if the wallet cannot pay. */
async function tryChange(
  context: ChangeContext,
  { id: user }: UserActor,
  asset: AssetToUpdate,
  change: Change,
  expectedHead: string | undefined,
): Promise<AssetToUpdate | undefined> {
  const { chain, contentStore, database, notifications } = context
  const cost = readCommitCost(context)
  const { after, changes, isEmpty, errors } = planUpdate(asset, change, { cost, expectedHead })
  if (errors[0]) throw errors[0]
  if (isEmpty) {
    await remember(context, asset.nid)
    return asset
  }
  const tree = writeTree({
    ...asset,
    ...after,
    creatorName: asset.creator.username,
    creatorAddress: asset.creator.wallet!.address,
  })
  const [written] = await database.query(updateAssetStatement, {
    ...commitParams(contentStore, { user, message: change.commitMessage, changes, tree }),
    ...{ fee: cost.price, gas: cost.gas },
    ...{ asset: asset.id, nid: asset.nid, headSequence: asset.headSequence },
    ...metadataParams(after),
    ...idempotencyParams(context),
  })
  if (!written) return undefined
  chain.wake()
  notifications.notify(user)
  const { commit_id: headCommitId, updated_at: updatedAt } = written
  const head = { headSequence: asset.headSequence + 1, headCommitId, updatedAt }
  return { ...asset, ...after, custom: after.custom as Prisma.JsonObject, ...head }
}

/** Returns the balances of a user. Throws AUTHENTICATION_FAILED if the account was deleted during the request. */
export async function readOpenFunds(context: Use<'database'>, { id }: UserActor): Promise<Funds> {
  const funds = await readFunds(context, id)
  if (funds.closed) throw authenticationFailed()
  return funds
}

/** Quotes the change that `changeOf` returns for the current asset, including the errors of its input. */
export async function quoteChange(
  context: QuoteContext,
  { id, expectedHead }: Target,
  changeOf: (asset: AssetToUpdate) => Promise<{ data: Change; refusals: DomainError[] }>,
): Promise<Quote> {
  const { actor } = context
  assertUserMay(actor, 'asset:update')
  const asset = await findAssetToUpdate(context, id)
  assertMayOnAsset(actor, 'asset:update', asset)
  const { data, refusals } = await changeOf(asset)
  const funds = await readFunds(context, actor.id)
  const hasBadFields = refusals.length > 0
  const plan = planUpdate(asset, data, { cost: readCommitCost(context), funds, expectedHead, hasBadFields })
  return quoteOf(plan.cost, funds, [...refusals, ...plan.errors])
}

interface UpdatePlan {
  after: Metadata
  changes: Changes
  /** True if nothing differs. Then no commit is written and nothing is charged. */
  isEmpty: boolean
  cost: Cost
  /** All errors that prevent the update. An update throws the first one. */
  errors: DomainError[]
}

interface Terms {
  /** Cost of a commit. */
  cost: Cost
  /** Balances to check. If omitted, only the charging statement checks them. */
  funds?: Funds
  expectedHead?: string | undefined
  /** True if the input has invalid fields. They count as changes. */
  hasBadFields?: boolean
}

/** Returns the result of a change of the asset, its cost, and its errors. */
function planUpdate(asset: AssetToUpdate, change: Change, terms: Terms): UpdatePlan {
  const { nitCommitCustom = {}, commitMessage: _, maxCost, ...fields } = change
  const before = metadataOf(asset)
  const after: Metadata = { ...before, ...fields, custom: mergeCustom(before.custom, nitCommitCustom) }
  const changes = compare(before, after)
  const isEmpty = Object.keys(changes).length === 0
  const cost = isEmpty && !terms.hasBadFields ? noCost : terms.cost
  const errors = [
    ...headErrors(asset, terms.expectedHead),
    ...(customFits(after.custom) ? [] : [validationFailed({ nitCommitCustom: [tooLargeCustom] })]),
    ...validateCharge('commit', cost, { maxCost, ...(terms.funds && { funds: terms.funds }) }),
  ]
  return { after, changes, isEmpty, cost, errors }
}

function headErrors({ headCommitId }: AssetToUpdate, expectedHead: string | undefined): DomainError[] {
  const head = toId('commit', headCommitId)
  if (expectedHead === undefined || expectedHead === '*' || expectedHead === head) return []
  return [new DomainError('CONFLICT', `The asset has changed since. Its head commit is ${head}.`, { details: head })]
}

/** Runs `check`, and returns its error as a problem of a quote. Rethrows errors that ask the caller to retry. */
export async function problemsIn(check: () => unknown): Promise<DomainError[]> {
  try {
    await check()
    return []
  } catch (error) {
    if (error instanceof DomainError && error.retryAfter === undefined) return [error]
    throw error
  }
}

/**
 * Reverts the metadata in the asset tree to an earlier version, as one new commit. Throws the errors of `updateAsset`, and NOT_FOUND if the
 * version does not exist or belongs to another asset.
 */
export async function revertAsset(
  context: ChangeContext,
  { id, expectedHead, ...fields }: RevertInput & Target,
  query: AssetQuery = {},
): Promise<Asset> {
  const { actor } = context
  assertUserMay(actor, 'asset:update')
  const input = parse(revertInput, fields)
  return changeAsset(context, 'revertAsset', { id, expectedHead }, input, query, (asset) =>
    changeBackTo(context, asset, input),
  )
}

/** Quotes `revertAsset`. A version that does not exist is reported as a problem of the quote. */
export const quoteRevert = async (
  context: QuoteContext,
  { id, expectedHead, ...fields }: RevertInput & Target,
): Promise<Quote> =>
  quoteChange(context, { id, expectedHead }, async (asset) => {
    const { data, refusals } = inspect(revertInput, fields)
    let change: Change = { maxCost: data.maxCost }
    const { revertTo } = data
    if (revertTo === undefined) return { data: change, refusals }
    const problems = await problemsIn(async () => {
      change = await changeBackTo(context, asset, { ...data, revertTo })
    })
    return { data: change, refusals: [...refusals, ...problems] }
  })

/** Returns the change that reverts an asset to an earlier version. Fields that are not in the asset tree stay unchanged. */
async function changeBackTo(
  context: Use<'database'>,
  asset: AssetToUpdate,
  { revertTo, commitMessage, maxCost }: RevertFields,
): Promise<Change> {
  const [version] = await readTrees(context, asset.id, [await findVersion(context, asset.id, revertTo, 'revertTo')])
  const { id, tree } = version!
  const present = asset.custom as Record<string, unknown>
  const { custom, ...fields } = metadataIn(tree, (key) => Object.hasOwn(present, key))
  const added = Object.keys(present).filter((key) => !Object.hasOwn(custom, key))
  return {
    ...fields,
    nitCommitCustom: { ...Object.fromEntries(added.map((key) => [key, null])), ...custom },
    commitMessage: commitMessage ?? `Revert to ${toId('commit', id)}`,
    maxCost,
  }
}
