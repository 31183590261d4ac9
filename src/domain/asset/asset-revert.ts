/** What an asset said once, as a change of what it says now. */
import { toId } from '../ids.ts'
import type { Change } from './asset-guards.ts'
import type { RevertFields } from './asset-input.ts'
import type { AssetToUpdate } from './asset-selection.ts'
import { metadataOf } from './metadata.ts'
import type { VersionService } from './version-service.ts'

/**
 * The change that has an asset say again what it said at a moment. Who may see it stays: nothing that was hidden since is shown by this.
 * Raises VALIDATION_FAILED, and NOT_FOUND when it was not registered yet, or the commit is none of its own.
 */
export async function changeBackTo(
  versions: Pick<VersionService, 'at'>,
  asset: AssetToUpdate,
  { revertTo, commitMessage, maxCost }: RevertFields,
): Promise<Change> {
  const { commitId, metadata } = await versions.at(asset.id, revertTo, 'revertTo')
  const { publicAccess: _, custom, ...said } = metadata
  const added = Object.keys(metadataOf(asset).custom).filter((key) => !Object.hasOwn(custom, key))
  return {
    ...said,
    nitCommitCustom: { ...Object.fromEntries(added.map((key) => [key, null])), ...custom },
    commitMessage: commitMessage ?? `Revert to ${toId('commit', commitId)}`,
    maxCost,
  }
}
