/** Commits: their data on the chain, histories and versions. Callers must check that the actor may see the asset. */

import { z } from 'zod'
import type { Use } from '../../context.ts'
import type { Commit, Prisma } from '../../db/prisma/client.ts'
import { arrayOf, int, orNull, statement, text, timestamp, uuid } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import { DomainError, notFound, validationFailed } from '../../shared/errors.ts'
import { fromId, uuidFrom } from '../../shared/ids.ts'
import { cidInput, parse, parseTimestamp } from '../../shared/input.ts'
import { countLimit, readClientOf, type Search, searched } from '../../shared/lists.ts'
import { assertMay, visibleAssets } from '../../shared/policy.ts'
import { compare, emptyMetadata, metadataIn } from '../assets/metadata.ts'

const actionDescriptions = {
  'action-initial-registration': 'A file was registered, and its first asset tree written.',
  'action-commit': "A registered asset's metadata was changed, and a new asset tree written.",
} as const
type ActionName = keyof typeof actionDescriptions

export const actionNameOf = (sequence: number): ActionName =>
  sequence === 1 ? 'action-initial-registration' : 'action-commit'

const mapValues = (record: Record<ActionName, string>, map: (value: string, name: string) => string) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)])) as typeof record

/** Documents that describe the actions. A commit refers to one by its CID, so their bytes must never change. */
export const actionDocuments = mapValues(actionDescriptions, (description, name) =>
  JSON.stringify({ name, description }, null, 2),
)

export const actionNids = ({ identify }: Pick<ContentStore, 'identify'>) =>
  mapValues(actionDocuments, (document) => identify(Buffer.from(document)).cid)

/** Returns the result of an action: the URL of the asset. */
export const actionResultOf = (publicUrl: string, nid: string) => `${publicUrl}/api/v3/assets/${nid}/`

interface CommitFacts {
  nid: string
  sequence: number
  treeCid: string
  treeSha256: string
  treeSignature: string | null
  creatorAddress: string
  committerAddress: string
  createdAt: Date
  message: string
}

/** Values that are the same for all commits of an installation. */
interface CommitDataConfig {
  provider: string
  publicUrl: string
  actionNids: Record<ActionName, string>
}

export type DescribeCommit = ReturnType<typeof createDescribeCommit>
export type CommitData = ReturnType<DescribeCommit>

/** Returns a function that creates commit data in the public layout (docs/reference/chain-format.md). */
export const createDescribeCommit =
  ({ provider, publicUrl, actionNids }: CommitDataConfig) =>
  (facts: CommitFacts) => {
    const actionName = actionNameOf(facts.sequence)
    // The order of the keys is part of the layout.
    return {
      assetTreeCid: facts.treeCid,
      assetTreeSha256: facts.treeSha256,
      /** EIP-191 signature of `assetTreeSha256` as text. Null until the tree is signed. */
      assetTreeSignature: facts.treeSignature,
      author: facts.creatorAddress,
      committer: facts.committerAddress,
      provider,
      timestampCreated: Math.floor(facts.createdAt.getTime() / 1000),
      action: actionNids[actionName],
      actionResult: actionResultOf(publicUrl, facts.nid),
      actionName,
      abstract: facts.message,
    }
  }

type CommitQuery = Pick<Prisma.CommitFindManyArgs, 'select' | 'include'>

const withMessage = (search: Search) => searched<Prisma.CommitWhereInput>(search, (word) => [{ message: word }])

interface HistoryPage {
  limit: number
  offset?: number | null
  /** Sequence of the last commit before the page. */
  after?: number | null
  isNewestFirst: boolean
  search?: Search
}

/** Throws VALIDATION_FAILED. */
export async function readHistory(
  { database, cutsPages }: Use<'database' | 'cutsPages'>,
  assetId: string,
  { limit, offset, after, isNewestFirst, search }: HistoryPage,
  query: CommitQuery,
): Promise<Commit[]> {
  const found = withMessage(search)
  // Sequences have no gaps, so an offset from the oldest commit is a sequence, which is faster to read.
  const isSequence = !isNewestFirst && !found.AND
  const oldestFirst = { gt: (after ?? 0) + ((isSequence && offset) || 0) }
  const newestFirst = typeof after === 'number' ? { lt: after } : {}
  return readClientOf(database, cutsPages).commit.findMany({
    ...query,
    where: { assetId, sequence: isNewestFirst ? newestFirst : oldestFirst, ...found },
    orderBy: { sequence: isNewestFirst ? 'desc' : 'asc' },
    take: limit,
    ...(offset && !isSequence && { skip: offset }),
  })
}

