import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })

interface Entry {
  id: string
  action: string
  subject: string | null
  address: string | null
  created_at: string
}

const read = async (user: SignedIn, query = ''): Promise<Entry[]> =>
  expectOk(await user.rest('GET', `auth/users/me/audit-entries/${query}`)).results
const actions = async (user: SignedIn) => (await read(user)).map(({ action }) => action)
const last = async (user: SignedIn) => {
  const [{ action, subject, address }] = (await read(user, '?limit=1')) as [Entry]
  return { action, subject, address }
}
const here = expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$/)

describe('the trail of an account', () => {
  it('begins with its sign-up, and tells of its sessions, newest first', async () => {
    const name = `trail${process.pid}`
    const json = { username: name, email: `${name}@example.org`, password: PASSWORD }
    expectOk(await app.rest('POST', 'auth/users/', { json }))
    const first = expectOk(await app.rest('POST', 'auth/token/login/', { json })).auth_token
    const second = expectOk(await app.rest('POST', 'auth/token/login/', { json })).auth_token
    expect((await app.rest('POST', 'auth/token/logout/', { actor: { token: first } })).status).toBe(204)
    const answer = await app.rest('GET', '/auth/users/me/audit-entries', { actor: { token: second } })
    const session = expect.stringMatching(/^session_[0-9a-z]{26}$/)
    const common = { id: expect.stringMatching(/^audit_/), address: here, reason: null, created_at: expect.any(String) }
    expect(expectOk(answer)).toEqual({
      count: 4,
      next: null,
      previous: null,
      results: [
        { ...common, action: 'session.ended', subject: session },
        { ...common, action: 'session.started', subject: session },
        { ...common, action: 'session.started', subject: session },
        { ...common, action: 'account.created', subject: null },
      ],
    })
    const [ended, , started] = answer.body.results
    expect(ended.subject).toBe(started.subject)
    for (const secret of [first, second, PASSWORD]) expect(answer.text).not.toContain(secret)
  })

  it('tells of revoked sessions: one by its identifier, all others at once', async () => {
    const user = await app.newUser()
    const login = () => app.rest('POST', 'auth/token/login/', { json: { email: user.email, password: PASSWORD } })
    for (let n = 0; n < 3; n += 1) expectOk(await login())
    const [{ id }] = expectOk(await user.rest('GET', 'auth/sessions/')).results
    await user.rest('DELETE', `auth/sessions/${id}/`)
    expect(await last(user)).toEqual({ action: 'session.revoked', subject: id, address: here })
    await user.rest('POST', 'auth/sessions/revoke-others/')
    expect(await last(user)).toEqual({ action: 'session.revoked', subject: null, address: here })
    const before = await actions(user)
    await user.rest('POST', 'auth/sessions/revoke-others/')
    expect(await actions(user)).toEqual(before)
  })

  it('tells of a changed profile', async () => {
    const user = await app.newUser()
    expectOk(await user.rest('PATCH', 'auth/users/me/', { json: { language: 'de' } }))
    expect(await last(user)).toEqual({ action: 'profile.changed', subject: null, address: here })
  })

  it('tells nothing of a sign-in that failed, and of a retry once', async () => {
    const user = await app.newUser()
    const json = { email: user.email, password: PASSWORD }
    const login = (fields = {}, headers = {}) =>
      app.rest('POST', 'auth/token/login/', { json: { ...json, ...fields }, headers })
    const before = await actions(user)
    expectError(await login({ password: 'wrong password' }), 'INCORRECT_LOGIN_CREDENTIALS')
    expect(await actions(user)).toEqual(before)
    for (const _ of [1, 2]) expectOk(await login({}, { 'Idempotency-Key': 'the same' }))
    expect(await actions(user)).toEqual(['session.started', ...before])
  })
})

