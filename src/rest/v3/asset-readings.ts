/** What callers read of assets by POST: it changes nothing, and costs nothing. */
import { validationFailed } from '../../domain/errors.ts'
import { defineRoute } from '../define-route.ts'
import { graphql } from '../generated/index.ts'

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
  present: ({ mergedAssetTree: { mergedAssetTree, assetTrees } }) => ({ mergedAssetTree, assetTrees }),
})

const download = defineRoute({
  method: 'POST',
  path: 'assets/:nid/download',
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
  // Of what has no thumbnail the file itself.
  present: ({ asset }, { body }) => ({
    url: (body.text('field') === 'asset_file_thumbnail' && asset!.thumbnailUrl) || asset!.assetFileUrl,
  }),
})

/** Merged trees, and where a file can be downloaded. */
export const assetReadingRoutes = [mergeTrees, download]
