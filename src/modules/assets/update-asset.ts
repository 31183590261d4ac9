/** Metadata changes of assets. Each change is one commit that the caller pays for. */
import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Asset, Prisma } from '../../db/prisma/client.ts'
import { givenSql, int, joinedStatement, text, timestamp, uuid } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import { authenticationFailed, DomainError, validationFailed } from '../../shared/errors.ts'
import * as idempotent from '../../shared/idempotency.ts'
import { canonicalNid, toId } from '../../shared/ids.ts'
import { inspect, parse, text as textInput } from '../../shared/input.ts'
import { assertMayOnAsset, assertUserMay, type UserActor } from '../../shared/policy.ts'
import { findVersion, readTrees } from '../commits/commits.ts'
import { eventSql } from '../events/events.sql.ts'
import { charged, chargeSql, heldAccountSql } from '../wallet/ledger-sql.ts'
import * as quotes from '../wallet/quote.ts'
import { type AssetQuery, getOwnAsset } from './find-asset.ts'
import * as metadata from './metadata.ts'

const { onceParams, once, insertIdempotencyKey, onceTypes, onceSql } = idempotent
const { maxCost, noCost, quoteOf, readCommitCost, readFunds, validateCharge } = quotes

type QuoteContext = Use<'actor' | 'config' | 'database' | 'gasFee'>
type ChangeContext = QuoteContext & idempotent.IdempotentContext & Use<'chain' | 'contentStore' | 'notifications'>

const updateSelection = {
  ...{ id: true, nid: true, ownerId: true, mimeType: true, sha256: true, uploadedAt: true },
  ...{ headSequence: true, headCommitId: true, ...metadata.metadataSelection },
  creator: { select: { username: true, wallet: { select: { address: true } } } },
} as const satisfies Prisma.AssetSelect

/** An asset with all values that an update checks and writes into the tree. */
type AssetToUpdate = Prisma.AssetGetPayload<{ select: typeof updateSelection }>

/** Returns an asset with all values that a write and `query` need. The caller must check permissions. */
export async function findAssetToUpdate({ database }: Use<'database'>, id: string, query: AssetQuery = {}) {
  const nid = canonicalNid(id)
  if (nid === undefined) return null
  const select = mergeSelections(updateSelection, (query.select ?? {}) as Selection)
  return database.read.asset.findFirst({ select, where: { nid, deletedAt: null } }) as Promise<AssetToUpdate | null>
}

type Selection = { [name: string]: true | { select?: Selection; where?: { sequence?: unknown } } }
const nested = (selected: Selection[string] | undefined) => (typeof selected === 'object' ? selected.select : undefined)

function mergeSelections(first: Selection, second: Selection): Selection {
  const merged = { ...first, ...second }
  for (const [name, selected] of Object.entries(second)) {
    const [known, added] = [nested(first[name]), nested(selected)]
    if (known && added) merged[name] = { ...(selected as object), select: mergeSelections(known, added) }
  }
  return merged
}

/** Relations that an update does not change. Of the commits, only the first commit is unchanged. */
const unaffected = new Set(['owner', 'creator', 'wallet', 'relay'])
/** Wallet columns that a charge changes. */
const affected = new Set(['num', 'points'])

/** Returns true if an update cannot change the selected values, apart from the updated columns of the asset itself. */
const isUnaffectedByUpdate = (selection: Selection): boolean =>
  Object.entries(selection).every(([name, selected]) => {
    if (selected === true) return !affected.has(name)
    const isUnaffected = unaffected.has(name) || selected.where?.sequence === 1
    return isUnaffected && selected.select !== undefined && isUnaffectedByUpdate(selected.select)
  })

/** An asset, by its nid. `expectedHead`: ID of the newest commit that the caller has seen, or `*` for any commit. */
interface Target {
  id: string
  expectedHead?: string | undefined
}

