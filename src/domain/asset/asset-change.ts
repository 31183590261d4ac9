/** What an update makes of an asset, and on what terms: the same for the real call and its dry run. */
import { DomainError } from '../errors.ts'
import { toId } from '../ids.ts'
import type { updateInput } from './asset-input.ts'
import type { AssetToUpdate } from './asset-selection.ts'
import { type Changes, compare, type Metadata, mergeCustom } from './asset-tree.ts'

type MetadataGiven = Omit<ReturnType<typeof updateInput.parse>, 'commitMessage' | 'maxCost'>

const metadataOf = (asset: AssetToUpdate): Metadata => ({
  caption: asset.caption,
  headline: asset.headline,
  tag: asset.tag,
  publicAccess: asset.publicAccess,
  custom: asset.custom as Record<string, unknown>,
  signedMetadata: asset.signedMetadata,
  signature: asset.signature,
})

/** The metadata after an update, and how it differs; no changes: nothing is committed, nothing is charged. */
export function changeOf(asset: AssetToUpdate, { nitCommitCustom = {}, ...given }: MetadataGiven) {
  const before = metadataOf(asset)
  const after: Metadata = { ...before, ...given, custom: mergeCustom(before.custom, nitCommitCustom) }
  const changes: Changes = compare(before, after)
  return { after, changes, isNothing: Object.keys(changes).length === 0 }
}

/** Raises CONFLICT when the writer did not see the newest commit. */
export function assertHead({ headCommitId }: AssetToUpdate, expectedHead: string | undefined) {
  const head = toId('commit', headCommitId)
  if (expectedHead === undefined || expectedHead === '*' || expectedHead === head) return
  throw new DomainError('CONFLICT', `The asset has changed since. Its head commit is ${head}.`, { details: head })
}

export const duplicate = (nid: string) =>
  new DomainError('DUPLICATE_ASSET', 'This file is registered already.', { details: [{ id: nid, cid: nid }] })
