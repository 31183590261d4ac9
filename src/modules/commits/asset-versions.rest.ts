/** What assets said before. */
import { z } from 'zod'
import { defineRoute, type RestRequest } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { anyObject, givenAmount, givenText, nidParam, same } from '../../http/rest/values.ts'
import { assetChange, expectedHead, quotedChange, versionOf } from '../assets/asset-change.rest.ts'
import { presentAsset } from '../assets/present-asset.ts'
import { maxCostOf, quoteRoute } from '../wallet/quotes.rest.ts'
import { seconds, treeSignature } from './present-commit.ts'

const assetTree = z
  .object({
    ...nidParam.shape,
    commit: same('Commit.id', z.string()),
    assetTreeCid: same('Commit.treeCid', z.string()),
    assetTreeSha256: same('Commit.treeSha256', z.string()),
    assetTreeSignature: treeSignature,
    timestampCreated: z.number().int().describe('When it was accepted, in seconds since 1970.'),
    commitMessage: same('Commit.message', z.string()),
    assetTree: anyObject.describe('The tree.'),
  })
  .meta({ id: 'AssetTree', description: 'What the metadata of an asset said at one of its commits.' })

const readTree = defineRoute({
  method: 'GET',
  path: 'assets/:nid/tree',
  operationId: 'getAssetTree',
  tag: 'Assets',
  summary: 'Read what an asset said at a moment',
  description:
    'The asset tree of the newest commit at that moment; the newest of all without one. Its exact bytes, which are what is hashed and signed, stand at `/ipfs/<assetTreeCid>` once they are stored.',
  params: nidParam,
  query: z.object({
    at: z
      .string()
      .optional()
      .describe(
        'The moment: a time (`2026-11-22T10:00:00Z`, or seconds since 1970, which mean the end of that second) or the identifier of a commit (`commit_01h2x…`).',
      ),
  }),
  errors: ['NOT_FOUND'],
  action: 'asset:read',
  operation: graphql(/* GraphQL */ `
    query RestAssetTree($id: ID!, $at: String) {
      asset(id: $id) {
        nid
        commitAt(at: $at) {
          id
          message
          treeCid
          treeSha256
          treeSignature
          createdAt
          tree
        }
      }
    }
  `),
  variables: ({ params, query }) => ({ id: params.nid!, at: query.get('at') || undefined }),
  answer: assetTree,
  present: ({ asset }) => {
    const commit = asset!.commitAt!
    return {
      nid: asset!.nid,
      commit: commit.id,
      assetTreeCid: commit.treeCid,
      assetTreeSha256: commit.treeSha256,
      assetTreeSignature: commit.treeSignature ?? '',
      timestampCreated: seconds(commit.createdAt),
      commitMessage: commit.message,
      assetTree: commit.tree!,
    }
  },
})

const revertBody = z
  .object({
    revert_to: same('RevertAssetInput.revertTo', givenText(64).min(1)),
    commit_message: same('RevertAssetInput.commitMessage', givenText(1_000)).optional(),
    max_cost: same('RevertAssetInput.maxCost', givenAmount).optional(),
  })
  .meta({ id: 'RevertAsset', description: 'The version to restore.' })

const revertFrom = (request: RestRequest) => ({
  id: request.params.nid!,
  expectedHead: expectedHead(request),
  revertTo: request.body.text('revert_to') ?? '',
  commitMessage: request.body.text('commit_message'),
  maxCost: maxCostOf(request),
})

const quoteRevert = quoteRoute({
  path: 'quotes/assets/:nid/revert',
  operationId: 'quoteRevertAsset',
  summary: 'Quote the restoration of an earlier version',
  ...quotedChange,
  body: revertBody,
  inputOf: (request) => ({ revertAsset: revertFrom(request) }),
})

const revert = defineRoute({
  method: 'POST',
  path: 'assets/:nid/revert',
  operationId: 'revertAsset',
  tag: 'Assets',
  summary: 'Change an asset back to what it said',
  description:
    'Writes one new commit with what the asset said at a moment, and charges for it as an update; a request that changes nothing answers 200 and costs nothing. The file stays, and who may see it.',
  ...assetChange,
  body: revertBody,
  operation: graphql(/* GraphQL */ `
    mutation RestRevertAsset($input: RevertAssetInput!) {
      revertAsset(input: $input) {
        asset {
          ...AssetRecord
        }
      }
    }
  `),
  variables: (request) => ({ input: revertFrom(request) }),
  present: ({ revertAsset }) => presentAsset(revertAsset.asset),
  etag: ({ revertAsset }) => versionOf(revertAsset.asset),
  quote: quoteRevert,
})

/** What assets said before, and saying it again. */
export const assetVersionRoutes = [readTree, revert, quoteRevert]