const updateInput = z.strictObject({ ...metadata.updateInputs, maxCost }).partial()
/** Fields to change. A custom key with the value null is removed. */
type Change = Partial<Omit<metadata.Metadata, 'custom'>> &
  Pick<z.output<typeof updateInput>, 'nitCommitCustom' | 'commitMessage' | 'maxCost'>

/** A kind of change. `changeOf` returns the fields of the current asset that an input changes. */
interface ChangeKind<Schema extends z.ZodObject> {
  operation: string
  schema: Schema
  changeOf(context: Use<'database'>, asset: AssetToUpdate, input: Partial<z.output<Schema>>): Promise<Change>
}

const update: ChangeKind<typeof updateInput> = {
  operation: 'updateAssetMetadata',
  schema: updateInput,
  changeOf: async (_context, _asset, input) => input,
}

const { commitMessage } = metadata.commitInputs
const revertInput = z.strictObject({ revertTo: textInput(64), commitMessage: commitMessage.optional(), maxCost })
const revert: ChangeKind<typeof revertInput> = {
  operation: 'revertAsset',
  schema: revertInput,
  /** Fields that are not in the asset tree stay unchanged. */
  async changeOf(context, asset, { revertTo, commitMessage, maxCost }) {
    if (revertTo === undefined) return { maxCost }
    const [version] = await readTrees(context, asset.id, [await findVersion(context, asset.id, revertTo, 'revertTo')])
    const { id, tree } = version!
    const present = asset.custom as Record<string, unknown>
    const { custom, ...fields } = metadata.metadataIn(tree, (key) => Object.hasOwn(present, key))
    const added = Object.keys(present).filter((key) => !Object.hasOwn(custom, key))
    return {
      ...fields,
      nitCommitCustom: { ...Object.fromEntries(added.map((key) => [key, null])), ...custom },
      commitMessage: commitMessage ?? `Revert to ${toId('commit', id)}`,
      maxCost,
    }
  },
}

type UpdateInput = z.input<typeof updateInput> & Target
type RevertInput = z.input<typeof revertInput> & Target

/**
 * Changes metadata in one commit, and charges the caller. Writes and charges nothing if nothing differs. Throws
 * VALIDATION_FAILED, NOT_FOUND, ASSET_WRITE_PERMISSION_DENIED, CONFLICT, PRICE_EXCEEDS_MAX_COST,
 * ASSET_COMMIT_INSUFFICIENT_FUND.
 */
export const updateAsset = (context: ChangeContext, input: UpdateInput, query?: AssetQuery): Promise<Asset> =>
  changeAsset(context, update, input, query)

/** Reverts the metadata in the asset tree to a version, in one commit. Throws like `updateAsset`. */
export const revertAsset = (context: ChangeContext, input: RevertInput, query?: AssetQuery): Promise<Asset> =>
  changeAsset(context, revert, input, query)

/** The quotes throw only NOT_AUTHENTICATED, NOT_FOUND and ASSET_WRITE_PERMISSION_DENIED. */
export const quoteUpdate = (context: QuoteContext, input: UpdateInput) => quoteChange(context, update, input)
export const quoteRevert = (context: QuoteContext, input: RevertInput) => quoteChange(context, revert, input)

/** Maximum time to retry after conflicts with other writers, in milliseconds. */
const MAX_RETRY_MS = 8_000

