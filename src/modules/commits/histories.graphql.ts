/** Versions of assets, and verifications of their histories. */
import type { FieldMap } from '@pothos/core'
import type * as verifier from '../../../packages/verify/src/verification.ts'
import { builder, optionalText, optionalTime, time } from '../../graphql/builder.ts'
import { atMost, characters, jsonBytes, pageOf, wholeDocument } from '../../graphql/limits/document-cost.ts'
import { offsetArg } from '../../graphql/lists.ts'
import { AssetType, CHANGES_BYTES, CommitType, outputOf, TREE_BYTES } from '../assets/assets.graphql.ts'
import { customField, inputLengths, mapFields, metadataFields, metadataIn, treeFields } from '../assets/metadata.ts'
import * as reads from './commits.ts'
import { verifyHistory } from './verify-history.ts'

const { findCommitBySequence, findVersion, MAX_TREE_BYTES, MAX_TREES, versionDescription } = reads
const versionPages = pageOf(100, 20, TREE_BYTES)

const notInTree = Object.keys(metadataFields).filter((name) => !Object.hasOwn(treeFields, name))

const AssetVersionType = builder.prismaObject('Commit', {
  variant: 'AssetVersion',
  description: `An asset after one of its commits, read from the asset tree of that commit. Fields that are not in the tree have no earlier versions: ${notInTree.join(', ')} and meta. Raises NOT_FOUND after the tree was erased with its asset.`,
  select: { id: true, tree: true },
  fields: (t) => ({
    commit: t.variant(CommitType, { description: 'The commit.' }),
    ...mapFields<FieldMap>(treeFields, (field, name) =>
      t.field({
        ...outputOf(field),
        resolve: ({ tree }) => (metadataIn(tree)[name as 'caption'] ?? field.empty) as string,
      }),
    ),
    nitCommitCustom: t.field({
      ...jsonBytes(customField.size),
      type: 'JSONObject',
      description:
        'Custom fields of the tree. A custom field with the name of a standard field is shown as that field.',
      resolve: ({ tree }) => metadataIn(tree).custom,
    }),
  }),
})

const oneVersion = { ...jsonBytes(TREE_BYTES), type: AssetVersionType, nullable: true } as const

