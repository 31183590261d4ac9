import { z } from 'zod'
import { sendDownload } from '../../http/http-server.ts'
import * as routes from '../../http/rest/define-route.ts'
import * as values from '../../http/rest/fields.ts'
import type { CommitRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { defineList } from '../../http/rest/lists.ts'
import { validationFailed } from '../../shared/errors.ts'
import { readerByLink } from '../assets/asset-links.ts'
import { timeOfNumber, versionDescription } from './commits.ts'
import { proveHistory } from './verify-history.ts'

const { defineRoute, get, post } = routes
const { anyObject, givenList, nidParam, objectOf, same, url } = values

export const CommitRecord = graphql(/* GraphQL */ `
  fragment CommitRecord on Commit {
    id transactionHash status gasUsed feePaid treeCid treeSha256 treeSignature author committer provider
    createdAt action actionName actionResult message changes
  }
`)

const text = (description: string) => z.string().describe(description)
const copied = (field: string) => same(`Commit.${field}`, z.string())

/** The signature is never null, because old clients expect a string. */
const treeSignature = text(
  'EIP-191 signature of the SHA-256 of the asset tree, by the wallet of the author. Empty until it is signed.',
)

const seconds = (time: Date | string) => Math.floor(new Date(time).getTime() / 1000)
const timestamp = z.number().int().describe('Time at which the commit was accepted, in seconds since 1970.')
const transaction = text('Hash of the chain transaction, which may carry other commits. Empty until it is signed.')
const statuses = z.enum(['pending', 'broadcast', 'included', 'final', 'failed'])

/** Some fields have a second name for old clients. */
const commitRecord = values.defineRecord<CommitRecordFragment>()(
  { id: 'Commit', description: 'One accepted change of an asset, and the chain transaction that carries it.' },
  {
    id: [copied('id'), ({ id }) => id],
    transaction: [transaction, ({ transactionHash }) => transactionHash ?? ''],
    txHash: [text('The same as `transaction`.'), ({ transactionHash }) => transactionHash ?? ''],
    assetTreeCid: [copied('treeCid'), ({ treeCid }) => treeCid],
    assetTreeSha256: [copied('treeSha256'), ({ treeSha256 }) => treeSha256],
    assetTreeSignature: [treeSignature, (commit) => commit.treeSignature ?? ''],
    author: [copied('author'), ({ author }) => author],
    committer: [copied('committer'), ({ committer }) => committer],
    provider: [copied('provider'), ({ provider }) => provider],
    timestampCreated: [timestamp, ({ createdAt }) => seconds(createdAt)],
    action: [copied('action'), ({ action }) => action],
    actionName: [copied('actionName'), ({ actionName }) => actionName],
    actionNid: [text('The same as `action`.'), ({ action }) => action],
    actionResult: [same('Commit.actionResult', url), ({ actionResult }) => actionResult],
    abstract: [text('The same as `commitMessage`.'), ({ message }) => message],
    commitMessage: [copied('message'), ({ message }) => message],
    changes: [same('Commit.changes', anyObject), ({ changes }) => changes],
    status: [same('Commit.status', statuses), ({ status }) => values.lowerCase(status)],
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

type HistoryDescription = Pick<routes.Route, 'path'> &
  Pick<routes.Description, 'operationId' | 'summary' | 'params'> & { filters?: z.core.$ZodLooseShape }

const historyRoute = (description: HistoryDescription, nidOf: (request: routes.RestRequest) => string) =>
  defineList(
    {
      ...{ tag: 'Assets', ...description, action: 'asset:read', operation: historyOperation },
      ...{ record: commitRecord.schema, plural: 'History', searched: 'the message', order: 'oldest' },
      variables: (request, { first, last, after, before, offset = 0, search }) => {
        const position = after ?? before
        const start = position === undefined ? undefined : Number(position)
        return {
          ...{ id: nidOf(request), limit: first ?? last!, offset, after: start },
          newestFirst: last !== undefined,
          search,
        }
      },
      connectionOf: ({ asset }, { last }) => {
        const { commitCount, history } = asset!
        const nodes = last === undefined ? history : history.toReversed()
        const pageInfo = { startCursor: positionOf(nodes[0]), endCursor: positionOf(nodes.at(-1)) }
        return { totalCount: commitCount, pageInfo, nodes }
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

const filters = nidParam.shape

const histories = [
  historyRoute(
    { ...get('assets/:nid/history', 'getAssetHistory', 'Assets', 'Read the history of an asset'), params: nidParam },
    ({ params }) => params.nid!,
  ),
  historyRoute(
    { ...get('history', 'getHistory', 'Assets', 'Read the history of an asset (nid in the query)'), filters },
    ({ query }) => query.get('nid') ?? '',
  ),
]

const assetTree = objectOf('AssetTree', 'The metadata of an asset at one of its commits.', {
  ...nidParam.shape,
  ...{ commit: copied('id'), assetTreeCid: copied('treeCid'), assetTreeSha256: copied('treeSha256') },
  ...{ assetTreeSignature: treeSignature, timestampCreated: timestamp, commitMessage: copied('message') },
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
    const { id, treeCid, treeSha256, treeSignature, createdAt, message, tree } = asset!.commitAt!
    return {
      ...{ nid: asset!.nid, commit: id, assetTreeCid: treeCid, assetTreeSha256: treeSha256 },
      ...{ assetTreeSignature: treeSignature ?? '', timestampCreated: seconds(createdAt) },
      ...{ commitMessage: message, assetTree: tree! },
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

/** Parses a tree to merge. The time of the tree is a number or text, in seconds or milliseconds. */
function treeOf(value: unknown) {
  const { assetTreeCid, timestampCreated: given } = Object(value)
  const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given
  const createdAt = timeOfNumber(typeof number === 'number' ? number : Number.NaN)
  if (typeof assetTreeCid !== 'string' || Number.isNaN(createdAt.getTime()))
    throw validationFailed({ trees: ['Expected a list of {"assetTreeCid": "…", "timestampCreated": 0}.'] })
  return { assetTreeCid, createdAt }
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
  present: ({ mergedAssetTree }) => mergedAssetTree,
})

export const commitRoutes = [...histories, readTree, mergeTrees]

const linkPart = z.string().optional().describe('Part of a link to the page of the asset.')

export const proofDescription: routes.DirectDescription = {
  operationId: 'getAssetProof',
  tag: 'Assets',
  summary: 'Download a proof of an asset’s history',
  description:
    'Returns a CAR file with every tree that you may see, and the transactions, receipts and block headers of its commits. `annal-verify proof.car` checks it offline. Compare the hash of a block to be certain. While the chain has no commit, the response is 409 `conflict`.',
  access: 'everybody',
  params: nidParam,
  query: z.object({ link: linkPart, signature: linkPart }),
  errors: ['CONFLICT'],
  answers: {
    200: { description: 'The proof, as a file.', mediaType: 'application/vnd.ipld.car', schema: values.fileBytes },
  },
}

/** Streams a proof as a download. Throws the errors of `proveHistory` before it sends anything. */
export async function sendProof({ req, res, params, query, context }: routes.DirectRequest): Promise<void> {
  const actor = await readerByLink(context, params.nid!, query)
  const mediaType = 'application/vnd.ipld.car; version=1'
  await proveHistory({ ...context, actor }, params.nid!, (nid, content) =>
    sendDownload(req, res, { name: `${nid}.proof.car`, mediaType, content }),
  )
}
