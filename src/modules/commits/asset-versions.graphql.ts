import { builder } from '../../graphql/builder.ts'
import { jsonBytes, pageOf, wholeDocument } from '../../graphql/limits/document-cost.ts'
import { AssetType } from '../assets/assets.graphql.ts'
import { customField, type Metadata, metadataFields, metadataIn } from '../assets/metadata.ts'
import * as reads from './asset-versions.ts'
import { CHANGES_BYTES, CommitType, describe, TREE_BYTES } from './commits.graphql.ts'

const { findCommitBySequence, findVersion, MAX_TREE_BYTES, MAX_TREES, versionDescription } = reads
/** Sequence of the commit that registers an asset. */
const REGISTRATION = 1
const versionPages = pageOf(100, 20, TREE_BYTES)

const fieldIn = <Name extends 'caption' | 'headline' | 'altText'>(tree: string, name: Name) =>
  (metadataIn(tree) as Partial<Metadata>)[name] ?? metadataFields[name].empty

const AssetVersionType = builder.prismaObject('Commit', {
  variant: 'AssetVersion',
  description:
    'An asset after one of its commits, read from the asset tree of that commit. Fields that are not in the tree have no earlier versions: ' +
    'tag, publicAccess, meta, signedMetadata and signature. Raises NOT_FOUND after the tree was erased with its asset.',
  select: { id: true, tree: true },
  fields: (t) => ({
    commit: t.variant(CommitType, { description: 'The commit.' }),
    caption: t.string({ ...describe(metadataFields.caption), resolve: ({ tree }) => fieldIn(tree, 'caption') }),
    headline: t.string({ ...describe(metadataFields.headline), resolve: ({ tree }) => fieldIn(tree, 'headline') }),
    altText: t.string({ ...describe(metadataFields.altText), resolve: ({ tree }) => fieldIn(tree, 'altText') }),
    nitCommitCustom: t.field({
      ...jsonBytes(customField.size),
      type: 'JSONObject',
      description:
        'Custom fields of the asset tree. A custom field with the name of another field of the tree, such as `abstract`, is shown as that field.',
      resolve: ({ tree }) => metadataIn(tree).custom,
    }),
  }),
})

interface Diff {
  asset: string
  from: number
  to: number
}

const oneVersion = { ...jsonBytes(TREE_BYTES), type: AssetVersionType, nullable: true } as const

const AssetDiff = builder.objectRef<Diff>('AssetDiff').implement({
  description: 'The differences between two versions of an asset.',
  fields: (t) => ({
    from: t.prismaField({
      ...oneVersion,
      description: 'The older version of the comparison.',
      resolve: (query, { asset, from }, _args, context) => findCommitBySequence(context, asset, from, query),
    }),
    to: t.prismaField({
      ...oneVersion,
      description: 'The newer version of the comparison.',
      resolve: (query, { asset, to }, _args, context) => findCommitBySequence(context, asset, to, query),
    }),
    changes: t.field({
      ...jsonBytes(CHANGES_BYTES + 2 * TREE_BYTES),
      type: 'JSONObject',
      nullable: true,
      description:
        'The differences, as in `Commit.changes`: `{"caption": ["before", "after"]}`. Of custom fields only the keys that differ. Empty if nothing differs.',
      resolve: ({ asset, ...range }, _args, context) => reads.compareVersions(context, asset, range),
    }),
  }),
})

const ERRORS =
  'Raises VALIDATION_FAILED, and NOT_FOUND if the asset was not registered yet, or the commit belongs to another asset.'

builder.prismaObjectFields(AssetType, (t) => ({
  version: t.read({
    ...oneVersion,
    description: 'The asset after a commit. Raises NOT_FOUND if the commit belongs to another asset.',
    args: { commitId: t.arg.id({ required: true, description: 'ID of the commit.' }) },
    resolve: (query, { id }, { commitId }, context) => reads.getCommit(context, id, commitId, query),
  }),
  versions: t.read({
    type: [AssetVersionType],
    ...versionPages,
    description: 'The versions of the asset, newest first.',
    args: {
      limit: t.arg.int({ description: 'Maximum number of versions.' }),
      before: t.arg.int({ description: 'Returns only versions before the commit with this sequence.' }),
    },
    resolve: (query, { id }, { limit, before: after }, context) =>
      reads.readHistory(context, id, { limit: limit ?? versionPages.defaultSize, after, isNewestFirst: true }, query),
  }),
  commitAt: t.read({
    type: CommitType,
    nullable: true,
    description: `The newest commit at a time. ${ERRORS}`,
    args: { at: t.arg.string({ description: `The version: ${versionDescription}. Defaults to the newest commit.` }) },
    resolve: async (query, { id }, { at }, context) =>
      findCommitBySequence(context, id, await findVersion(context, id, at, 'at'), query),
  }),
  diff: t.field({
    type: AssetDiff,
    nullable: true,
    description: `The differences between two versions, in either order. ${ERRORS}`,
    args: {
      from: t.arg.string({ description: `The first version: ${versionDescription}. Defaults to the registration.` }),
      to: t.arg.string({ description: `The second version: ${versionDescription}. Defaults to the newest commit.` }),
    },
    resolve: async ({ id }, { from, to }, context) => ({
      asset: id,
      from: typeof from === 'string' ? await findVersion(context, id, from, 'from') : REGISTRATION,
      to: await findVersion(context, id, to, 'to'),
    }),
  }),
}))

const AssetTreeInput = builder.inputType('AssetTreeInput', {
  description: 'An asset tree and the time of its commit.',
  fields: (t) => ({
    assetTreeCid: t.field({ type: 'CID', required: true, description: 'CID of the tree, as in a commit.' }),
    createdAt: t.field({ type: 'DateTime', required: true, description: 'Time of the commit that wrote this tree.' }),
  }),
})

interface Merge {
  merged: Record<string, unknown>
  trees: Record<string, unknown>[]
}

const MergedAssetTree = builder.objectRef<Merge>('MergedAssetTree').implement({
  description: 'The merged content of several asset trees.',
  fields: (t) => ({
    mergedAssetTree: t.expose('merged', {
      ...jsonBytes(MAX_TREE_BYTES),
      type: 'JSONObject',
      description: 'The newest value of every top-level key.',
    }),
    assetTrees: t.expose('trees', {
      ...wholeDocument(MAX_TREE_BYTES, MAX_TREES),
      type: ['JSONObject'],
      description: 'The trees, in the order of the request.',
    }),
  }),
})

builder.queryField('mergedAssetTree', (t) =>
  t.field({
    type: MergedAssetTree,
    description:
      'Merges asset trees of assets that you may see: at most 1,000 trees and 4 MB. Raises VALIDATION_FAILED, NOT_FOUND.',
    args: { trees: t.arg({ type: [AssetTreeInput], required: true, description: 'The trees to merge.' }) },
    resolve: (_root, { trees }, context) => reads.mergeTrees(context, { trees }),
  }),
)