async function changeAsset<Schema extends z.ZodObject>(
  context: ChangeContext,
  { operation, schema, changeOf }: ChangeKind<Schema>,
  { id, expectedHead, ...fields }: Target,
  query: AssetQuery = {},
): Promise<Asset> {
  const { actor } = context
  assertUserMay(actor, 'asset:update')
  const input = parse(schema, fields)
  const nid = canonicalNid(id) ?? id
  let changed: AssetToUpdate | undefined
  await once(context, operation, { nid, ...input, expectedHead }, async () => {
    for (const start = performance.now(); performance.now() - start < MAX_RETRY_MS; ) {
      const asset = await findAssetToUpdate(context, nid, query)
      assertMayOnAsset(actor, 'asset:update', asset)
      changed = await tryChange(context, actor, asset, await changeOf(context, asset, input), expectedHead)
      if (changed) return nid
      const [error] = validateCharge('commit', readCommitCost(context), { funds: await readOpenFunds(context, actor) })
      if (error) throw error
    }
    throw new DomainError('CONFLICT', 'The asset is being changed by others. Try again.')
  })
  const isComplete = isUnaffectedByUpdate((query.select ?? {}) as Selection)
  return changed && isComplete ? (changed as unknown as Asset) : getOwnAsset(context, nid, query)
}

/** Tries to change the asset once. Returns undefined after a newer commit, or if the wallet cannot pay. */
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
    await insertIdempotencyKey(context, asset.nid)
    return asset
  }
  const { username: creatorName, wallet } = asset.creator
  const tree = metadata.writeTree({ ...asset, ...after, creatorName, creatorAddress: wallet!.address })
  const [written] = await database.query(updateAssetStatement, {
    ...commitParams(contentStore, user, { message: change.commitMessage, changes, tree }),
    ...{ fee: cost.price, gas: cost.gas, asset: asset.id, nid: asset.nid, headSequence: asset.headSequence },
    ...metadata.metadataParams(after),
    ...onceParams(context),
  })
  if (!written) return undefined
  chain.wake()
  notifications.notify(user)
  const { commit_id: headCommitId, updated_at: updatedAt } = written
  const head = { headSequence: asset.headSequence + 1, headCommitId, updatedAt }
  return { ...asset, ...after, custom: after.custom as Prisma.JsonObject, ...head }
}

/** Throws AUTHENTICATION_FAILED if the account was deleted during the request. */
export async function readOpenFunds(context: Use<'database'>, { id }: UserActor): Promise<quotes.Funds> {
  const funds = await readFunds(context, id)
  if (funds.closed) throw authenticationFailed()
  return funds
}

async function quoteChange<Schema extends z.ZodObject>(
  context: QuoteContext,
  { schema, changeOf }: ChangeKind<Schema>,
  { id, expectedHead, ...fields }: Target,
) {
  const { actor } = context
  assertUserMay(actor, 'asset:update')
  const asset = await findAssetToUpdate(context, id)
  assertMayOnAsset(actor, 'asset:update', asset)
  const { data, refusals } = inspect(schema, fields)
  let change: Change = { maxCost: (data as Change).maxCost }
  const problems = await problemsIn(async () => {
    change = await changeOf(context, asset, data)
  })
  const funds = await readFunds(context, actor.id)
  const hasProblems = refusals.length + problems.length > 0
  const plan = planUpdate(asset, change, { cost: readCommitCost(context), funds, expectedHead, hasProblems })
  return quoteOf(plan.cost, funds, [...refusals, ...problems, ...plan.errors])
}

interface Terms {
  cost: ReturnType<typeof readCommitCost>
  /** If omitted, only the charging statement checks the balances. */
  funds?: quotes.Funds
  expectedHead?: string | undefined
  /** An input with problems counts as a change. */
  hasProblems?: boolean
}

function planUpdate(asset: AssetToUpdate, change: Change, terms: Terms) {
  const { nitCommitCustom = {}, commitMessage: _, maxCost, ...fields } = change
  const before = metadata.metadataOf(asset)
  const after = { ...before, ...fields, custom: metadata.mergeCustom(before.custom, nitCommitCustom) }
  const changes = metadata.compare(before, after)
  const isEmpty = Object.keys(changes).length === 0
  const cost = isEmpty && !terms.hasProblems ? noCost : terms.cost
  const head = toId('commit', asset.headCommitId)
  const errors: DomainError[] = []
  if (![undefined, '*', head].includes(terms.expectedHead)) {
    const conflict = `The asset has changed since. Its head commit is ${head}.`
    errors.push(new DomainError('CONFLICT', conflict, { details: head }))
  }
  if (!metadata.customFits(after.custom)) errors.push(validationFailed({ nitCommitCustom: [metadata.tooLargeCustom] }))
  errors.push(...validateCharge('commit', cost, { maxCost, ...(terms.funds && { funds: terms.funds }) }))
  return { after, changes, isEmpty, cost, errors }
}

