import assert from 'node:assert/strict'
import { AnnalError, follow, request } from './annal.ts'
import { asset, token } from './first-upload.ts'
import { graphql } from './gql/index.ts'

const Me = graphql(`
  query Me {
    me { username createdAt wallet { num points spendable } }
  }
`)
const { me } = await request(Me, {}, { token })
assert.equal(me.wallet?.points, '11.821')

const Update = graphql(`
  mutation Update($input: UpdateAssetMetadataInput!) {
    updateAssetMetadata(input: $input) { asset { id caption headId commitCount } }
  }
`)

// #region update
function update(caption: string, idempotencyKey = crypto.randomUUID()) {
  const input = { id: asset.id, caption, nitCommitCustom: { license: { name: 'CC-BY-4.0' } } }
  return request(Update, { input }, { token, idempotencyKey })
}
// #endregion

const Commits = graphql(`
  subscription Commits($nid: ID!) {
    commitUpdated(nid: $nid) { sequence status message }
  }
`)

// #region subscription
/** Returns the first commit after `seen`. */
async function nextCommit(seen: number, onConnected: () => void) {
  for await (const { commitUpdated } of follow(Commits, { nid: asset.id }, { token, onConnected }))
    if (commitUpdated.sequence > seen) return commitUpdated
  throw new Error('The stream ended.')
}
// #endregion

const connected = Promise.withResolvers<void>()
const told = nextCommit(1, connected.resolve)
await connected.promise
const key = crypto.randomUUID()
const { updateAssetMetadata } = await update('Hello again', key)
assert.deepEqual(await update('Hello again', key), { updateAssetMetadata })
assert.equal(updateAssetMetadata.asset.commitCount, 2)
assert.equal((await told).sequence, 2)

const History = graphql(`
  query History($nid: ID!, $first: Int!, $after: String) {
    asset(id: $nid) {
      commits(first: $first, after: $after) {
        nodes { sequence status createdAt }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`)

// #region pages
/** Yields the history of an asset, newest first, page by page. */
async function* history(nid: string, first: number) {
  for (let after: string | null | undefined; ; ) {
    const page = (await request(History, { nid, first, after }, { token })).asset!.commits
    yield page.nodes
    if (!page.pageInfo.hasNextPage) return
    after = page.pageInfo.endCursor
  }
}
// #endregion

const pages: number[][] = []
for await (const page of history(asset.id, 1)) pages.push(page.map(({ sequence }) => sequence))
assert.deepEqual(pages, [[2], [1]])

const Order = graphql(`
  mutation Order($input: CreateOrderInput!) {
    createOrder(input: $input) { order { id price status } }
  }
`)

// #region errors
async function order(networkApp: string, apiKey: string): Promise<string> {
  try {
    const { createOrder } = await request(Order, { input: { networkApp } }, { token, apiKey })
    return createOrder.order.id
  } catch (error) {
    if (!(error instanceof AnnalError)) throw error
    switch (error.code) {
      case 'INSUFFICIENT_FUND':
        throw new Error(`Top up ${error.extensions.missing}`, { cause: error })
      case 'INVALID_NETWORK_APP_NAME':
        throw new Error(`There is no ${networkApp}`, { cause: error })
      default:
        throw error
    }
  }
}
// #endregion

const Confirm = graphql(`
  mutation Confirm($input: ConfirmOrderInput!) {
    confirmOrder(input: $input) { order { status totalPaid } }
  }
`)
const apiKey = process.env.ANNAL_API_KEY ?? ''
await assert.rejects(order('portrait', apiKey), { message: 'Top up 988.358' })
await assert.rejects(order('nothing of the kind', apiKey), { message: 'There is no nothing of the kind' })
const id = await order('upscale', apiKey)
const { confirmOrder } = await request(Confirm, { input: { id, maxCost: '2' } }, { token, apiKey })
assert.equal(confirmOrder.order.totalPaid, '1.5')

const Versions = graphql(`
  query Versions($nid: ID!, $commit: ID!, $from: String!) {
    asset(id: $nid) {
      version(commitId: $commit) { caption nitCommitCustom }
      versions { caption commit { sequence createdAt user { username } } }
      diff(from: $from) { changes }
    }
  }
`)
const Revert = graphql(`
  mutation Revert($input: RevertAssetInput!) {
    revertAsset(input: $input) { asset { caption commitCount } }
  }
`)

// #region time
/** Returns the asset after a commit, its versions, and the changes since a time or commit. */
const versionsSince = (commit: string, from: string) => request(Versions, { nid: asset.id, commit, from }, { token })
/** Reverts the asset. Throws CONFLICT if it has changed since it was read. */
const revert = (revertTo: string, expectedHead: string, maxCost = '0.2') =>
  request(Revert, { input: { id: asset.id, revertTo, expectedHead, maxCost } }, { token })
// #endregion

const Registration = graphql(`
  query Registration($nid: ID!) {
    asset(id: $nid) { registration { id createdAt } }
  }
`)
const { registration } = (await request(Registration, { nid: asset.id }, { token })).asset!
const { asset: read } = await versionsSince(registration!.id, registration!.createdAt)
assert.equal(read?.version?.caption, 'Hello')
assert.deepEqual(read?.diff?.changes, {
  caption: ['Hello', 'Hello again'],
  nit_commit_custom: [{}, { license: { name: 'CC-BY-4.0' } }],
})
assert.deepEqual(
  read?.versions.map(({ caption }) => caption),
  ['Hello again', 'Hello'],
)
const { revertAsset } = await revert(registration!.id, updateAssetMetadata.asset.headId!)
assert.deepEqual(revertAsset.asset, { caption: 'Hello', commitCount: 3 })
