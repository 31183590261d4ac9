/** The result of a change of an asset, its cost, and the reasons to refuse it. Real calls and quotes share it. */

import type { Database } from '../../db/database-types.ts'
import type { StoredFile } from '../../files/file-types.ts'
import { DomainError, validationFailed } from '../../shared/errors.ts'
import { toId } from '../../shared/ids.ts'
import { type Cost, type Funds, nothingToPay, refusalsOf } from '../wallet/quote.ts'
import { refusalsOfCustom } from './asset-input.ts'
import type { AssetToUpdate } from './asset-selection.ts'
import { type Changes, compare, mergeCustom } from './asset-tree.ts'
import { findRegistered } from './assets.sql.ts'
import { type Metadata, metadataOf } from './metadata.ts'

/** What an update would come to. */
export interface UpdateJudgement {
  after: Metadata
  changes: Changes
  /** Whether nothing changes: then nothing is committed, and nothing is charged. */
  isNothing: boolean
  cost: Cost
  /** Everything that stands in the way; the real call raises the first of it. */
  refusals: DomainError[]
}

/** What is to change, and on which terms. A custom key that is null goes. */
export type Change = Partial<Omit<Metadata, 'custom'>> & {
  nitCommitCustom?: Record<string, unknown> | undefined
  commitMessage?: string | undefined
  maxCost?: string | undefined
}

interface Terms {
  /** Of a commit. */
  cost: Cost
  /** Whether the wallet must hold what it costs; the statement that charges decides in the end. */
  funds?: Funds
  /** The newest commit that the writer saw. */
  expectedHead?: string | undefined
  /** Whether fields were given that are not good: they would have changed something. */
  hasBadFields?: boolean
}

/** What an update would make of the asset as it is. */
export function judgeUpdate(asset: AssetToUpdate, given: Change, terms: Terms): UpdateJudgement {
  const { nitCommitCustom = {}, commitMessage: _, maxCost, ...fields } = given
  const before = metadataOf(asset)
  const after: Metadata = { ...before, ...fields, custom: mergeCustom(before.custom, nitCommitCustom) }
  const changes = compare(before, after)
  const isNothing = Object.keys(changes).length === 0
  const cost = isNothing && !terms.hasBadFields ? nothingToPay : terms.cost
  const refusals = [
    ...refusalsOfHead(asset, terms.expectedHead),
    ...refusalsOfCustom(after.custom),
    ...refusalsOf('commit', cost, { maxCost, ...(terms.funds && { funds: terms.funds }) }),
  ]
  return { after, changes, isNothing, cost, refusals }
}

function refusalsOfHead({ headCommitId }: AssetToUpdate, expectedHead: string | undefined): DomainError[] {
  const head = toId('commit', headCommitId)
  if (expectedHead === undefined || expectedHead === '*' || expectedHead === head) return []
  return [new DomainError('CONFLICT', `The asset has changed since. Its head commit is ${head}.`, { details: head })]
}

/** The refusal DUPLICATE_ASSET; its details name the asset that the file is already. */
export const duplicate = (nid: string) =>
  new DomainError('DUPLICATE_ASSET', 'This file is registered already.', { details: [{ id: nid, cid: nid }] })

/** Raises VALIDATION_FAILED for an empty file. */
export function assertNotEmpty({ size }: Pick<StoredFile, 'size'>): void {
  if (size === 0) throw validationFailed({ assetFile: ['The submitted file is empty.'] })
}

/** Returns the time of the database. Raises VALIDATION_FAILED for an empty file, DUPLICATE_ASSET. */
export async function assertNew(
  { query }: Pick<Database, 'query'>,
  { cid, size }: Pick<StoredFile, 'cid' | 'size'>,
): Promise<Date> {
  assertNotEmpty({ size })
  const [found] = await query(findRegistered, { nid: cid })
  if (found!.is_registered) throw duplicate(cid)
  return found!.now
}
