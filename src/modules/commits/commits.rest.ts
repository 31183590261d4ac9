import { z } from 'zod'
import { defineList } from '../../http/rest/define-list.ts'
import {
  type Description,
  type DirectDescription,
  type DirectRequest,
  defineRoute,
  get,
  post,
  type RestRequest,
} from '../../http/rest/define-route.ts'
import type { CommitRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import {
  anyObject,
  defineRecord,
  fileBytes,
  givenList,
  lowerCase,
  nidParam,
  objectOf,
  same,
  url,
} from '../../http/rest/values.ts'
import { sendDownload } from '../../http/send.ts'
import { validationFailed } from '../../shared/errors.ts'
import { readerByLink } from '../assets/asset-links.ts'
import { versionDescription } from './asset-versions.ts'
import { proveHistory } from './verify-history.ts'

export const CommitRecord = graphql(/* GraphQL */ `
  fragment CommitRecord on Commit {
    id transactionHash status gasUsed feePaid treeCid treeSha256 treeSignature author committer provider
    createdAt action actionName actionResult message changes
  }
`)

/** The signature of an asset tree. It is never null, because old clients expect a string. */
const treeSignature = z
  .string()
  .describe(
    'EIP-191 signature of the SHA-256 of the asset tree, by the wallet of the author. Empty until it is signed.',
  )

const seconds = (time: Date | string) => Math.floor(new Date(time).getTime() / 1000)
const timestamp = z.number().int().describe('Time of acceptance, in seconds since 1970.')
const transaction = z
  .string()
  .describe('Hash of the chain transaction, which may carry other commits. Empty until it is signed.')
const statuses = z.enum(['pending', 'broadcast', 'included', 'final', 'failed'])

/** The REST record of a commit. Some fields have a second name for old clients. */
const commitRecord = defineRecord<CommitRecordFragment>()(
  {
    id: 'Commit',
    description: 'One accepted change of an asset: who, when, what changed, and the chain transaction that carries it.',
  },
  {
    id: [same('Commit.id', z.string()), ({ id }) => id],
    transaction: [transaction, ({ transactionHash }) => transactionHash ?? ''],
    txHash: [z.string().describe('The same as `transaction`.'), ({ transactionHash }) => transactionHash ?? ''],
    assetTreeCid: [same('Commit.treeCid', z.string()), ({ treeCid }) => treeCid],
    assetTreeSha256: [same('Commit.treeSha256', z.string()), ({ treeSha256 }) => treeSha256],
    assetTreeSignature: [treeSignature, (commit) => commit.treeSignature ?? ''],
    author: [same('Commit.author', z.string()), ({ author }) => author],
    committer: [same('Commit.committer', z.string()), ({ committer }) => committer],
    provider: [same('Commit.provider', z.string()), ({ provider }) => provider],
    timestampCreated: [timestamp, ({ createdAt }) => seconds(createdAt)],
    action: [same('Commit.action', z.string()), ({ action }) => action],
    actionName: [same('Commit.actionName', z.string()), ({ actionName }) => actionName],
    actionNid: [z.string().describe('The same as `action`.'), ({ action }) => action],
    actionResult: [same('Commit.actionResult', url), ({ actionResult }) => actionResult],
    abstract: [z.string().describe('The same as `commitMessage`.'), ({ message }) => message],
    commitMessage: [same('Commit.message', z.string()), ({ message }) => message],
    changes: [same('Commit.changes', anyObject), ({ changes }) => changes],
    status: [same('Commit.status', statuses), ({ status }) => lowerCase(status)],
    gasUsed: [same('Commit.gasUsed', z.number().int().nullable()), ({ gasUsed }) => gasUsed],
    feePaid: [same('Commit.feePaid', z.string().nullable()), ({ feePaid }) => feePaid],
  },
)

const historyOperation = graphql(/* GraphQL */ `
  query RestHistory($id: ID!, $limit: Int!, $offset: Int!, $after: Int, $newestFirst: Boolean!, $search: String) {
    asset(id: $id) {
      nid commitCount(search: $search)
      history(limit: $limit, offset: $offset, after: $after, newestFirst: $newestFirst, search: $search) {
        sequence ...CommitRecord
      }
    }
  }
`)

const positionOf = (commit: { sequence: number } | undefined) => (commit ? String(commit.sequence) : null)

const historyRoute = (
  path: string,
  description: Pick<Description, 'operationId' | 'summary' | 'params'> & { filters?: z.core.$ZodLooseShape },
  nidOf: (request: RestRequest) => string,
) =>
  defineList(
    {
      path,
      tag: 'Assets',
      ...description,
      action: 'asset:read',
      record: commitRecord.schema,
      plural: 'History',
      searched: 'the message',
      order: 'oldest',
      operation: historyOperation,
      variables: (request, { first, last, after, before, offset = 0, search }) => {
        const position = after ?? before
        return {
          id: nidOf(request),
          limit: first ?? last!,
          offset,
          after: position === undefined ? undefined : Number(position),
          newestFirst: last !== undefined,
          search,
        }
      },
      connectionOf: ({ asset }, { last }) => {
        const { commitCount, history } = asset!
        const nodes = last === undefined ? history : history.toReversed()
        return {
          totalCount: commitCount,
          pageInfo: { startCursor: positionOf(nodes[0]), endCursor: positionOf(nodes.at(-1)) },
          nodes,
        }
      },
      present: commitRecord.present,
    },
    {
      key: 'commits',
      shape: nidParam.shape,
      facts: ({ asset }) => ({ nid: asset!.nid }),
      description: 'The commits of an asset, oldest first. Reading them is free.',
    },
  )

const histories = [
  historyRoute(
    'assets/:nid/history',
    { operationId: 'getAssetHistory', summary: 'Read the history of an asset', params: nidParam },
    ({ params }) => params.nid!,
  ),
  historyRoute(
    'history',
    { operationId: 'getHistory', summary: 'Read the history of an asset (nid in the query)', filters: nidParam.shape },
    ({ query }) => query.get('nid') ?? '',
  ),
]

const assetTree = objectOf('AssetTree', 'The metadata of an asset at one of its commits.', {
  ...nidParam.shape,
  commit: same('Commit.id', z.string()),
  assetTreeCid: same('Commit.treeCid', z.string()),
  assetTreeSha256: same('Commit.treeSha256', z.string()),
  assetTreeSignature: treeSignature,
  timestampCreated: timestamp,
  commitMessage: same('Commit.message', z.string()),
  assetTree: anyObject.describe('The tree.'),
})

const readTree = defineRoute({
  ...get('assets/:nid/tree', 'getAssetTree', 'Assets', 'Read the asset tree of a version'),
  description:
    'Returns the asset tree of the newest commit at a time, or of the newest commit. The exact bytes that were hashed and signed are at `/ipfs/<assetTreeCid>` once they are stored.',
  params: nidParam,
  query: z.object({ at: z.string().optional().describe(`The version: ${versionDescription}.`) }),
  errors: ['NOT_FOUND'],
  action: 'asset:read',
  operation: graphql(/* GraphQL */ `
    query RestAssetTree($id: ID!, $at: String) {
      asset(id: $id) { nid commitAt(at: $at) { id message treeCid treeSha256 treeSignature createdAt tree } }
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

const givenTree = objectOf('AssetTreeAtTime', 'An asset tree and the time of its commit.', {
  assetTreeCid: z.string().describe('CID of the tree, as in a commit.'),
  timestampCreated: z.number().describe('Time of the commit, in seconds since 1970.'),
})

const mergedTrees = objectOf('MergedAssetTrees', 'Asset trees, and their merged content.', {
  mergedAssetTree: anyObject.describe('The newest value of every key.'),
  assetTrees: z.array(anyObject).describe('The trees, in the order of the request.'),
})

const invalidTree = () =>
  validationFailed({ trees: ['Expected a list of {"assetTreeCid": "…", "timestampCreated": 0}.'] })

/** Maximum value that is read as seconds. Larger numbers are milliseconds. */
const MAX_SECONDS = 100_000_000_000

/** Parses a time in seconds or milliseconds, as a number or as text. Some client scripts send milliseconds. */
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
  ...post('assets/merge-trees', 'mergeAssetTrees', 'Assets', 'Merge asset trees'),
  description:
    'Returns the newest value of every top-level key. The body is a list. The request changes nothing and is free.',
  errors: ['NOT_FOUND'],
  body: objectOf('MergeAssetTrees', 'The trees to merge.', {
    trees: givenList(givenTree).describe('The trees of commits, with their times.'),
  }),
  action: 'asset:read',
  listAs: 'trees',
  operation: graphql(/* GraphQL */ `
    query RestMergeTrees($trees: [AssetTreeInput!]!) {
      mergedAssetTree(trees: $trees) { mergedAssetTree assetTrees }
    }
  `),
  variables: ({ body }) => ({ trees: (body.list('trees') ?? []).map(treeOf) }),
  answer: mergedTrees,
  present: ({ mergedAssetTree: { mergedAssetTree, assetTrees } }) => ({ mergedAssetTree, assetTrees }),
})

export const commitRoutes = [...histories, readTree, mergeTrees]

export const proofDescription: DirectDescription = {
  operationId: 'getAssetProof',
  tag: 'Assets',
  summary: 'Download a proof of an asset’s history',
  description:
    'Returns a CAR file with every tree that you may see, and the transactions, receipts and block headers of its commits. `annal-verify proof.car` checks it offline. Compare the hash of a block to be certain. While the chain has no commit, the response is 409 `conflict`.',
  access: 'everybody',
  params: nidParam,
  query: z.object({
    link: z.string().optional().describe('Part of a link to the page of the asset.'),
    signature: z.string().optional().describe('Part of a link to the page of the asset.'),
  }),
  errors: ['CONFLICT'],
  answers: { 200: { description: 'The proof, as a file.', mediaType: 'application/vnd.ipld.car', schema: fileBytes } },
}

/** Streams a proof as a download. Throws NOT_FOUND, VALIDATION_FAILED, CONFLICT, UNAVAILABLE before it sends anything. */
export async function sendProof({ req, res, params, query, context }: DirectRequest): Promise<void> {
  const actor = await readerByLink(context, params.nid!, query)
  const mediaType = 'application/vnd.ipld.car; version=1'
  await proveHistory({ ...context, actor }, params.nid!, (nid, content) =>
    sendDownload(req, res, { name: `${nid}.proof.car`, mediaType, content }),
  )
}
