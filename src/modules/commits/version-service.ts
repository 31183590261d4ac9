/** Versions of assets: finding them in a history, comparing them, and reverting to them. */

import type { Database } from '../../db/database-types.ts'
import { arrayOf, int, statement, text, timestamp, uuid } from '../../db/sql.ts'
import { DomainError, notFound, validationFailed } from '../../shared/errors.ts'
import { fromId, toId } from '../../shared/ids.ts'
import { parseTimestamp } from '../../shared/input.ts'
import type { RevertFields } from '../assets/asset-input.ts'
import type { AssetToUpdate } from '../assets/asset-selection.ts'
import { type Changes, compare, metadataIn } from '../assets/asset-tree.ts'
import type { Change } from '../assets/asset-validation.ts'
import { nothing } from '../assets/metadata.ts'

/** The selector of a version in a caller's input. */
export const momentDescription =
  'a time (`2026-11-22T10:00:00Z`, or seconds since 1970, which mean the end of that second) or the identifier of a commit (`commit_01h2x…`)'

/** Numbers above this are milliseconds. */
const MAX_SECONDS = 100_000_000_000

/** `timestampCreated` is cut to seconds, so a number means the end of its second. */
const endOf = (seconds: number) => seconds * 1_000 + 999

/** Returns the UUID of a commit, or a time. `name` is the name of the argument. Raises VALIDATION_FAILED. */
function readMoment(given: string, name: string): { commit: string } | { time: Date } {
  const commit = fromId(given, 'commit')
  if (commit) return { commit: commit.uuid }
  if (/^\d{1,15}$/.test(given)) {
    const number = Number(given)
    return { time: new Date(number > MAX_SECONDS ? number : endOf(number)) }
  }
  const time = parseTimestamp(given)
  if (time) return { time }
  throw validationFailed({ [name]: [`Expected ${momentDescription}.`] })
}

const findHead = statement(
  'version_head',
  { parameters: { asset: uuid }, columns: { sequence: int } },
  'select head_sequence as sequence from assets where id = $asset',
)

const findCommit = statement(
  'version_place',
  { parameters: { asset: uuid, commit: uuid }, columns: { sequence: int } },
  'select sequence from commits where id = $commit and asset_id = $asset',
)

/**
 * The sequence of the newest commit up to a time; 0 if the asset was registered later. The first commit counts from the upload on, whose
 * time is read before the commit is written. A binary search: times grow with sequences, which have no gaps.
 */
export const findCommitAt = statement(
  'version_place_at',
  { parameters: { asset: uuid, time: timestamp }, columns: { sequence: int } },
  `with recursive search as (
     select case when uploaded_at <= $time then 1 else 0 end as low, head_sequence as high from assets where id = $asset
     union all
     select case when c.created_at <= $time then c.sequence else low end,
       case when c.created_at <= $time then high else c.sequence - 1 end
     from search join commits c on c.asset_id = $asset and c.sequence = (low + high + 1) / 2
     where low < high
   )
   select low as sequence from search where low = high`,
)

const readTrees = statement(
  'version_trees',
  { parameters: { asset: uuid, sequences: arrayOf(int) }, columns: { id: uuid, sequence: int, tree: text } },
  'select id, sequence, tree from commits where asset_id = $asset and sequence = any ($sequences)',
)

/** Versions of assets that the caller may see. Assets are named by their UUID. */
export type VersionService = ReturnType<typeof createVersionService>

/** Creates the version service. */
export function createVersionService({ database }: { database: Database }) {
  /**
   * Returns the sequence of the commit that `given` names, or of the newest commit without `given`. `name` is the name of the argument.
   * Raises VALIDATION_FAILED, and NOT_FOUND if the asset was not registered yet, or the commit belongs to another asset.
   */
  async function sequenceOf(asset: string, given: string | null | undefined, name: string): Promise<number> {
    const moment = typeof given === 'string' ? readMoment(given, name) : undefined
    const [found] = !moment
      ? await database.query(findHead, { asset })
      : 'commit' in moment
        ? await database.query(findCommit, { asset, ...moment })
        : await database.query(findCommitAt, { asset, ...moment })
    if (!found) throw notFound('Commit')
    if (found.sequence === 0) throw new DomainError('NOT_FOUND', 'The asset was not registered yet at that time.')
    return found.sequence
  }

  /** Returns the commits with these sequences, in that order. Raises NOT_FOUND. */
  async function read(asset: string, sequences: number[]) {
    const rows = await database.query(readTrees, { asset, sequences })
    return sequences.map((sequence) => {
      const row = rows.find((candidate) => candidate.sequence === sequence)
      if (!row) throw notFound('Commit')
      return row
    })
  }

  return {
    sequenceOf,

    /** Compares the versions with these sequences. Raises NOT_FOUND. */
    async changes(asset: string, from: number, to: number): Promise<Changes> {
      const [before, after] = (await read(asset, [from, to])).map(({ tree }) => ({ ...nothing, ...metadataIn(tree) }))
      return compare(before!, after!)
    },

    /**
     * Returns the change that reverts an asset to a version. Everything that is not in the asset tree stays as it is. Raises VALIDATION_FAILED,
     * and NOT_FOUND as `sequenceOf` does.
     */
    async changeBackTo(asset: AssetToUpdate, { revertTo, commitMessage, maxCost }: RevertFields): Promise<Change> {
      const [row] = await read(asset.id, [await sequenceOf(asset.id, revertTo, 'revertTo')])
      const { id, tree } = row!
      const present = asset.custom as Record<string, unknown>
      const { custom, ...fields } = metadataIn(tree, (key) => Object.hasOwn(present, key))
      const added = Object.keys(present).filter((key) => !Object.hasOwn(custom, key))
      return {
        ...fields,
        nitCommitCustom: { ...Object.fromEntries(added.map((key) => [key, null])), ...custom },
        commitMessage: commitMessage ?? `Revert to ${toId('commit', id)}`,
        maxCost,
      }
    },
  }
}
