/** Reading asset trees together. Contract: `POST /api/v3/assets/merge-trees/` and `mergedAssetTree`. */
import { z } from 'zod'
import type { Database } from '../../db/database-types.ts'
import { arrayOf, int, orNull, statement, text, uuid } from '../../db/sql.ts'
import type { Actor } from '../../shared/actor.ts'
import { DomainError, notFound } from '../../shared/errors.ts'
import { cidInput, parse } from '../../shared/input.ts'
import { assertMay, visibleAssets } from '../../shared/policy.ts'

/** Trees that one request merges. */
export const MAX_TREES = 1_000
/** Of all trees together, in bytes. */
export const MAX_TREE_BYTES = 4_000_000

const treesInput = z.object({
  trees: z
    .array(
      z.object({
        assetTreeCid: cidInput('Expected the CID of an asset tree.'),
        createdAt: z.date(),
      }),
      { error: 'Expected a list.' },
    )
    .max(MAX_TREES, `Ensure this list has no more than ${MAX_TREES} trees.`),
})

/** Which trees are to be merged, and of what time each is. */
export type TreesInput = z.input<typeof treesInput>

type Tree = Record<string, unknown>

/**
 * Commits by the CIDs of their trees. Pins know the trees that were stored; of those that the relay has not come to yet
 * the newest are looked through.
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

/** Their texts, or none when they are more than `maxBytes` together. */
const readTrees = statement(
  'trees_read',
  { parameters: { commits: arrayOf(uuid), maxBytes: int }, columns: { cid: text, tree: orNull(text) } },
  `select tree_cid as cid, case when sum(octet_length(tree)) over () <= $maxBytes then tree end as tree
   from commits where id = any ($commits)`,
)

const tooLarge = () =>
  new DomainError('VALIDATION_FAILED', 'The trees are too large together: merge fewer of them at once.')

/** Reads asset trees of assets that the actor may see, from the database: the content store is not asked. */
export function createTreeService({ database }: { database: Database }) {
  /** By CID. Only of assets that the actor may see. Raises VALIDATION_FAILED when they are too large together. */
  async function read(actor: Actor, cids: string[]): Promise<Map<string, { tree: Tree; size: number }>> {
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

  return {
    /**
     * The newest value of every top-level key, and the trees as they were asked for; of two trees of one time the later in
     * the list is the newer. Raises VALIDATION_FAILED, NOT_FOUND when a tree is unknown or of an asset that the actor may not see.
     */
    async merge(actor: Actor, rawInput: TreesInput): Promise<{ merged: Tree; trees: Tree[] }> {
      assertMay(actor, 'asset:read')
      const { trees: asked } = parse(treesInput, rawInput)
      const known = await read(actor, [...new Set(asked.map(({ assetTreeCid }) => assetTreeCid))])
      const trees = asked.map(({ assetTreeCid, createdAt }) => {
        const found = known.get(assetTreeCid)
        if (!found) throw notFound('Asset tree')
        return { ...found, createdAt }
      })
      // The same tree may be asked for many times.
      if (trees.reduce((sum, { size }) => sum + size, 0) > MAX_TREE_BYTES) throw tooLarge()
      const oldestFirst = trees.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
      return { merged: Object.assign({}, ...oldestFirst.map(({ tree }) => tree)), trees: trees.map(({ tree }) => tree) }
    },
  }
}
