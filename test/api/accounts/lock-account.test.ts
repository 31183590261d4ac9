import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { annalHere } from '../../support/annal-command.ts'
import { bothApis, callerWith, restApi } from '../../support/api.ts'
import { readEvents } from '../../support/event-stream.ts'
import { poll } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { lockMeanwhile } from '../../support/held-rows.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp({ withChain: true })
const admin = await app.admin()
const reason = 'Somebody else has the phone'
const annal = (...args: string[]) => annalHere(app.env, ['users', ...args])

/** Each interface that locks accounts, with a different form of the username. */
const interfaces = [
  ...bothApis.map((api) => ({
    name: api.name,
    lock: async ({ email }: SignedIn) => (await api.lockUser(admin, { userId: email, reason })).ok().lockedAt,
    unlock: async ({ username }: SignedIn) => (await api.unlockUser(admin, { userId: username, reason })).ok().lockedAt,
  })),
  {
    name: 'the command line',
    lock: async ({ username }: SignedIn) =>
      JSON.parse((await annal('lock', username, '--reason', reason, '--json')).stdout).lockedAt,
    unlock: async ({ publicId }: SignedIn) =>
      JSON.parse((await annal('unlock', publicId, '--reason', reason, '--json')).stdout).lockedAt,
  },
]
const lock = ({ publicId }: SignedIn) => restApi.lockUser(admin, { userId: publicId, reason })
const unlock = ({ publicId }: SignedIn) => restApi.unlockUser(admin, { userId: publicId, reason })

it.each(interfaces)(
  'an account locked over $name loses its sessions, but its orders and commits complete',
  async ({ name, lock, unlock }) => {
    const user = await app.newUser({ num: '100' })
    const store = await createStore(app)
    expectOk(await store.confirm(user, (await store.order(user)).id))
    const { id } = await user.register({ public_access: 'true' })
    const stream = await readEvents(`${app.url}/api/v3/events/stream`, { actor: user })
    expect(stream.status).toBe(200)
    expect(new Date(await lock(user)).getTime()).toBeGreaterThan(0)
    await stream.ended
    expectError(await user.rest('GET', 'auth/users/me/', { headers: store.service }), 'AUTHENTICATION_FAILED')
    for (const api of bothApis) {
      ;(await api.readMe(user)).fails('AUTHENTICATION_FAILED')
      const refused = await api.signIn(app, { email: user.email, password: PASSWORD })
      refused.fails('AUTHENTICATION_FAILED')
      expect(refused.text).toContain('This account is locked. Contact the operator of the service.')
      const guess = await api.signIn(app, { email: user.email, password: 'a guess at it' })
      guess.fails('INCORRECT_LOGIN_CREDENTIALS')
    }
    const [paid] = await app.sql('select status::text from orders where buyer_id = $1::uuid', [user.id])
    expect(paid).toEqual({ status: 'SUCCESS' })
    await poll(async () => expectOk(await app.rest('GET', `assets/${id}/history/`)).commits).until(
      ([commit]) => commit.status === 'final',
    )
    expect(await unlock(user)).toBeNull()
    ;(await restApi.readMe(user)).fails('AUTHENTICATION_FAILED')
    const { token } = (await restApi.signIn(app, { email: user.email, password: PASSWORD })).ok()
    const { nodes } = (await restApi.listAuditEntries(callerWith(app, token))).ok()
    const entries = nodes.filter(({ action }: { action: string }) => /^account\.(un)?locked$/.test(action))
    const own = { subject: null, address: null, reason }
    expect(entries).toMatchObject([
      { action: 'account.unlocked', ...own },
      { action: 'account.locked', ...own },
    ])
    const [entry] = await app.sql(
      'select action, user_id, address, reason from audit_entries where subject = $1 order by id desc limit 1',
      [user.publicId],
    )
    const isSystem = name === 'the command line'
    const by = isSystem ? { user_id: null, address: null } : { user_id: admin.id, address: expect.any(String) }
    expect(entry).toEqual({ action: 'account.unlocked', reason, ...by })
  },
)

