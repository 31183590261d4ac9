/** Asset trees, read together. */
import { MAX_TREE_BYTES, MAX_TREES } from '../domain/asset/tree-service.ts'
import { builder } from './builder.ts'
import { jsonBytes, wholeDocument } from './sizes.ts'

const AssetTreeInput = builder.inputType('AssetTreeInput', {
  description: 'An asset tree and the time of its commit.',
  fields: (t) => ({
    assetTreeCid: t.field({ type: 'CID', required: true, description: 'As a commit names it.' }),
    createdAt: t.field({ type: 'DateTime', required: true, description: 'When it was committed.' }),
  }),
})

interface Merge {
  merged: Record<string, unknown>
  trees: Record<string, unknown>[]
}

const MergedAssetTree = builder.objectRef<Merge>('MergedAssetTree').implement({
  description: 'What several asset trees tell together.',
  fields: (t) => ({
    mergedAssetTree: t.field({
      ...jsonBytes(MAX_TREE_BYTES),
      type: 'JSONObject',
      description: 'The newest value of every top-level key.',
      resolve: ({ merged }) => merged,
    }),
    assetTrees: t.field({
      ...wholeDocument(MAX_TREE_BYTES, MAX_TREES),
      type: ['JSONObject'],
      description: 'The trees, in the order in which they were asked for.',
      resolve: ({ trees }) => trees,
    }),
  }),
})

builder.queryField('mergedAssetTree', (t) =>
  t.field({
    type: MergedAssetTree,
    description:
      'Merges asset trees: at most 1,000 of them and 4 MB, of assets that you may see. Raises VALIDATION_FAILED, NOT_FOUND.',
    args: { trees: t.arg({ type: [AssetTreeInput], required: true, description: 'The trees to merge.' }) },
    resolve: (_root, { trees }, { actor, services }) => services.trees.merge(actor, { trees }),
  }),
)