/** Throws VALIDATION_FAILED. */
export const countHistory = async ({ database }: Use<'database'>, assetId: string, search: Search): Promise<number> =>
  database.read.commit.count({ where: { assetId, ...withMessage(search) }, take: countLimit(0) })

/** Returns a commit by its UUID, or null if the caller may not see its asset. */
export const findCommit = async ({ actor, database }: Use<'actor' | 'database'>, id: string): Promise<Commit | null> =>
  database.read.commit.findFirst({ where: { id, asset: visibleAssets(actor) } })

export const findCommitBySequence = async (
  { database }: Use<'database'>,
  assetId: string,
  sequence: number,
  query: CommitQuery,
): Promise<Commit | null> => database.read.commit.findFirst({ ...query, where: { assetId, sequence } })

/** Throws NOT_FOUND. */
export async function getCommit({ database }: Use<'database'>, assetId: string, commitId: string, query: CommitQuery) {
  const id = uuidFrom(commitId, 'commit', 'Commit')
  const found = await database.read.commit.findFirst({ ...query, where: { assetId, id } })
  if (!found) throw notFound('Commit')
  return found
}

export const versionDescription =
  'a time (`2026-11-22T10:00:00Z`, or seconds since 1970, which mean the end of that second) or the identifier of a commit (`commit_01h2x…`)'

/** Returns the time of a number of seconds, plus `added` milliseconds. A large number means milliseconds. */
export const timeOfNumber = (number: number, added = 0) =>
  new Date(number > 100_000_000_000 ? number : number * 1_000 + added)

/** Parses a version. Returns the UUID of a commit or a timestamp. Throws VALIDATION_FAILED. */
function readVersion(given: string, name: string): { commit: string } | { time: Date } {
  const commit = fromId(given, 'commit')
  if (commit) return { commit: commit.uuid }
  // `timestampCreated` is truncated to seconds, so a number of seconds means the end of that second.
  const time = /^\d{1,15}$/.test(given) ? timeOfNumber(Number(given), 999) : parseTimestamp(given)
  if (time) return { time }
  throw validationFailed({ [name]: [`Expected ${versionDescription}.`] })
}

const findHead = statement(
  'version_find_head',
  { parameters: { asset: uuid }, columns: { sequence: int } },
  'select head_sequence as sequence from assets where id = $asset',
)

const findCommitById = statement(
  'version_find_commit',
  { parameters: { asset: uuid, commit: uuid }, columns: { sequence: int } },
  'select sequence from commits where id = $commit and asset_id = $asset',
)

/**
 * Finds the sequence of the newest commit at a given time. Returns 0 if the asset was registered later. The first commit
 * counts from the time of the upload. The search is binary: sequences have no gaps, and commit times increase.
 */
