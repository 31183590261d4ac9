/** Signs up, registers a file, changes it, reads its history, buys an action and deletes the account. */
import assert from 'node:assert/strict'
import { AnnalError, asForm, createAnnal, dataOf } from './annal.ts'

const nobody = createAnnal()
const username = `ada-${Date.now()}`
const account = { email: `${username}@example.org`, password: 'correct horse battery' }
const made = dataOf(await nobody.POST('/api/v3/auth/users', { body: { ...account, username } }))
assert.equal(made.username, username)
const { auth_token: token } = dataOf(await nobody.POST('/api/v3/auth/token/login', { body: account }))
const annal = createAnnal({ token, apiKey: process.env.ANNAL_API_KEY })

const file = new File([`Hello, Annal, from ${username}.`], 'hello.txt', { type: 'text/plain' })
const registered = await annal.POST('/api/v3/assets', {
  params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
  body: { asset_file: file, caption: 'Hello', headline: 'First', public_access: true },
  bodySerializer: asForm,
})
const asset = dataOf(registered)
assert.deepEqual([asset.asset_file_name, asset.public_access], ['hello.txt', true])
const path = { nid: asset.id }

const version = registered.response.headers.get('ETag')!
const update = async (caption: string, expected: string) =>
  annal.PATCH('/api/v3/assets/{nid}', {
    params: { path, header: { 'If-Match': expected } },
    body: { caption, nit_commit_custom: { license: { name: 'CC-BY-4.0' } }, commit_message: 'A better caption' },
  })
const changed = dataOf(await update('Hello again', version))
assert.equal(changed.caption, 'Hello again')
assert.deepEqual(changed.nit_commit_custom, { license: { name: 'CC-BY-4.0' } })
const { error: late } = await update('Too late', version)
assert.equal(late?.error.type, 'conflict')

const quote = dataOf(await annal.POST('/api/v3/quotes/assets/{nid}', { params: { path }, body: { caption: 'Tried' } }))
assert.deepEqual([quote.total_cost, quote.errors], ['0.179', []])

const history = dataOf(await annal.GET('/api/v3/assets/{nid}/history', { params: { path } }))
assert.deepEqual(
  history.commits.map(({ commitMessage, changes }) => [commitMessage, Object.keys(changes).length > 0]),
  [
    [history.commits[0]!.commitMessage, true],
    ['A better caption', true],
  ],
)

const listed = dataOf(await annal.GET('/api/v3/assets', { params: { query: { limit: 10 } } }))
assert.deepEqual([listed.count, listed.results[0]!.caption], [1, 'Hello again'])

const order = dataOf(
  await annal.POST('/api/v3/store/network-app-orders', { body: { network_app: 'upscale', action_args: { a: 1 } } }),
)
assert.equal(order.status, 'created')
const confirm = () =>
  annal.POST('/api/v3/store/network-app-orders/{id}/confirm', { params: { path: { id: order.id } }, body: {} })
const paid = dataOf(await confirm())
assert.deepEqual([paid.status, paid.points_paid], ['success', '1.5'])
assert.equal(dataOf(await confirm()).points_paid, '1.5')

const me = dataOf(await annal.GET('/api/v3/auth/users/me'))
assert.equal(me.points, '10.142')
await assert.rejects(
  async () =>
    dataOf(
      await annal.GET('/api/v3/assets/{nid}', {
        params: { path: { nid: 'bafkreiaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' } },
      }),
    ),
  (refusal) => refusal instanceof AnnalError && refusal.type === 'resource_not_found',
)

assert.equal((await annal.DELETE('/api/v3/assets/{nid}', { params: { path } })).response.status, 204)
assert.equal((await annal.DELETE('/api/v3/auth/users/me')).response.status, 204)
const { error: gone } = await annal.GET('/api/v3/auth/users/me')
assert.equal(gone && 'error' in gone && gone.error.type, 'authentication_failed')
