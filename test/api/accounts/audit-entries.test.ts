import { describe, expect, it } from 'vitest'
import { asSystem } from '../../../src/context.ts'
import { issueApiKey } from '../../../src/modules/store/api-keys.ts'
import { bothApis, type Caller, callerWith } from '../../support/api.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp({ env: { ALLOW_INSECURE_WEBHOOKS: 'true' } })
const admin = await app.admin()
const here = expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$/)
const missing = '01h455vb4pex5vsknk084sn02q'

interface Entry {
  id: string
  action: string
  subject: string | null
  address: string | null
}

describe.each(bothApis)('audit log over $name', (api) => {
  const read = async (caller: Caller): Promise<Entry[]> => (await api.listAuditEntries(caller)).ok().nodes
  const actions = async (caller: Caller) => (await read(caller)).map(({ action }) => action)
  const last = async (caller: Caller) => {
    const [{ action, subject, address }] = (await read(caller)) as [Entry]
    return { action, subject, address }
  }

  it('the audit log lists sign-up, sign-ins and sign-out, newest first, without secrets', async () => {
    const name = `trail-${api.name}`
    const account = { username: name, email: `${name}@example.org`, password: PASSWORD }
    ;(await api.signUp(app, account)).ok()
    const signIn = async () => (await api.signIn(app, { email: account.email, password: PASSWORD })).ok().token
    const [first, second] = [await signIn(), await signIn()]
    ;(await api.signOut(callerWith(app, first))).ok()
    const result = await api.listAuditEntries(callerWith(app, second))
    const session = expect.stringMatching(/^session_[0-9a-z]{26}$/)
    const common = { id: expect.stringMatching(/^audit_/), address: here, reason: null, createdAt: expect.any(String) }
    const { totalCount, nodes } = result.ok()
    expect(totalCount).toBe(4)
    expect(nodes).toEqual([
      { ...common, action: 'session.ended', subject: session },
      { ...common, action: 'session.started', subject: session },
      { ...common, action: 'session.started', subject: session },
      { ...common, action: 'account.created', subject: null },
    ])
    expect(nodes[0].subject).toBe(nodes[2].subject)
    for (const secret of [first, second, PASSWORD]) expect(result.text).not.toContain(secret)
  })

  it('the audit log has one entry for a revoked session, and one for all other revoked sessions', async () => {
    const user = await app.newUser()
    for (let n = 0; n < 3; n += 1) (await api.signIn(app, { email: user.email, password: PASSWORD })).ok()
    const [{ id }] = (await api.listSessions(user)).ok().nodes
    ;(await api.revokeSession(user, { id })).ok()
    expect(await last(user)).toEqual({ action: 'session.revoked', subject: id, address: here })
    ;(await api.revokeOtherSessions(user)).ok()
    expect(await last(user)).toEqual({ action: 'session.revoked', subject: null, address: here })
    const before = await actions(user)
    ;(await api.revokeOtherSessions(user)).ok()
    expect(await actions(user)).toEqual(before)
  })

  it('the audit log has entries for profile changes but not for failed sign-ins, and one entry for a retry', async () => {
    const user = await app.newUser()
    ;(await api.updateSettings(user, { language: 'de' })).ok()
    expect(await last(user)).toEqual({ action: 'profile.changed', subject: null, address: here })
    const before = await actions(user)
    const input = { email: user.email, password: PASSWORD }
    ;(await api.signIn(app, { ...input, password: 'wrong password' })).fails('INCORRECT_LOGIN_CREDENTIALS')
    expect(await actions(user)).toEqual(before)
    const options = { headers: { 'Idempotency-Key': 'the same' } }
    for (const _ of [1, 2]) (await api.signIn(app, input, options)).ok()
    expect(await actions(user)).toEqual(['session.started', ...before])
  })

  it('the audit log has an entry for each action of an administrator, with the affected object', async () => {
    const owner = await app.admin()
    const expectLast = async (action: string, subject: string) =>
      expect(await last(owner)).toEqual({ action, subject, address: here })
    const key = (await api.issueApiKey(owner, { name: 'Partner' })).ok()
    await expectLast('api-key.issued', key.id)
    ;(await api.revokeApiKey(owner, { id: key.id })).ok()
    await expectLast('api-key.revoked', key.id)
    const fields = { name: `Audited ${api.name}`, price: '1', webhookUrl: 'http://127.0.0.1:9/hook' }
    const { id } = (await api.createNetworkApp(owner, fields)).ok()
    await expectLast('network-app.created', id)
    ;(await api.updateNetworkApp(owner, { id, price: '2' })).ok()
    await expectLast('network-app.updated', id)
    ;(await api.rotateWebhookSecret(owner, { id })).ok()
    await expectLast('network-app.secret-rotated', id)
    ;(await api.sendTestEvent(owner, { networkAppId: id })).ok()
    await expectLast('network-app.webhook-tested', id)
    const store = await createStore(app)
    const buyer = await app.newUser()
    const order = await store.order(buyer, { network_app: id })
    expectOk(await store.confirm(buyer, order.id))
    const [delivery] = expectOk(await owner.rest('GET', `store/webhook-deliveries/?order_id=${order.id}`)).results
    ;(await api.replayWebhookDelivery(owner, { id: delivery.id })).ok()
    await expectLast('webhook-delivery.replayed', delivery.id)
    ;(await api.deactivateNetworkApp(owner, { id })).ok()
    await expectLast('network-app.deactivated', id)
    const grant = (await api.grantPoints(owner, { userId: buyer.publicId, amount: '1', reason: 'Thanks' })).ok()
    await expectLast('points.granted', grant.id)
    expect(await actions(buyer)).not.toContain('points.granted')
  })

  it('the audit log has no entries for rejected actions', async () => {
    const before = await actions(admin)
    ;(await api.revokeApiKey(admin, { id: `key_${missing}` })).fails('NOT_FOUND')
    ;(await api.deactivateNetworkApp(admin, { id: `app_${missing}` })).fails('NOT_FOUND')
    ;(await api.issueApiKey(admin, { name: '' })).fails('VALIDATION_FAILED')
    expect(await actions(admin)).toEqual(before)
  })
})

