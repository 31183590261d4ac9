/** What assets said before. */
import { z } from 'zod'
import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'
import { anyObject, same } from '../values.ts'
import { nidParam } from './params.ts'
import { seconds } from './present-commit.ts'

const assetTree = z
  .object({
    ...nidParam.shape,
    commit: same('Commit.id', z.string()),
    assetTreeCid: same('Commit.treeCid', z.string()),
    assetTreeSha256: same('Commit.treeSha256', z.string()),
    assetTreeSignature: same('Commit.treeSignature', z.string().nullable()),
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
  variables: ({ params, query }) => ({ id: params.nid!, at: query.get('at') }),
  answer: assetTree,
  present: ({ asset }) => {
    const commit = asset!.commitAt!
    return {
      nid: asset!.nid,
      commit: commit.id,
      assetTreeCid: commit.treeCid,
      assetTreeSha256: commit.treeSha256,
      assetTreeSignature: commit.treeSignature,
      timestampCreated: seconds(commit.createdAt),
      commitMessage: commit.message,
      assetTree: commit.tree!,
    }
  },
})

/** What assets said before. */
export const assetTimeRoutes = [readTree]
