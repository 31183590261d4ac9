import type { Use } from '../../context.ts'
import type { Asset } from '../../db/prisma/client.ts'
import { toId } from '../../shared/ids.ts'
import { inspect, parse } from '../../shared/input.ts'
import { assertUserMay } from '../../shared/policy.ts'
import { findVersion, readTrees } from '../commits/asset-versions.ts'
import type { Quote } from '../wallet/quote.ts'
import { type RevertFields, type RevertInput, revertInput } from './asset-input.ts'
import { metadataIn } from './asset-tree.ts'
import type { AssetQuery, AssetToUpdate } from './find-asset.ts'
import {
  type Change,
  type ChangeContext,
  changeAsset,
  problemsIn,
  type QuoteContext,
  quoteChange,
  type Target,
} from './update-asset.ts'

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
