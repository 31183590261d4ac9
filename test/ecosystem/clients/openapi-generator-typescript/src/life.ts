/** Signs up, registers a file, changes it, reads its history, buys an action and deletes the account, with the generated client. */
import assert from 'node:assert/strict'
import {
  AccountApi,
  type Asset,
  AssetsApi,
  Configuration,
  FilesApi,
  type Order,
  OrdersApi,
  type Quote,
  QuotesApi,
  ResponseError,
  SessionsApi,
} from './generated/index.js'

const basePath = process.env.ANNAL_URL ?? 'http://localhost:4000'

const nobody = new Configuration({ basePath })
const username = `ada-${Date.now()}`
const account = { email: `${username}@example.org`, password: 'correct horse battery' }
const made = await new AccountApi(nobody).signUp({ signUp: { ...account, username } })
assert.equal(made.username, username)
const { authToken } = await new SessionsApi(nobody).signIn({ signIn: account })

const signedIn = new Configuration({ basePath, accessToken: authToken, apiKey: process.env.ANNAL_API_KEY })
const [accounts, assets, files] = [new AccountApi(signedIn), new AssetsApi(signedIn), new FilesApi(signedIn)]
const [orders, quotes] = [new OrdersApi(signedIn), new QuotesApi(signedIn)]

const text = `Hello, Annal, from ${username}.`
const file = new File([text], 'hello.txt', { type: 'text/plain' })
const price: Quote = await quotes.quoteRegisterAsset({ assetFile: file, publicAccess: true })
assert.deepEqual([price.totalCost, price.errors], ['0.179', []])
const nitCommitCustom = JSON.stringify({ license: { name: 'CC0-1.0' } })
const asset: Asset = await assets.registerAsset({
  assetFile: file,
  caption: 'Hello',
  publicAccess: true,
  nitCommitCustom,
})
assert.deepEqual([asset.assetFileName, asset.caption, asset.publicAccess], ['hello.txt', 'Hello', true])
assert.deepEqual(asset.nitCommitCustom, { license: { name: 'CC0-1.0' } })
assert.ok(asset.uploadedAt instanceof Date)
const { nid } = { nid: asset.id }
assert.equal(await (await files.getFile({ cid: nid })).text(), text)

const updateAsset = { caption: 'Hello again', publicAccess: false, nitCommitCustom: { license: { name: 'CC-BY-4.0' } } }
assert.equal((await quotes.quoteUpdateAsset({ nid, updateAsset })).totalCost, '0.179')
const changed: Asset = await assets.updateAsset({ nid, updateAsset, idempotencyKey: crypto.randomUUID() })
assert.deepEqual([changed.caption, changed.publicAccess], ['Hello again', false])
assert.deepEqual(changed.nitCommitCustom, { license: { name: 'CC-BY-4.0' } })

const history = await assets.getAssetHistory({ nid })
assert.deepEqual([history.count, history.commits.map(({ status }) => typeof status)], [2, ['string', 'string']])
const reverted: Asset = await assets.revertAsset({ nid, revertAsset: { revertTo: history.commits[0]!.id } })
assert.equal(reverted.caption, 'Hello')
const listed = await assets.listAssets({ limit: 10 })
assert.deepEqual([listed.count, listed.results[0]!.id, listed.next], [1, nid, null])

const createOrder = { networkApp: 'upscale', actionArgs: { factor: 2 } }
assert.equal((await quotes.quoteCreateOrder({ createOrder })).totalCost, '1.5')
const order: Order = await orders.createOrder({ createOrder })
assert.deepEqual([order.status, order.actionArgs], ['created', { factor: 2 }])
const { id } = order
assert.equal((await quotes.quoteConfirmOrder({ id })).pointsCharged, '1.5')
const paid: Order = await orders.confirmOrder({ id })
assert.deepEqual([paid.status, paid.pointsPaid], ['success', '1.5'])
assert.equal((await orders.confirmOrder({ id, confirmOrder: {} })).pointsPaid, '1.5')
const other = await orders.createOrder({ createOrder })
assert.equal((await orders.cancelOrder({ id: other.id })).id, other.id)

const refused = await assets.getAsset({ nid: 'bafkreiaaaa' }).catch((error: unknown) => error)
assert.ok(refused instanceof ResponseError)
assert.equal(refused.response.status, 404)
assert.equal((await accounts.getMe()).assetCount, 1)
await assets.deleteAsset({ nid })
await accounts.deleteMe()