const findCommitAt = statement(
  'version_find_at',
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

const findTrees = statement(
  'version_trees',
  { parameters: { asset: uuid, sequences: arrayOf(int) }, columns: { id: uuid, sequence: int, tree: text } },
  'select id, sequence, tree from commits where asset_id = $asset and sequence = any ($sequences)',
)

/**
 * Returns the sequence of the given version, or of the newest commit. `name`: argument name for errors. Throws
 * VALIDATION_FAILED, and NOT_FOUND if the version does not exist or belongs to another asset.
 */
export async function findVersion(
  { database }: Use<'database'>,
  asset: string,
  given: string | null | undefined,
  name: string,
): Promise<number> {
  const version = typeof given === 'string' ? readVersion(given, name) : undefined
  const [found] = !version
    ? await database.query(findHead, { asset })
    : 'commit' in version
      ? await database.query(findCommitById, { asset, ...version })
      : await database.query(findCommitAt, { asset, ...version })
  if (!found) throw notFound('Commit')
  if (found.sequence === 0) throw new DomainError('NOT_FOUND', 'The asset was not registered yet at that time.')
  return found.sequence
}

/** Throws NOT_FOUND. */
export async function compareVersions(context: Use<'database'>, asset: string, range: { from: number; to: number }) {
  const trees = await readTrees(context, asset, [range.from, range.to])
  const [before, after] = trees.map(({ tree }) => ({ ...emptyMetadata, ...metadataIn(tree) }))
  return compare(before!, after!)
}

/** Returns the trees in the order of the sequences. Throws NOT_FOUND. */
export async function readTrees({ database }: Use<'database'>, asset: string, sequences: number[]) {
  const rows = await database.query(findTrees, { asset, sequences })
  return sequences.map((sequence) => {
    const row = rows.find((candidate) => candidate.sequence === sequence)
    if (!row) throw notFound('Commit')
    return row
  })
}

export const MAX_TREES = 1_000
/** Maximum total size of the trees in a request, in bytes. */
export const MAX_TREE_BYTES = 4_000_000

const treeInput = z.object({ assetTreeCid: cidInput('Expected the CID of an asset tree.'), createdAt: z.date() })
const tooManyTrees = `Ensure this list has no more than ${MAX_TREES} trees.`
const treesInput = z.object({ trees: z.array(treeInput, 'Expected a list.').max(MAX_TREES, tooManyTrees) })

/** Uses the pins of trees and the newest 1,000 pending commits. */
const findCommitsOfTrees = statement(
  'trees_find',
  { parameters: { cids: arrayOf(text) }, columns: { id: uuid } },
  `with assets_with_tree as (
     select cid, asset_id from pins where cid = any ($cids) and kind = 'TREE'
     union
     select c.tree_cid, c.asset_id
     from (
       select commit_id from commit_relays where status = 'PENDING' and lane is null order by commit_id desc limit 1000
     ) pending_relays join commits c on c.id = pending_relays.commit_id
     where c.tree_cid = any ($cids)
   )
   select distinct on (c.tree_cid, c.asset_id) c.id
   from assets_with_tree a join commits c on c.asset_id = a.asset_id and c.tree_cid = a.cid
   order by c.tree_cid, c.asset_id, c.sequence`,
)

/** The trees are null if their total size exceeds `maxBytes`. */
const readTreesOfCommits = statement(
  'trees_read',
  { parameters: { commits: arrayOf(uuid), maxBytes: int }, columns: { cid: text, tree: orNull(text) } },
  `select tree_cid as cid, case when sum(octet_length(tree)) over () <= $maxBytes then tree end as tree
   from commits where id = any ($commits)`,
)

const tooLarge = () =>
  new DomainError('VALIDATION_FAILED', 'The trees together are too large: merge fewer of them at once.')

/**
 * Returns the newest value of every top-level key, and the trees in the order of the input. If two trees have the same
 * time, the later one in the input is newer. Throws VALIDATION_FAILED, and NOT_FOUND for a tree that the caller may not see.
 */
export async function mergeTrees(context: Use<'actor' | 'database'>, input: z.input<typeof treesInput>) {
  assertMay(context.actor, 'asset:read')
  const { trees: wanted } = parse(treesInput, input)
  const known = await readVisibleTrees(context, [...new Set(wanted.map(({ assetTreeCid }) => assetTreeCid))])
  const trees = wanted.map(({ assetTreeCid, createdAt }) => {
    const found = known.get(assetTreeCid)
    if (!found) throw notFound('Asset tree')
    return { ...found, createdAt }
  })
  // The size is checked again, because the input may contain the same tree several times.
  if (trees.reduce((sum, { size }) => sum + size, 0) > MAX_TREE_BYTES) throw tooLarge()
  const oldestFirst = trees.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
  return { merged: Object.assign({}, ...oldestFirst.map(({ tree }) => tree)), trees: trees.map(({ tree }) => tree) }
}

/** Returns the trees that the caller may see, by CID. Throws VALIDATION_FAILED if their total size is too large. */
async function readVisibleTrees({ actor, database }: Use<'actor' | 'database'>, cids: string[]) {
  const found = (await database.query(findCommitsOfTrees, { cids })).map(({ id }) => id)
  const visible = await database.read.commit.findMany({
    select: { id: true },
    where: { id: { in: found }, asset: visibleAssets(actor) },
  })
  const commits = visible.map(({ id }) => id)
  const rows = await database.query(readTreesOfCommits, { commits, maxBytes: MAX_TREE_BYTES })
  return new Map(
    rows.map(({ cid, tree }) => {
      if (tree === null) throw tooLarge()
      return [cid, { tree: JSON.parse(tree) as Record<string, unknown>, size: Buffer.byteLength(tree) }]
    }),
  )
}
