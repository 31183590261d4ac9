import assert from 'node:assert/strict'
import { fetchQuery, graphql, requestSubscription } from 'relay-runtime'
import type { lifeCommitsSubscription } from './__generated__/lifeCommitsSubscription.graphql'
import type { lifeConfirmMutation } from './__generated__/lifeConfirmMutation.graphql'
import type { lifeHistoryQuery } from './__generated__/lifeHistoryQuery.graphql'
import type { lifeMeQuery } from './__generated__/lifeMeQuery.graphql'
import type { lifeOrderMutation } from './__generated__/lifeOrderMutation.graphql'
import type { lifeUpdateMutation } from './__generated__/lifeUpdateMutation.graphql'
import { AnnalError, commit, createAnnal } from './annal'
import { asset, token } from './first-upload'

const connected = Promise.withResolvers<void>()
const annal = createAnnal({ token, apiKey: process.env.ANNAL_API_KEY, onConnected: connected.resolve })

const Me = graphql`
  query lifeMeQuery {
    me { username createdAt wallet { num points spendable } }
  }
`
const answer = await fetchQuery<lifeMeQuery>(annal, Me, {}).toPromise()
assert.equal(answer?.me.wallet?.points, '11.821')

const Update = graphql`
  mutation lifeUpdateMutation($input: UpdateAssetMetadataInput!) {
    updateAssetMetadata(input: $input) { asset { id caption headId commitCount } }
  }
`

// #region update
async function update(caption: string, idempotencyKey: string = crypto.randomUUID()) {
  const { updateAssetMetadata } = await commit<lifeUpdateMutation>(annal, {
    mutation: Update,
    variables: { input: { id: asset.id, caption, nitCommitCustom: { license: { name: 'CC-BY-4.0' } } } },
    cacheConfig: { metadata: { idempotencyKey } },
  })
  return updateAssetMetadata.asset
}
// #endregion

const Commits = graphql`
  subscription lifeCommitsSubscription($nid: ID!) {
    commitUpdated(nid: $nid) { id sequence status message }
  }
`

// #region subscription
/** Returns the first commit after `seen`. */
function nextCommit(seen: number) {
  const next = Promise.withResolvers<lifeCommitsSubscription['response']['commitUpdated']>()
  const { dispose } = requestSubscription<lifeCommitsSubscription>(annal, {
    subscription: Commits,
    variables: { nid: asset.id },
    onNext(response) {
      if (response && response.commitUpdated.sequence > seen) next.resolve(response.commitUpdated)
    },
    onError: next.reject,
  })
  return next.promise.finally(dispose)
}
// #endregion

const told = nextCommit(1)
await connected.promise
const key = crypto.randomUUID()
const updated = await update('Hello again', key)
assert.equal((await update('Hello again', key)).headId, updated.headId)
assert.equal(updated.commitCount, 2)
assert.equal((await told).sequence, 2)

// #region pages
/** A list for `usePaginationFragment`. */
export const HistoryList = graphql`
  fragment lifeHistoryList on Asset
  @refetchable(queryName: "lifeHistoryListQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" }) {
    commits(first: $first, after: $after) @connection(key: "lifeHistoryList_commits") {
      edges { node { id sequence status createdAt } }
    }
  }
`
// #endregion

const History = graphql`
  query lifeHistoryQuery($nid: ID!, $first: Int!, $after: String) {
    asset(id: $nid) {
      commits(first: $first, after: $after) {
        nodes { id sequence status createdAt }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`

// #region pages-by-hand
/** Yields the history of an asset, newest first, page by page. */
async function* history(nid: string, first: number) {
  for (let after: string | null | undefined; ; ) {
    const answer = await fetchQuery<lifeHistoryQuery>(annal, History, { nid, first, after }).toPromise()
    const page = answer!.asset!.commits
    yield page.nodes
    if (!page.pageInfo.hasNextPage) return
    after = page.pageInfo.endCursor
  }
}
// #endregion

const pages: number[][] = []
for await (const page of history(asset.id, 1)) pages.push(page.map(({ sequence }) => sequence))
assert.deepEqual(pages, [[2], [1]])

const Order = graphql`
  mutation lifeOrderMutation($input: CreateOrderInput!) {
    createOrder(input: $input) { order { id price status } }
  }
`

// #region errors
async function order(networkApp: string): Promise<string> {
  try {
    const variables = { input: { networkApp } }
    const { createOrder } = await commit<lifeOrderMutation>(annal, { mutation: Order, variables })
    return createOrder.order.id
  } catch (error) {
    if (!(error instanceof AnnalError)) throw error
    switch (error.extensions.code) {
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

const Confirm = graphql`
  mutation lifeConfirmMutation($input: ConfirmOrderInput!) {
    confirmOrder(input: $input) { order { status totalPaid } }
  }
`
await assert.rejects(order('portrait'), { message: 'Top up 988.358' })
await assert.rejects(order('nothing of the kind'), { message: 'There is no nothing of the kind' })
const id = await order('upscale')
const confirmed = await commit<lifeConfirmMutation>(annal, {
  mutation: Confirm,
  variables: { input: { id, maxCost: '2' } },
})
assert.equal(confirmed.confirmOrder.order.totalPaid, '1.5')
