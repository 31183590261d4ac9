import assert from 'node:assert/strict'
import { createAnnal, errorOf } from './annal.ts'
import { asset, token } from './first-upload.ts'
import type { CommitsSubscription, HistoryQueryVariables } from './gql/graphql.ts'
import { graphql } from './gql/index.ts'

const connected = Promise.withResolvers<void>()
const annal = createAnnal({ token, apiKey: process.env.ANNAL_API_KEY, onConnected: connected.resolve })

const Me = graphql(`
  query Me {
    me { id username createdAt wallet { num points spendable } }
  }
`)
const { data } = await annal.query({ query: Me })
assert.equal(data?.me.wallet?.points, '11.821')

const Update = graphql(`
  mutation Update($input: UpdateAssetMetadataInput!) {
    updateAssetMetadata(input: $input) { asset { id caption headId commitCount } }
  }
`)

// #region update
async function update(caption: string, idempotencyKey: string = crypto.randomUUID()) {
  const input = { id: asset.id, caption, nitCommitCustom: { license: { name: 'CC-BY-4.0' } } }
  const context = { headers: { 'Idempotency-Key': idempotencyKey } }
  const { data } = await annal.mutate({ mutation: Update, variables: { input }, context })
  return data!.updateAssetMetadata.asset
}
// #endregion

const Commits = graphql(`
  subscription Commits($nid: ID!) {
    commitUpdated(nid: $nid) { id sequence status message }
  }
`)

// #region subscription
/** Returns the first commit after `seen`. */
function nextCommit(seen: number) {
  const next = Promise.withResolvers<CommitsSubscription['commitUpdated']>()
  const subscription = annal.subscribe({ query: Commits, variables: { nid: asset.id } }).subscribe({
    next({ data, error }) {
      if (error) next.reject(error)
      else if (data && data.commitUpdated.sequence > seen) next.resolve(data.commitUpdated)
    },
    error: next.reject,
  })
  return next.promise.finally(() => subscription.unsubscribe())
}
// #endregion

const told = nextCommit(1)
await connected.promise
const key = crypto.randomUUID()
const updated = await update('Hello again', key)
assert.equal((await update('Hello again', key)).headId, updated.headId)
assert.equal(updated.commitCount, 2)
assert.equal((await told).sequence, 2)

const History = graphql(`
  query History($nid: ID!, $first: Int!, $after: String) {
    asset(id: $nid) {
      id
      commits(first: $first, after: $after) {
        edges { node { id sequence status createdAt } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`)

// #region pages
/** Reads a page of the history, newest first. The cache adds it to the list. Returns the list. */
async function history(variables: HistoryQueryVariables) {
  const { data } = await annal.query({ query: History, variables, fetchPolicy: 'network-only' })
  const { edges, pageInfo } = data!.asset!.commits
  return { commits: edges.map(({ node }) => node), pageInfo }
}
// #endregion

const { commits, pageInfo } = await history({ nid: asset.id, first: 1 })
assert.deepEqual(
  commits.map(({ sequence }) => sequence),
  [2],
)
const whole = await history({ nid: asset.id, first: 1, after: pageInfo.endCursor })
assert.deepEqual(
  whole.commits.map(({ sequence }) => sequence),
  [2, 1],
)
assert.equal(whole.pageInfo.hasNextPage, false)

const Order = graphql(`
  mutation Order($input: CreateOrderInput!) {
    createOrder(input: $input) { order { id price status } }
  }
`)

// #region errors
async function order(networkApp: string): Promise<string> {
  try {
    const { data } = await annal.mutate({ mutation: Order, variables: { input: { networkApp } } })
    return data!.createOrder.order.id
  } catch (error) {
    const failure = errorOf(error)
    switch (failure?.code) {
      case 'INSUFFICIENT_FUND':
        throw new Error(`Top up ${failure.missing}`, { cause: error })
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
    confirmOrder(input: $input) { order { id status totalPaid } }
  }
`)
await assert.rejects(order('portrait'), { message: 'Top up 988.358' })
await assert.rejects(order('nothing of the kind'), { message: 'There is no nothing of the kind' })
const id = await order('upscale')
const confirmed = await annal.mutate({ mutation: Confirm, variables: { input: { id, maxCost: '2' } } })
assert.equal(confirmed.data?.confirmOrder.order.totalPaid, '1.5')
annal.stop()