const AssetDiff = builder.objectRef<{ asset: string; from: number; to: number }>('AssetDiff').implement({
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
        'The differences, in the format of `Commit.changes`. Custom fields contain only the keys that differ.',
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
      from: typeof from === 'string' ? await findVersion(context, id, from, 'from') : 1,
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

const MergedAssetTree = builder.objectRef<Awaited<ReturnType<typeof reads.mergeTrees>>>('MergedAssetTree').implement({
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

const FINDING_CHARACTERS = 1_000
const MAX_CHECKS = 12
const verifiedPages = pageOf(50)

const resultValues = {
  RIGHT: { value: 'right', description: 'The check passed.' },
  WRONG: { value: 'wrong', description: 'The evidence contradicts itself.' },
  UNKNOWN: { value: 'unknown', description: 'Evidence is missing or unreadable.' },
} as const
const FindingResult = builder.enumType('FindingResult', { description: 'Result of a check.', values: resultValues })

const verdictValues = {
  HOLDS: { value: 'holds', description: 'All checks passed.' },
  BROKEN: { value: 'broken', description: 'The evidence contradicts itself.' },
  UNSETTLED: { value: 'unsettled', description: 'No contradiction was found, but evidence is missing or unreadable.' },
  UNKNOWN: { value: 'unknown', description: 'The chain has no valid commit of the asset.' },
} as const satisfies Record<string, { value: verifier.Verdict; description: string }>
const VerdictType = builder.enumType('Verdict', { description: 'Verdict on a history.', values: verdictValues })

const findingFields = (
  t: PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, verifier.Finding>,
) => ({
  result: t.expose('result', { type: FindingResult, description: 'Result of the check.' }),
  finding: t.string({
    ...optionalText(FINDING_CHARACTERS, 'The reason, as a sentence. Null when the result is RIGHT.'),
    resolve: ({ finding }) => finding?.slice(0, FINDING_CHARACTERS),
  }),
})

const FindingType = builder
  .objectRef<verifier.Finding>('Finding')
  .implement({ description: 'Result of one check, with its reason.', fields: findingFields })

const CheckType = builder.objectRef<verifier.Check>('Check').implement({
  description: 'One check of a commit.',
  fields: (t) => ({
    name: t.exposeString('name', {
      ...characters(16),
      description:
        'Name of the check: `event`, `transaction`, `layout`, `tree`, `sha256`, `asset`, `signature`, `author`, `order`, `time` or `record`.',
    }),
    ...findingFields(t),
  }),
})

const nullIfMissing = 'Null if the node did not return it.'

const VerifiedCommitType = builder.objectRef<verifier.VerifiedCommit>('VerifiedCommit').implement({
  description: 'A commit on the chain.',
  fields: (t) => ({
    life: t.exposeInt('life', {
      description: 'Number of the registration of the file, from 1. A deleted file can be registered again.',
    }),
    blockNumber: t.exposeInt('blockNumber', { description: 'Number of the block of the commit.' }),
    blockTime: t.field({ ...time('Time of the block.'), resolve: ({ blockTime }) => new Date(blockTime) }),
    transactionHash: t.exposeString(
      'transactionHash',
      optionalText(66, `Hash of the chain transaction. ${nullIfMissing}`),
    ),
    recorder: t.exposeString(
      'recorder',
      optionalText(42, 'Address of the account that wrote the commit to the chain.'),
    ),
    treeCid: t.string({
      ...optionalText(255, 'CID of the asset tree, as recorded on the chain.'),
      resolve: ({ commitData }) => commitData?.assetTreeCid.slice(0, 255),
    }),
    message: t.string({
      ...optionalText(inputLengths.commitMessage, 'Message of the author, from the chain.'),
      resolve: ({ commitData }) => commitData?.abstract.slice(0, inputLengths.commitMessage),
    }),
    checks: t.expose('checks', { ...atMost(MAX_CHECKS), type: [CheckType], description: 'All checks of the commit.' }),
  }),
})

const optionalFinding = { type: FindingType, nullable: true } as const

const VerificationType = builder.objectRef<verifier.Verification>('Verification').implement({
  description:
    'Result of verifying a history against the chain and the file network. `annal-verify` does the same without this service.',
  fields: (t) => ({
    verdict: t.expose('verdict', { type: VerdictType, description: 'The verdict.' }),
    registry: t.expose('registry', { type: 'Address', description: 'Address of the registry.' }),
    chainId: t.float({
      nullable: true,
      description: `ID of the chain: an integer that may exceed 32 bits. ${nullIfMissing}`,
      resolve: ({ chainId }) => chainId,
    }),
    asOfBlock: t.int({
      nullable: true,
      description: `Number of the newest block. ${nullIfMissing}`,
      resolve: ({ asOf }) => asOf?.number,
    }),
    asOfTime: t.field({
      ...optionalTime(`Time of the newest block. ${nullIfMissing}`),
      resolve: ({ asOf }) => asOf && new Date(asOf.time),
    }),
    complete: t.expose('complete', {
      type: FindingType,
      description: 'Check that the list of commits is complete. UNKNOWN if the list or a block could not be read.',
    }),
    settled: t.expose('settled', { type: FindingType, description: 'Check that the blocks are part of the chain.' }),
    file: t.expose('file', { ...optionalFinding, description: 'Check that the file matches the trees.' }),
    record: t.expose('record', {
      ...optionalFinding,
      description: 'Check that the chain has every commit that the database records as written.',
    }),
    foreign: t.exposeInt('foreign', { description: 'Number of commits by unknown recorders, which are ignored.' }),
    commitCount: t.int({ description: 'Number of commits on the chain.', resolve: ({ commits }) => commits.length }),
    commits: t.field({
      ...verifiedPages,
      type: [VerifiedCommitType],
      description: 'The commits, oldest first.',
      args: { limit: t.arg.int({ description: 'Maximum number of commits.' }), offset: offsetArg(t) },
      resolve: ({ commits }, { limit, offset }) => {
        const from = offset ?? 0
        return commits.slice(from, from + (limit ?? verifiedPages.defaultSize))
      },
    }),
  }),
})

builder.prismaObjectField(AssetType, 'verification', (t) =>
  t.field({
    // The cost is high, because a verification requests every block of the history from the chain.
    ...wholeDocument(1_000, 500),
    type: VerificationType,
    nullable: true,
    description:
      'Verifies the history on the chain during the request. If the node or the file store does not respond, the verdict is UNSETTLED. Raises CONFLICT while there is no registry, VALIDATION_FAILED for histories of more than 1,000 commits, UNAVAILABLE if too many verifications are in progress.',
    resolve: ({ nid }, _args, context) => verifyHistory(context, nid),
  }),
)