describe('what an administrator does', () => {
  it('stands in their own trail, with what it was done to', async () => {
    const admin = await app.admin()
    const post = async (path: string, json = {}) => expectOk(await admin.rest('POST', path, { json }))
    const key = await post('store/api-keys/', { name: 'Partner' })
    expect(await last(admin)).toEqual({ action: 'api-key.issued', subject: key.id, address: here })
    await admin.rest('DELETE', `store/api-keys/${key.id}/`)
    expect(await last(admin)).toEqual({ action: 'api-key.revoked', subject: key.id, address: here })

    const fields = { name: 'Audited', price_mode: 'fixed', price: '1', webhook_url: 'http://127.0.0.1:9/hook' }
    const { id } = await post('store/network-apps/', fields)
    expect(await last(admin)).toEqual({ action: 'network-app.created', subject: id, address: here })
    expectOk(await admin.rest('PATCH', `store/network-apps/${id}/`, { json: { price: '2' } }))
    expect(await last(admin)).toEqual({ action: 'network-app.updated', subject: id, address: here })
    await post(`store/network-apps/${id}/rotate-secret/`)
    expect(await last(admin)).toEqual({ action: 'network-app.secret-rotated', subject: id, address: here })
    await post(`store/network-apps/${id}/test-events/`)
    expect(await last(admin)).toEqual({ action: 'network-app.webhook-tested', subject: id, address: here })

    const store = await createStore(app)
    const buyer = await app.newUser()
    const order = await store.order(buyer, { network_app: id })
    expectOk(await store.confirm(buyer, order.id))
    const [delivery] = expectOk(await admin.rest('GET', `store/webhook-deliveries/?order_id=${order.id}`)).results
    await post(`store/webhook-deliveries/${delivery.id}/replay/`)
    expect(await last(admin)).toEqual({ action: 'webhook-delivery.replayed', subject: delivery.id, address: here })

    await admin.rest('DELETE', `store/network-apps/${id}/`)
    expect(await last(admin)).toEqual({ action: 'network-app.deactivated', subject: id, address: here })
    const grant = await post('store/point-grants/', { user_id: buyer.publicId, amount: '1', reason: 'Thanks' })
    expect(await last(admin)).toEqual({ action: 'points.granted', subject: grant.id, address: here })
    expect((await read(buyer)).map(({ action }) => action)).not.toContain('points.granted')
  })

  it('leaves no entry when it is refused', async () => {
    const admin = await app.admin()
    const before = await actions(admin)
    const missing = '01h455vb4pex5vsknk084sn02q'
    expectError(await admin.rest('DELETE', `store/api-keys/key_${missing}/`), 'NOT_FOUND')
    expectError(await admin.rest('DELETE', `store/network-apps/app_${missing}/`), 'NOT_FOUND')
    expectError(await admin.rest('POST', 'store/api-keys/', { json: { name: '' } }), 'VALIDATION_FAILED')
    expect(await actions(admin)).toEqual(before)
  })
})

describe('the trail', () => {
  it('is nobody’s without a token', async () => {
    expectError(await app.rest('GET', 'auth/users/me/audit-entries/'), 'NOT_AUTHENTICATED')
  })

  it('of an administrator’s own is their own alone', async () => {
    const [admin, user] = [await app.admin(), await app.newUser()]
    const [entry] = (await read(user)) as [Entry]
    expect((await read(admin, '?limit=1000')).map(({ id }) => id)).not.toContain(entry.id)
  })

  it.each([
    ['changed', "update audit_entries set action = 'points.granted'"],
    ['given to another', 'update audit_entries set user_id = null where user_id is not null'],
    ['moved in time', "update audit_entries set created_at = created_at - interval '1 day'"],
    ['given another address', "update audit_entries set address = '192.0.2.1'"],
    ['deleted', 'delete from audit_entries'],
    ['emptied', 'truncate audit_entries'],
  ])('cannot be %s, not even in the database', async (_case, statement) => {
    const user = await app.newUser()
    const before = await read(user)
    await expect(app.sql(statement)).rejects.toThrow(/refused|not allowed|append|audit_entries/)
    expect(await read(user)).toEqual(before)
  })

  it('can lose the addresses of an account, and nothing else', async () => {
    const user = await app.newUser()
    expectOk(await user.rest('PATCH', 'auth/users/me/', { json: { language: 'de' } }))
    const before = await read(user)
    await app.sql('update audit_entries set address = null where user_id = $1::uuid', [user.id])
    expect(await read(user)).toEqual(before.map((entry) => ({ ...entry, address: null })))
  })
})
