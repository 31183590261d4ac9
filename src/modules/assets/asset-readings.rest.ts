/** What callers read of assets by POST: it changes nothing, and costs nothing. */
import { z } from 'zod'
import { defineRoute } from '../../http/rest/define-route.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { anyObject, givenList, givenText, nidParam, url } from '../../http/rest/values.ts'
import { validationFailed } from '../../shared/errors.ts'

const givenTree = z
  .object({
    assetTreeCid: z.string().describe('As a commit names it.'),
    timestampCreated: z.number().describe('Time of the commit, in seconds since 1970.'),
  })
  .meta({ id: 'AssetTreeAtTime', description: 'An asset tree and the time of its commit.' })

const mergedTrees = z
  .object({
    mergedAssetTree: anyObject.describe('The newest value of every key.'),
    assetTrees: z.array(anyObject).describe('The trees, in the order of the request.'),
  })
  .meta({ id: 'MergedAssetTrees', description: 'Asset trees, and what they say together.' })

const invalidTree = () =>
  validationFailed({ trees: ['Expected a list of {"assetTreeCid": "…", "timestampCreated": 0}.'] })

/** More than this many seconds are milliseconds. */
const MAX_SECONDS = 100_000_000_000

/** Times come in seconds, from some scripts in milliseconds, and as text. */
function timeOf(value: unknown): Date {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number') throw invalidTree()
  const time = new Date(number > MAX_SECONDS ? number : number * 1000)
  if (Number.isNaN(time.getTime())) throw invalidTree()
  return time
}

function treeOf(value: unknown) {
  const { assetTreeCid, timestampCreated } = Object(value)
  if (typeof assetTreeCid !== 'string') throw invalidTree()
  return { assetTreeCid, createdAt: timeOf(timestampCreated) }
}

const mergeTrees = defineRoute({
  method: 'POST',
  path: 'assets/merge-trees',
  operationId: 'mergeAssetTrees',
  tag: 'Assets',
  summary: 'Merge asset trees',
  description:
    'The newest value of every top-level key of these trees. The body is a list; it changes and costs nothing.',
  errors: ['NOT_FOUND'],
  body: z
    .object({ trees: givenList(givenTree).describe('The trees of commits, with their times.') })
    .meta({ id: 'MergeAssetTrees', description: 'The trees to merge.' }),
  action: 'asset:read',
  listAs: 'trees',
  operation: graphql(/* GraphQL */ `
    query RestMergeTrees($trees: [AssetTreeInput!]!) {
      mergedAssetTree(trees: $trees) {
        mergedAssetTree
        assetTrees
      }
    }
  `),
  variables: ({ body }) => ({ trees: (body.list('trees') ?? []).map(treeOf) }),
  answer: mergedTrees,
  present: ({ mergedAssetTree: { mergedAssetTree, assetTrees } }) => ({ mergedAssetTree, assetTrees }),
})

const download = defineRoute({
  method: 'POST',
  path: 'assets/:nid/download',
  operationId: 'downloadAsset',
  tag: 'Assets',
  summary: 'Ask where a file can be downloaded',
  description: 'The address of a private file is good for a while and for whoever has it.',
  params: nidParam,
  body: z
    .object({
      field: givenText()
        .optional()
        .describe('`asset_file_thumbnail` for the small picture of an image; else the file itself.'),
    })
    .meta({ id: 'DownloadAsset', description: 'What to download.' }),
  action: 'asset:read',
  operation: graphql(/* GraphQL */ `
    query RestDownload($id: ID!) {
      asset(id: $id) {
        assetFileUrl
        thumbnailUrl
      }
    }
  `),
  variables: ({ params }) => ({ id: params.nid! }),
  answer: z
    .object({ url: url.describe('Where it is.') })
    .meta({ id: 'Download', description: 'Where a file can be downloaded.' }),
  // Of what has no thumbnail the file itself.
  present: ({ asset }, { body }) => ({
    url: (body.text('field') === 'asset_file_thumbnail' && asset!.thumbnailUrl) || asset!.assetFileUrl,
  }),
})

/** Routes that merge asset trees and return download links. */
export const assetReadingRoutes = [mergeTrees, download]