describe('audit log in the database', () => {
  const read = (user: SignedIn) =>
    app.sql<Entry>(
      'select id::text, action, subject, address from audit_entries where user_id = $1::uuid order by id',
      [user.id],
    )

  it.each([
    "update audit_entries set action = 'points.granted'",
    'update audit_entries set user_id = null where user_id is not null',
    "update audit_entries set created_at = created_at - interval '1 day'",
    "update audit_entries set address = '192.0.2.1'",
    'delete from audit_entries',
    'truncate audit_entries',
  ])('the audit log in the database rejects %s', async (statement) => {
    const user = await app.newUser()
    const before = await read(user)
    await expect(app.sql(statement)).rejects.toThrow(/refused|not allowed|append|audit_entries/)
    expect(await read(user)).toEqual(before)
  })

  it("the audit log in the database allows the erasure of an account's addresses", async () => {
    const user = await app.newUser()
    const before = await read(user)
    await app.sql('update audit_entries set address = null where user_id = $1::uuid', [user.id])
    expect(await read(user)).toEqual(before.map((entry) => ({ ...entry, address: null })))
  })
})

describe('audit entries over GraphQL', () => {
  const LIST = `query ($userId: ID, $everybody: Boolean, $first: Int, $after: String) {
    auditEntries(userId: $userId, everybody: $everybody, first: $first, after: $after) {
      totalCount pageInfo { hasNextPage endCursor } nodes { id action address user { id email } } } }`
  const read = async (caller: Caller, variables = {}) => expectOk(await caller.graphql(LIST, variables)).auditEntries

  it('administrators see the audit entries of one user or all users, without private fields', async () => {
    const user = await app.newUser()
    const own = await read(user, { userId: user.publicId })
    expect(own).toMatchObject({ totalCount: 2, nodes: [{ user: { id: user.publicId, email: user.email } }, {}] })
    const theirs = await read(admin, { userId: user.publicId })
    expect(theirs).toMatchObject({ totalCount: 2, nodes: [{ user: { id: user.publicId, email: null } }, {}] })
    await issueApiKey(asSystem(app.context), { name: 'By the system' })
    const [newest, ...others] = (await read(admin, { everybody: true })).nodes
    expect(newest).toMatchObject({ action: 'api-key.issued', address: null, user: null })
    expect(others.map((entry: { user: { id: string } | null }) => entry.user?.id)).toContain(user.publicId)
    const document = 'query ($id: ID!) { node(id: $id) { id } }'
    const node = async (caller: Caller) => expectOk(await caller.graphql(document, { id: own.nodes[0].id })).node
    expect([await node(user), await node(admin)]).toEqual(Array(2).fill({ id: own.nodes[0].id }))
    expect([await node(app), await node(await app.newUser())]).toEqual([null, null])
  })

  it('users cannot read the audit entries of other users', async () => {
    const [user, other] = [await app.newUser(), await app.newUser()]
    expectError(await app.graphql(LIST, { userId: user.publicId }), 'NOT_AUTHENTICATED')
    for (const variables of [{ userId: user.publicId }, { userId: 'rubbish' }, { everybody: true }]) {
      expectError(await other.graphql(LIST, variables), 'PERMISSION_DENIED')
    }
    expectError(await admin.graphql(LIST, { userId: 'rubbish' }), 'NOT_FOUND')
  })
})