/** Returns the error of `check` as a problem of a quote. Rethrows errors that ask the caller to retry. */
export const problemsIn = (check: () => Promise<void>): Promise<DomainError[]> =>
  check().then(
    () => [],
    (error: unknown) => {
      if (error instanceof DomainError && error.retryAfter === undefined) return [error]
      throw error
    },
  )

export function commitParams(
  { identify }: Pick<ContentStore, 'identify'>,
  user: string,
  { message = '', changes, tree }: { message: string | undefined; changes: metadata.Changes; tree: string },
) {
  const { cid: treeCid, sha256: treeSha256 } = identify(Buffer.from(tree))
  return { user, message, changes: JSON.stringify(changes), tree, treeCid, treeSha256 }
}

export const commitParameters = {
  user: uuid,
  message: text,
  changes: text,
  tree: text,
  treeCid: text,
  treeSha256: text,
}

/**
 * Returns the CTEs that insert the commits, relay rows and events of changed assets. `asset`: name of the CTE with one
 * row per changed asset: `id`, `position`, and the columns of the CTE `charge`. `given`: returns the SQL of a parameter.
 */
export const commitSql = (asset: string, given: (name: string) => string) => `
  inserted_commit as (
    insert into commits (id, asset_id, sequence, author_id, message, changes, tree, tree_cid, tree_sha256)
    select commit_id, id, position, payer, ${given('message')}, ${given('changes')}::jsonb, ${given('tree')}, ${given('treeCid')}, ${given('treeSha256')}
    from ${asset}
  ),
  inserted_relay as (
    insert into commit_relays (commit_id, trace) select commit_id, ${given('trace')} from ${asset}
  ),
  ${eventSql({
    ...{ from: asset, owner: 'payer', sequence: 'sequence', type: 'commit.accepted' },
    ...{ commit: 'commit_id', transfer: 'transfer_id' },
  })}`

const ofUpdate = givenSql('updated_asset')

/** Has no effect after a newer commit, or if the wallet cannot pay. */
export const updateAssetStatement = joinedStatement(
  'asset_update',
  {
    apart: ['user', 'asset'],
    parameters: {
      ...{ ...commitParameters, ...charged, asset: uuid, nid: text, headSequence: int },
      ...{ ...metadata.metadataParameters, ...onceTypes },
    },
    columns: { commit_id: uuid, updated_at: timestamp },
  },
  ({ item, skipsLocked, place }) => `with ${item},
   locked_asset as (
     select item.*, item.user as payer
     from item join assets a on a.id = item.asset and a.head_sequence = item.head_sequence and a.deleted_at is null
       ${skipsLocked ? heldAccountSql.join('item.user') : ''}
     for no key update of a ${skipsLocked ? `skip locked ${heldAccountSql.locks}` : ''}
   ),
   ${chargeSql({ from: 'locked_asset' })},
   updated_asset as (
     update assets a set ${metadata.assignMetadataSql(givenSql('charge'))}, head_sequence = charge.head_sequence + 1,
       head_commit_id = charge.commit_id, updated_at = now()
     from charge where a.id = charge.asset
     returning charge.*, a.id, a.head_sequence as position, a.updated_at
   ),
   ${commitSql('updated_asset', ofUpdate)},
   ${onceSql('updated_asset.nid', 'updated_asset', ofUpdate)}
   select ${place} commit_id, updated_at from updated_asset`,
)
