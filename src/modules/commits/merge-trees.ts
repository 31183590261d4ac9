import { z } from 'zod'
import type { Use } from '../../context.ts'
import { arrayOf, int, orNull, statement, text, uuid } from '../../db/sql.ts'
import { DomainError, notFound } from '../../shared/errors.ts'
import { cidInput, parse } from '../../shared/input.ts'
import { assertMay, visibleAssets } from '../../shared/policy.ts'

/** Maximum number of trees per request. */
export const MAX_TREES = 1_000
/** Maximum total size of the trees in a request, in bytes. */
export const MAX_TREE_BYTES = 4_000_000

const treesInput = z.object({
  trees: z
    .array(z.object({ assetTreeCid: cidInput('Expected the CID of an asset tree.'), createdAt: z.date() }), {
      error: 'Expected a list.',
    })
    .max(MAX_TREES, `Ensure this list has no more than ${MAX_TREES} trees.`),
})

type TreesInput = z.input<typeof treesInput>

type Tree = Record<string, unknown>

/**
 * Finds commits by the CIDs of their trees. Stored trees are found by their pins. Trees that are not stored yet are found among the newest
 * 1000 pending commits.
 */
const findTrees = statement(
  'trees_find',
  { parameters: { cids: arrayOf(text) }, columns: { id: uuid } },
  `with place as (
     select cid, asset_id from pins where cid = any ($cids) and kind = 'TREE'
     union
     select c.tree_cid, c.asset_id
     from (
       select commit_id from commit_relays where status = 'PENDING' and lane is null order by commit_id desc limit 1000
     ) fresh join commits c on c.id = fresh.commit_id
     where c.tree_cid = any ($cids)
   )
   select distinct on (c.tree_cid, c.asset_id) c.id
   from place join commits c on c.asset_id = place.asset_id and c.tree_cid = place.cid
   order by c.tree_cid, c.asset_id, c.sequence`,
)

/** Reads trees. The texts are null if their total size exceeds `maxBytes`. */
const readTrees = statement(
  'trees_read',
  { parameters: { commits: arrayOf(uuid), maxBytes: int }, columns: { cid: text, tree: orNull(text) } },
  `select tree_cid as cid, case when sum(octet_length(tree)) over () <= $maxBytes then tree end as tree
   from commits where id = any ($commits)`,
)

const tooLarge = () =>
  new DomainError('VALIDATION_FAILED', 'The trees are too large together: merge fewer of them at once.')

/**
 * Merges trees. Returns the newest value of every top-level key, and the trees in the order of the input. If two trees have the same time,
 * the later one in the input is newer. Throws VALIDATION_FAILED. Throws NOT_FOUND for a tree that does not exist or that the caller may not
 * see.
 */
export async function mergeTrees(
  context: Use<'actor' | 'database'>,
  input: TreesInput,
): Promise<{ merged: Tree; trees: Tree[] }> {
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
async function readVisibleTrees(
  { actor, database }: Use<'actor' | 'database'>,
  cids: string[],
): Promise<Map<string, { tree: Tree; size: number }>> {
  const found = (await database.query(findTrees, { cids })).map(({ id }) => id)
  const visible = await database.read.commit.findMany({
    select: { id: true },
    where: { id: { in: found }, asset: visibleAssets(actor) },
  })
  const rows = await database.query(readTrees, { commits: visible.map(({ id }) => id), maxBytes: MAX_TREE_BYTES })
  return new Map(
    rows.map(({ cid, tree }) => {
      if (tree === null) throw tooLarge()
      return [cid, { tree: JSON.parse(tree) as Tree, size: Buffer.byteLength(tree) }]
    }),
  )
}