describe.each(bothApis)('account lock over $name', (api) => {
  it("an account lock requires an administrator, another user's account, and a reason", async () => {
    const user = await app.newUser()
    const input = { userId: user.publicId, reason }
    for (const [caller, code] of [
      [user, 'PERMISSION_DENIED'],
      [app, 'NOT_AUTHENTICATED'],
    ] as const) {
      ;(await api.lockUser(caller, input)).fails(code)
      ;(await api.unlockUser(caller, input)).fails(code)
    }
    ;(await api.lockUser(admin, { ...input, reason: ' ' })).fails('VALIDATION_FAILED')
    ;(await api.lockUser(admin, { ...input, userId: 'nobody-of-that-name' })).fails('NOT_FOUND')
    const own = (await api.lockUser(admin, { ...input, userId: admin.publicId })).fails('VALIDATION_FAILED')
    expect(own).toEqual({ userId: ['You cannot lock or unlock your own account.'] })
    ;(await api.readMe(user)).ok()
  })

  it('repeated lock requests lock an account once and write one audit entry', async () => {
    const user = await app.newUser()
    const options = { headers: { 'Idempotency-Key': randomUUID() } }
    const request = async (why: string, more = {}) =>
      (await api.lockUser(admin, { userId: user.publicId, reason: why }, more)).ok().lockedAt
    const first = await request(reason, options)
    expect(await request(reason, options)).toEqual(first)
    expect(await request('another reason')).toEqual(first)
    expect(await app.sql('select reason from audit_entries where subject = $1', [user.publicId])).toEqual([{ reason }])
  })

  it.each([
    ['password', 'changePassword', { newPassword: 'staple battery horse' }],
    ['e-mail address', 'changeEmail', { newEmail: 'of-the-thief@example.org' }],
    ['username', 'changeUsername', { newUsername: 'of-the-thief' }],
    ['wallet', 'withdraw', { amount: '1', to: `0x${'e1'.repeat(20)}` }],
  ] as const)('an account lock prevents a concurrent change of the %s', async (_, useCase, fields) => {
    const user = await app.newUser({ num: '10' })
    const state = () =>
      app.sql(
        `select username, email, password_hash, num::text, (select count(*) from withdrawals where wallet_id = id) as withdrawals
         from users join wallets on user_id = id where id = $1::uuid`,
        [user.id],
      )
    const before = await state()
    const input = { currentPassword: PASSWORD, ...fields }
    const result = await lockMeanwhile(app, user, () => api[useCase](user, input))
    result.fails('VALIDATION_FAILED')
    expect(await state()).toEqual(before)
  })
})

it('a session that begins during an account lock stays invalid after the account is unlocked', async () => {
  const user = await app.newUser()
  ;(await lock(user)).ok()
  const insert = 'insert into access_tokens (user_id, hash) values ($1::uuid, sha256($2::bytea))'
  await app.sql(insert, [user.id, Buffer.from(user.token)])
  ;(await restApi.readMe(user)).fails('AUTHENTICATION_FAILED')
  const stream = await readEvents(`${app.url}/api/v3/events/stream`, { actor: user })
  expect(stream.status).toBe(401)
  stream.close()
  ;(await unlock(user)).ok()
  ;(await restApi.readMe(user)).fails('AUTHENTICATION_FAILED')
})

it('administrators can find users by ID, e-mail address or the beginning of the name, but see no private fields', async () => {
  const SEARCH = 'query ($search: String!) { users(search: $search) { id username email lockedAt } }'
  const name = `find${process.pid}`
  const [one, other] = [await app.newUser({ username: `${name}a` }), await app.newUser({ username: name })]
  const search = async (text: string) =>
    expectOk(await admin.graphql(SEARCH, { search: text })).users.map(({ id }: { id: string }) => id)
  expect(await search(one.publicId)).toEqual([one.publicId])
  expect(await search(one.email.toUpperCase())).toEqual([one.publicId])
  expect(await search(name)).toEqual([other.publicId, one.publicId])
  expect(await search('%')).toEqual([])
  for (const [caller, code] of [
    [other, 'PERMISSION_DENIED'],
    [app, 'NOT_AUTHENTICATED'],
  ] as const) {
    expectError(
      await caller.graphql('query ($search: String!) { users(search: $search) { id } }', { search: name }),
      code,
    )
    expectError(await caller.rest('GET', `store/users/?search=${name}`), code)
  }
  ;(await lock(one)).ok()
  const locked = expect.any(String)
  expect(expectOk(await admin.rest('GET', `store/users/?search=${one.username}`)).results).toEqual([
    {
      ...{ id: one.publicId, username: one.username, display_name: one.username },
      ...{ created_at: expect.any(String), locked_at: locked },
    },
  ])
  const seen = expectOk(await admin.graphql(SEARCH, { search: one.publicId })).users
  expect(seen).toEqual([{ id: one.publicId, username: one.username, email: null, lockedAt: locked }])
  const node = `{ node(id: "${one.publicId}") { ... on User { lockedAt } } }`
  expect(expectOk(await other.graphql(node)).node).toEqual({ lockedAt: null })
  const found = JSON.parse((await annal('find', one.email, '--json')).stdout)
  expect(found).toMatchObject([{ id: one.publicId, email: one.email, role: 'USER', lockReason: reason }])
  expect((await annal('find', one.email)).stdout).toContain(reason)
  expect(await annal('find', 'nobody-of-that-name')).toMatchObject({ code: 1, stdout: '' })
  expect(await annal('lock', 'nobody-of-that-name', '--reason', 'none')).toMatchObject({ code: 1 })
})
