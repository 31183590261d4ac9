/**
 * Sends the request of every example in the OpenAPI document. `RECORD_EXAMPLES=1` saves the responses for `npm run generate`.
 * Otherwise they are compared with the saved ones.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import type { ErrorCode } from '../../../src/shared/errors.ts'
import { description, webhooks } from '../../support/described.ts'
import { codeOf, expectError, expectOk } from '../../support/expect-error.ts'
import type { Answer } from '../../support/http-client.ts'
import { newPicture } from '../../support/pictures.ts'
import type { Rest, RestOptions } from '../../support/rest-client.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'

const app = await createTestApp({ env: { LIMITS: 'upload=1000000' } })
const file = new URL('../../../src/http/openapi/examples.json', import.meta.url)

interface Example {
  request?: unknown
  answer?: unknown
}

const found: { operations: Record<string, Example>; errors: Partial<Record<ErrorCode, unknown>> } = {
  operations: {},
  errors: {},
}

const operations = new Map(
  Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [operation.operationId, { method, path, operation }] as const),
  ),
)

const without: Record<string, string> = {
  exportMe: 'It is as long as a life.',
  getDescription: 'It is this document.',
  registerDevice: 'It answers whatever it is sent.',
  replayWebhookDelivery: 'It answers what reading the delivery answers.',
}

const SECRETS = new Set(['auth_token', 'key', 'webhook_secret'])

const shown = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, inner: unknown) =>
      SECRETS.has(name) && typeof inner === 'string' ? `${inner.slice(0, 6)}…` : inner,
    )
      .replaceAll(app.url, 'https://annal.example.org')
      .replaceAll(/signature=[\w-]+/g, 'signature=x'),
  )

interface Asked extends RestOptions {
  params?: Record<string, string>
  query?: Record<string, string>
}

const ask = (rest: Rest, operationId: string, { params = {}, query = {}, ...options }: Asked): Promise<Answer> => {
  const { method, path } = operations.get(operationId)!
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name]!)
  return rest(method.toUpperCase(), `${address}?${new URLSearchParams(query)}`, options)
}

async function note(rest: Rest, operationId: string, asked: Asked = {}) {
  const answer = await ask(rest, operationId, asked)
  const body = expectOk(answer)
  found.operations[operationId] = {
    ...(asked.json !== undefined && { request: shown(asked.json) }),
    ...(answer.text !== '' && { answer: shown(body) }),
  }
  return body
}

async function noteRefusal(code: ErrorCode, rest: Rest, operationId: string, asked: Asked = {}) {
  const answer = expectError(await ask(rest, operationId, asked), code)
  expect(codeOf(answer)).toBe(code)
  found.errors[code] = shown(answer.body)
}

it('records an example response of each REST operation', async () => {
  const { rest: anybody } = app
  const account = { username: 'ada', email: 'ada@example.org', password: 'correct horse battery' }
  await note(anybody, 'signUp', { json: account })
  const { auth_token: token } = await note(anybody, 'signIn', {
    json: { email: account.email, password: account.password, device: 'Laptop' },
  })
  const ada: Rest = (method, path, options) => app.rest(method, path, { actor: { token }, ...options })
  await noteRefusal('DUPLICATE_USERNAME', anybody, 'signUp', { json: { ...account, email: 'other@example.org' } })
  await noteRefusal('DUPLICATE_EMAIL', anybody, 'signUp', { json: { ...account, username: 'other' } })
  await noteRefusal('VALIDATION_FAILED', anybody, 'signUp', { json: { ...account, password: 'short' } })
  await noteRefusal('INCORRECT_LOGIN_CREDENTIALS', anybody, 'signIn', {
    json: { email: account.email, password: 'not this one' },
  })
  await noteRefusal('NOT_AUTHENTICATED', anybody, 'getMe')
  await noteRefusal('AUTHENTICATION_FAILED', anybody, 'getMe', { actor: { token: 'none' } })
  await noteRefusal('PARSE_ERROR', ada, 'updateMe', { raw: '{', headers: { 'Content-Type': 'application/json' } })
  await noteRefusal('UNSUPPORTED_MEDIA_TYPE', ada, 'updateMe', { raw: 'a', headers: { 'Content-Type': 'text/plain' } })
  await noteRefusal('PAYLOAD_TOO_LARGE', ada, 'updateMe', { json: { language: 'x'.repeat(1_000_001) } })
  await note(ada, 'getMe')
  await note(ada, 'listUsers')
  await note(ada, 'updateMe', { json: { default_tag: 'holiday' } })
  await note(ada, 'updateProfile', { json: { display_name: 'Ada', description: 'I photograph birds.' } })
  await note(ada, 'getProfile')
  await note(ada, 'listSessions')
  await note(ada, 'changePassword', { json: { current_password: account.password, new_password: account.password } })
  await note(ada, 'listAuditEntries', { query: { limit: '2' } })
  await note(anybody, 'requestPasswordReset', { json: { email: account.email } })
  await noteRefusal('INVALID_TOKEN', anybody, 'resetPassword', {
    json: { uid: 'user_01h2xcejqtf2nbrexx3vqjhp41', token: 'x'.repeat(40), new_password: account.password },
  })
  const photo = newFile('bird.png')
  const nit_commit_custom = { license: { name: 'CC-BY-4.0' } }
  const { id: nid } = await note(ada, 'registerAsset', {
    multipart: { asset_file: photo, caption: 'A bird', headline: 'Bird', public_access: 'true' },
  })
  const params = { nid }
  await note(ada, 'quoteRegisterAsset', { multipart: { asset_file: newFile() } })
  await noteRefusal('DUPLICATE_ASSET', ada, 'registerAsset', { multipart: { asset_file: photo } })
  await note(ada, 'quoteUpdateAsset', { params, json: { caption: 'A kingfisher', max_cost: '0.1' } })
  await note(ada, 'updateAsset', { params, json: { caption: 'A kingfisher', nit_commit_custom } })
  await noteRefusal('CONFLICT', ada, 'updateAsset', {
    params,
    json: { caption: 'x' },
    headers: { 'If-Match': '"commit_0"' },
  })
  await noteRefusal('PRICE_EXCEEDS_MAX_COST', ada, 'updateAsset', { params, json: { caption: 'x', max_cost: '0.1' } })
  await note(ada, 'getAsset', { params })
  await note(ada, 'listAssets')
  const { commits } = await note(ada, 'getAssetHistory', { params })
  await note(ada, 'getHistory', { query: { nid } })
  await note(anybody, 'lookUpFile', { query: { cid: nid } })
  await note(ada, 'getAssetTree', { params, query: { at: commits[0].id } })
  const trees = commits.map(({ assetTreeCid, timestampCreated }: Record<string, unknown>) => ({
    assetTreeCid,
    timestampCreated,
  }))
  await note(ada, 'mergeAssetTrees', { json: trees })
  await note(ada, 'quoteRevertAsset', { params, json: { revert_to: commits[0].id } })
  await note(ada, 'revertAsset', { params, json: { revert_to: commits[0].id } })
  const link = await note(ada, 'createAssetLink', { params, json: { label: 'For the museum' } })
  await note(ada, 'listAssetLinks', { params })
  await note(ada, 'revokeAssetLink', { params: { id: link.id } })
  await note(ada, 'downloadAsset', { params, json: { field: 'asset_file' } })
  await note(ada, 'getNumWallet')
  await note(ada, 'getAssetWallet')
  const register = async (file: File) => expectOk(await ada('POST', 'assets/', { multipart: { asset_file: file } }))
  const plain = await register(await newPicture({ width: 40, height: 30 }))
  await note(ada, 'createFileWithContentCredentials', { params: { nid: plain.id } })
  const { bytes } = await ada('GET', `assets/${plain.id}/c2pa/`)
  const signed = await register(new File([new Uint8Array(bytes)], 'signed.jpg', { type: 'image/jpeg' }))
  await app.jobs.manifest({ assetId: signed.uuid })
  await note(ada, 'getContentCredentials', { params: { nid: signed.id } })
  await noteRefusal('NOT_FOUND', ada, 'getAsset', { params: { nid: 'bafkreib' } })
  const stranger = await app.newUser({ points: '0.1' })
  await noteRefusal('ASSET_WRITE_PERMISSION_DENIED', stranger.rest, 'updateAsset', { params, json: { caption: 'x' } })
  await noteRefusal('ASSET_COMMIT_INSUFFICIENT_FUND', stranger.rest, 'registerAsset', {
    multipart: { asset_file: newFile() },
  })
  const { rest: admin } = await app.admin()
  await noteRefusal('PERMISSION_DENIED', ada, 'issueApiKey', { json: { name: 'Website' } })
  const issued = await note(admin, 'issueApiKey', { json: { name: 'Website' } })
  await note(admin, 'listApiKeys')
  const created = await note(admin, 'createNetworkApp', {
    json: { name: 'Upscale', price_mode: 'fixed', price: '1.5', webhook_url: 'https://hooks.example.org/annal' },
  })
  await note(admin, 'listNetworkApps')
  const networkApp = { params: { id: created.id } }
  await note(admin, 'getNetworkApp', networkApp)
  await note(admin, 'updateNetworkApp', { ...networkApp, json: { delivery_failure_policy: 'refund' } })
  await note(admin, 'rotateWebhookSecret', networkApp)
  await note(admin, 'sendTestEvent', networkApp)
  const headers = { 'x-api-key': issued.key }
  const wanted = { network_app: 'Upscale', action_args: { factor: 2 } }
  await note(ada, 'quoteCreateOrder', { headers, json: wanted })
  const ordered = await note(ada, 'createOrder', { headers, json: wanted })
  await noteRefusal('UNTRUSTED_CLIENT', ada, 'createOrder', { json: wanted })
  await noteRefusal('INVALID_NETWORK_APP_NAME', ada, 'createOrder', { headers, json: { network_app: 'Downscale' } })
  await noteRefusal('INSUFFICIENT_FUND', stranger.rest, 'createOrder', { headers, json: wanted })
  const key = 'b3f4a6d2-5f0c-4a53-9e0e-3f9a3f9c1a11'
  const order = { params: { id: ordered.id } }
  await note(ada, 'quoteConfirmOrder', { ...order, headers, json: { max_cost: '2' } })
  await note(ada, 'confirmOrder', { ...order, headers, key, json: { max_cost: '2' } })
  await noteRefusal('IDEMPOTENCY_KEY_REUSED', ada, 'confirmOrder', { ...order, headers, key, json: { max_cost: '3' } })
  await note(ada, 'getOrder', order)
  await note(ada, 'listOrders')
  const another = { params: { id: expectOk(await ask(ada, 'createOrder', { headers, json: wanted })).id } }
  await note(ada, 'cancelOrder', another)
  await noteRefusal('UNABLE_TO_CANCEL_ORDER', ada, 'cancelOrder', order)
  await noteRefusal('UNABLE_TO_CONFIRM_ORDER', ada, 'confirmOrder', { ...another, headers })
  const deliveries = await note(admin, 'listWebhookDeliveries')
  await note(admin, 'getWebhookDelivery', { params: { id: deliveries.results[0].id } })
  await note(admin, 'quoteRefundOrder', { ...order, json: { amount: '0.5', reason: 'The picture came late.' } })
  await note(admin, 'refundOrder', { ...order, json: { amount: '0.5', reason: 'The picture came late.' } })
  await note(ada, 'listRefunds', order)
  await noteRefusal('UNABLE_TO_REFUND_ORDER', admin, 'refundOrder', { ...another, json: { reason: 'Why not.' } })
  for (const { type, data } of expectOk(await admin('GET', 'events/')).results)
    if (data) found.operations[webhooks[type]!.operationId] = { request: shown(data) }
  await note(admin, 'grantPoints', { json: { user_id: 'ada', amount: '5', reason: 'Welcome' } })
  await note(admin, 'findUsers', { query: { search: 'ada' } })
  const locked = { params: { id: stranger.publicId }, json: { reason: 'Fraud is looked into.' } }
  await note(admin, 'lockUser', locked)
  await note(admin, 'unlockUser', { ...locked, json: { reason: 'It was a mistake.' } })
  const rich = await app.newUser({ num: '10' })
  const withdrawal = { json: { amount: '2.5', to: `0x${'e1'.repeat(20)}`, current_password: 'correct horse battery' } }
  const { current_password: _, ...quoted } = withdrawal.json
  await note(rich.rest, 'quoteWithdrawCoins', { json: quoted })
  const { id: withdrawalId } = await note(rich.rest, 'withdrawCoins', withdrawal)
  await noteRefusal('WITHDRAWALS_PAUSED', ada, 'withdrawCoins', withdrawal)
  await note(rich.rest, 'cancelWithdrawal', { params: { id: withdrawalId } })
  await note(rich.rest, 'listWithdrawals')
  await note(ada, 'listDeposits')
  await note(ada, 'listTransfers')
  await note(ada, 'listEvents')
  for (const [operationId, { operation }] of operations) {
    const isConstant =
      /^get(Health|Readiness|Version|AppInfo|ServicesAppInfo)$|^list(Series|(Store)?Products|Contacts|Inbox|Transactions\w*)$/
    if (isConstant.test(operationId) && operation) await note(ada, operationId)
  }
})

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
}

it('every REST operation with a JSON response has an example, or a reason to have none', () => {
  const isJson = (operationId: string) =>
    JSON.stringify(
      operations.get(operationId)!.operation.responses[200] ??
        operations.get(operationId)!.operation.responses[201] ??
        '',
    ).includes('application/json')
  expect([...operations.keys()].filter((id) => isJson(id) && !found.operations[id] && !without[id])).toEqual([])
  const called = Object.values(webhooks).map(({ operationId }) => operationId)
  expect(called.filter((id) => !found.operations[id] && !without[id])).toEqual([])
})

it.skipIf(process.env.RECORD_EXAMPLES)(
  'the committed example responses have the same shape as the current responses',
  () => {
    expect(
      shapeOf(JSON.parse(readFileSync(file, 'utf8'))),
      'RECORD_EXAMPLES=1 npx vitest run test/api/http/openapi-examples.test.ts, then npm run generate',
    ).toEqual(shapeOf(found))
  },
)

afterAll(() => {
  if (process.env.RECORD_EXAMPLES) writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`)
})
