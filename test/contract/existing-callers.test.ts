/** Every endpoint that existing callers of REST request (apps, SDKs, scripts) exists and returns the status they expect. */
import { expect, it } from 'vitest'
import { newPicture } from '../support/pictures.ts'
import type { RestOptions } from '../support/rest-client.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, newFile } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const admin = await app.admin()
const store = await createStore(app)

const { id: nid } = await user.register({ asset_file: await newPicture({ width: 40, height: 30 }) })
const { id: other } = await user.register()
const [commit] = (await user.rest('GET', `assets/${nid}/history/`)).body.commits
const order = await store.order(user)
const open = await store.order(user)
const newAccount = { username: 'newcomer', email: 'newcomer@example.org', password: PASSWORD }
const credentials = { email: user.email, password: PASSWORD }
const wrongLink = { uid: user.publicId, token: 'x'.repeat(40), new_password: PASSWORD }

const { assetTreeCid, timestampCreated } = commit

const endpoints: [method: string, path: string, status: number, options?: RestOptions][] = [
  ['POST', 'auth/users/', 201, { json: newAccount, actor: undefined }],
  ['GET', 'auth/users/', 200],
  ['GET', 'auth/users/me/?show_num_balance=true', 200],
  ['PATCH', 'auth/users/me/', 200, { json: { default_tag: 'travel' } }],
  ['PATCH', 'auth/users/profile/', 200, { multipart: { display_name: 'Ada' } }],
  ['POST', 'auth/token/login/', 200, { json: credentials, actor: undefined }],
  ['POST', 'auth/users/reset_password/', 201, { json: { email: user.email }, actor: undefined }],
  // Not a valid link: the endpoint exists and rejects the token.
  ['POST', 'auth/users/reset_password_confirm/', 400, { json: wrongLink, actor: undefined }],
  ['POST', 'auth/devices/', 201, { json: { platform: 'android' } }],
  ['GET', 'app-info/', 200],
  ['GET', 'contacts/', 200],
  ['GET', 'series/', 200],
  ['GET', 'products/', 200],
  ['GET', 'store/products/', 200],
  ['GET', 'transactions/', 200],
  ['GET', '/api/v2/transactions/', 200],
  ['GET', 'transactions/inbox/', 200],
  ['GET', 'wallets/num-wallet/', 200],
  ['GET', 'wallets/asset-wallet/', 200],
  ['POST', 'assets/', 201, { multipart: { asset_file: newFile() } }],
  ['PATCH', `assets/${nid}/`, 200, { multipart: { caption: 'Changed' } }],
  ['GET', `assets/${nid}/`, 200],
  ['GET', 'assets/', 200],
  ['DELETE', `assets/${other}/`, 204],
  ['POST', `assets/${nid}/download/`, 200],
  ['POST', `assets/${nid}/c2pa/`, 200],
  ['GET', `assets/${nid}/c2pa/`, 200],
  ['GET', `assets/${nid}/history/`, 200],
  ['GET', `history/?nid=${nid}`, 200],
  ['POST', 'assets/merge-trees/', 200, { json: [{ assetTreeCid, timestampCreated }] }],
  ['POST', 'store/network-apps/', 201, { actor: admin, json: { name: 'Upscale', price_mode: 'fixed', price: 1 } }],
  ['GET', 'store/network-apps/?name=Upscale', 200, { actor: admin }],
  ['POST', 'store/network-app-orders/', 201, { json: { network_app: store.appId }, headers: store.service }],
  ['POST', `store/network-app-orders/${order.id}/confirm/`, 200, { headers: store.service }],
  ['GET', 'store/network-app-orders/', 200],
  ['GET', `store/network-app-orders/${open.id}/`, 200],
  ['POST', 'store/api-keys/', 201, { actor: admin, json: { name: 'Website' } }],
  ['GET', 'store/api-keys/', 200, { actor: admin }],
  ['POST', 'auth/users/set_password/', 204, { json: { current_password: PASSWORD, new_password: PASSWORD } }],
  ['POST', 'auth/token/logout/', 204],
]

it.each(endpoints)('the existing REST call %s %s returns %i', async (method, path, status, options = {}) => {
  const answer = await app.rest(method, path, { actor: user, ...options })
  expect(answer.status, answer.text).toBe(status)
})

it('DELETE auth/users/me/ returns 204', async () => {
  const leaver = await app.newUser()
  expect((await leaver.rest('DELETE', 'auth/users/me/')).status).toBe(204)
})

it('every REST path exists without a trailing slash, and account paths also below /auth', async () => {
  const unknown: string[] = []
  for (const [method, path] of endpoints) {
    const bare = path.replace(/\/?(\?.*)?$/, '')
    for (const form of [bare, `${bare}/`, ...(bare.startsWith('auth/') ? [`/${bare}`, `/${bare}/`] : [])]) {
      const answer = await app.rest('OPTIONS', form)
      const allowed = answer.headers.get('allow')?.split(', ') ?? []
      if (!allowed.includes(method)) unknown.push(`${method} ${form}`)
    }
  }
  expect(unknown).toEqual([])
})
