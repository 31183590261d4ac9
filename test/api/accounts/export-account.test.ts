import { expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const PATH = 'auth/users/me/export'

it('the account export contains all stored data of the user, as a JSON file', async () => {
  const user = await app.newUser({ num: '3' })
  const store = await createStore(app)
  const { id: nid } = await user.register({ caption: 'First' })
  expectOk(await user.rest('PATCH', `assets/${nid}/`, { json: { caption: 'Second' } }))
  const order = await store.order(user, { action_args: { prompt: 'a cat' } })
  expectOk(await store.confirm(user, order.id))
  const grant = { user_id: user.publicId, amount: '5', reason: 'A gift' }
  expectOk(await (await app.admin()).rest('POST', 'store/point-grants/', { json: grant }))
  const link = expectOk(await user.rest('POST', `assets/${nid}/links/`, { json: { label: 'For Ann' } }))
  const answer = await user.rest('GET', PATH)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="my-data.json"')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.body).toEqual({
    exportedAt: expect.stringMatching(/Z$/),
    account: {
      ...{ id: user.publicId, username: user.username, email: user.email, displayName: user.username, role: 'USER' },
      ...{
        emailVerified: false,
        pendingEmail: null,
        language: 'en-us',
        description: '',
        defaultTag: '',
        referralCode: '',
      },
      ...{ allowC2paDownload: true, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    },
    wallet: { address: user.address, num: '3', points: '14.142' },
    assets: [expect.objectContaining({ nid, caption: 'Second', fileName: 'photo.png', mimeType: 'image/png' })],
    commits: [
      expect.objectContaining({ nid, sequence: 1, changes: { caption: ['', 'First'] } }),
      expect.objectContaining({ nid, sequence: 2, changes: { caption: ['First', 'Second'] } }),
    ],
    orders: [
      expect.objectContaining({
        ...{ id: order.id, networkAppId: store.appId, status: 'SUCCESS', price: '2.5', pointsPaid: '2.5' },
        ...{ actionArgs: { prompt: 'a cat' }, transferId: expect.stringMatching(/^transfer_/) },
      }),
    ],
    transfers: expect.arrayContaining([
      expect.objectContaining({ kind: 'SIGN_UP', entries: [{ currency: 'POINTS', amount: '12' }] }),
      expect.objectContaining({
        ...{ kind: 'GRANT', reason: 'A gift', subjectId: expect.stringMatching(/^grant_/) },
        entries: [{ currency: 'POINTS', amount: '5' }],
      }),
      expect.objectContaining({
        kind: 'ORDER',
        subjectId: order.id,
        entries: [{ currency: 'POINTS', amount: '-2.5' }],
      }),
    ]),
    refunds: [],
    deposits: [],
    events: [
      expect.objectContaining({ sequence: 1, type: 'commit.accepted', id: expect.stringMatching(/^event_/) }),
      expect.objectContaining({ sequence: 2, type: 'commit.accepted' }),
      expect.objectContaining({ sequence: 3, type: 'order.created', orderId: order.id, transferId: null }),
      expect.objectContaining({
        ...{ sequence: 4, type: 'order.paid', orderId: order.id },
        transferId: expect.stringMatching(/^transfer_/),
      }),
      expect.objectContaining({ sequence: 5, type: 'points.granted' }),
    ],
    withdrawals: [],
    assetLinks: [expect.objectContaining({ id: link.id, nid, label: 'For Ann' })],
    sessions: [expect.objectContaining({ id: expect.stringMatching(/^session_/) })],
    auditEntries: expect.arrayContaining([expect.objectContaining({ action: 'account.exported' })]),
    pictures: [],
    networkApps: [],
  })
  expect(expectOk(await user.graphql('{ myData }')).myData).toMatchObject({ account: answer.body.account })
  expect(answer.body.transfers).toHaveLength(6)
  expect(answer.text).not.toContain(user.token)
  expect(answer.text).not.toContain(new URL(link.url).searchParams.get('signature'))
})

it('the account export is available without the API prefix, and only to its user', async () => {
  const user = await app.newUser()
  expect(expectOk(await user.rest('GET', `/${PATH}/`)).account.id).toBe(user.publicId)
  expectError(await app.rest('GET', PATH), 'NOT_AUTHENTICATED')
})

it('the account export of an app owner contains the network apps, without secrets', async () => {
  const store = await createStore(app)
  const { networkApps } = expectOk(await store.owner.rest('GET', PATH))
  expect(networkApps).toEqual([expect.objectContaining({ id: store.appId, name: store.name, price: '2.5' })])
  expect(Object.keys(networkApps[0]).filter((name) => /secret/i.test(name))).toEqual([])
})
