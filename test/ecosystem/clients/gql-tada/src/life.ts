import assert from 'node:assert/strict'
import type { ResultOf } from 'gql.tada'
import { codeOf, dataOf, sentBy } from './annal.ts'
import { annal, asset, token } from './first-upload.ts'
import { graphql } from './graphql.ts'

const Me = graphql(`
  query Me {
    me { username createdAt wallet { num points spendable } }
  }
`)
const { me } = dataOf(await annal.query(Me, {}))
assert.equal(me.wallet?.points, '11.821')

const Update = graphql(`
  mutation Update($input: UpdateAssetMetadataInput!) {
    updateAssetMetadata(input: $input) { asset { id caption headId commitCount } }
  }
`)

// #region update
async function update(caption: string, idempotencyKey: string = crypto.randomUUID()) {
  const input = { id: asset.id, caption, nitCommitCustom: { license: { name: 'CC-BY-4.0' } } }
  return dataOf(await annal.mutation(Update, { input }, sentBy({ token, idempotencyKey })))
}
// #endregion

const Commits = graphql(`
  subscription Commits($nid: ID!) {
    commitUpdated(nid: $nid) { sequence status message }
  }
`)

// #region subscription
/** Returns the first commit after `seen`. */
function nextCommit(seen: number, onConnected: () => void) {
  const next = Promise.withResolvers<ResultOf<typeof Commits>['commitUpdated']>()
  const fetchAndNotify: typeof fetch = async (...request) => {
    const answer = await fetch(...request)
    onConnected()
    return answer
  }
  const { unsubscribe } = annal
    .subscription(Commits, { nid: asset.id }, { fetch: fetchAndNotify })
    .subscribe(({ data, error }) => {
      if (error) next.reject(error)
      else if (data && data.commitUpdated.sequence > seen) next.resolve(data.commitUpdated)
    })
  return next.promise.finally(unsubscribe)
}
// #endregion

const connected = Promise.withResolvers<void>()
const told = nextCommit(1, connected.resolve)
await connected.promise
const key = crypto.randomUUID()
const { updateAssetMetadata } = await update('Hello again', key)
assert.equal((await update('Hello again', key)).updateAssetMetadata.asset.headId, updateAssetMetadata.asset.headId)
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
    const page = dataOf(await annal.query(History, { nid, first, after })).asset!.commits
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
  const { data, error } = await annal.mutation(Order, { input: { networkApp } }, sentBy({ token, apiKey }))
  switch (codeOf(error)) {
    case 'INSUFFICIENT_FUND':
      throw new Error(`Top up ${error?.graphQLErrors[0]?.extensions.missing}`, { cause: error })
    case 'INVALID_NETWORK_APP_NAME':
      throw new Error(`There is no ${networkApp}`, { cause: error })
    default:
      return dataOf({ data, error }).createOrder.order.id
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
const { confirmOrder } = dataOf(
  await annal.mutation(Confirm, { input: { id, maxCost: '2' } }, sentBy({ token, apiKey })),
)
assert.equal(confirmOrder.order.totalPaid, '1.5')
