/** Accounts that administrators lock: by both doors and the command line, with one effect. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { annalHere } from '../support/annal-command.ts'
import { readEvents } from '../support/event-stream.ts'
import { eventually } from '../support/eventually.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import { lockMeanwhile } from '../support/held-rows.ts'
import { createStore } from '../support/store.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp({ withChain: true })
const admin = await app.admin()
const reason = 'Somebody else has the phone'

const LOCK = 'mutation ($input: LockUserInput!) { lockUser(input: $input) { user { id username lockedAt } } }'
const UNLOCK = 'mutation ($input: UnlockUserInput!) { unlockUser(input: $input) { user { id lockedAt } } }'
const FIND = 'query ($search: String!) { users(search: $search) { id } }'
const SEARCH = 'query ($search: String!) { users(search: $search) { id username email lockedAt } }'
const SIGN_IN = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'

const annal = (...args: string[]) => annalHere(app.env, ['users', ...args])

const ways = {
  GraphQL: {
    lock: async (user: SignedIn) =>
      expectOk(await admin.graphql(LOCK, { input: { userId: user.email, reason } })).lockUser.user.lockedAt,
    unlock: async (user: SignedIn) =>
      expectOk(await admin.graphql(UNLOCK, { input: { userId: user.publicId, reason } })).unlockUser.user.lockedAt,
  },
  REST: {
    lock: async (user: SignedIn) =>
      expectOk(await admin.rest('POST', `store/users/${user.publicId}/lock/`, { json: { reason } })).locked_at,
    unlock: async (user: SignedIn) =>
      expectOk(await admin.rest('POST', `store/users/${user.username}/unlock/`, { json: { reason } })).locked_at,
  },
  'the command line': {
    lock: async (user: SignedIn) =>
      JSON.parse((await annal('lock', user.username, '--reason', reason, '--json')).stdout).lockedAt,
    unlock: async (user: SignedIn) =>
      JSON.parse((await annal('unlock', user.email, '--reason', reason, '--json')).stdout).lockedAt,
  },
}

const signIn = ({ email }: SignedIn, password = PASSWORD) =>
  app.rest('POST', 'auth/token/login/', { json: { email, password } })

describe.each(Object.entries(ways))('an account that is locked by %s', (way, { lock, unlock }) => {
  it('lets nobody in, ends its sessions and streams at once, and finishes what is paid for', async () => {
    const user = await app.newUser({ num: '100' })
    const store = await createStore(app)
    const order = await store.order(user)
    expectOk(await store.confirm(user, order.id))
    const { id: nid } = await user.register({ public_access: 'true' })
    const stream = await readEvents(`${app.url}/api/v3/events/stream`, { actor: user })
    expect(stream.status).toBe(200)

    const lockedAt = await lock(user)
    expect(new Date(lockedAt).getTime()).toBeGreaterThan(0)
    await stream.ended
    expectError(await user.rest('GET', 'auth/users/me/'), 'AUTHENTICATION_FAILED')
    expectError(await user.rest('GET', 'auth/users/me/', { headers: store.service }), 'AUTHENTICATION_FAILED')
    expectError(await user.graphql('{ me { id } }'), 'AUTHENTICATION_FAILED')
    const refused = expectError(await signIn(user), 'AUTHENTICATION_FAILED')
    expect(refused.body.error.message).toBe('This account is locked. Ask those who run the service.')
    expectError(
      await app.graphql(SIGN_IN, { input: { email: user.email, password: PASSWORD } }),
      'AUTHENTICATION_FAILED',
    )
    // Strangers learn nothing of it.
    expectError(await signIn(user, 'a guess at it'), 'INCORRECT_LOGIN_CREDENTIALS')

    const [paid] = await app.sql(`select status::text from orders where buyer_id = $1::uuid`, [user.id])
    expect(paid).toEqual({ status: 'SUCCESS' })
    await eventually(
      async () => expectOk(await app.rest('GET', `assets/${nid}/history/`)).commits,
      ([commit]) => commit.status === 'final',
    )

    expect(await unlock(user)).toBeNull()
    expectError(await user.rest('GET', 'auth/users/me/'), 'AUTHENTICATION_FAILED')
    const token = expectOk(await signIn(user)).auth_token
    const trail = expectOk(await app.rest('GET', 'auth/users/me/audit-entries/', { actor: { token } })).results
    const told = trail.filter((entry: { action: string }) => /^account\.(un)?locked$/.test(entry.action))
    const own = { subject: null, address: null, reason }
    expect(told).toMatchObject([
      { action: 'account.unlocked', ...own },
      { action: 'account.locked', ...own },
    ])
    const [entry] = await app.sql(
      `select action, user_id, address, reason from audit_entries where subject = $1 order by id desc limit 1`,
      [user.publicId],
    )
    const isSystem = way === 'the command line'
    const by = isSystem ? { user_id: null, address: null } : { user_id: admin.id, address: expect.any(String) }
    expect(entry).toEqual({ action: 'account.unlocked', reason, ...by })
  })
})

describe('locking accounts', () => {
  it('is for administrators, who cannot lock themselves, and needs a reason and somebody', async () => {
    const user = await app.newUser()
    const path = `store/users/${user.publicId}/lock/`
    for (const actor of [user, app]) {
      const code = actor === user ? 'PERMISSION_DENIED' : 'NOT_AUTHENTICATED'
      expectError(await actor.rest('POST', path, { json: { reason } }), code)
      expectError(await actor.graphql(LOCK, { input: { userId: user.publicId, reason } }), code)
      expectError(await actor.graphql(UNLOCK, { input: { userId: user.publicId, reason } }), code)
      expectError(await actor.rest('GET', `store/users/?search=${user.username}`), code)
      // With nothing that is refused by itself.
      expectError(await actor.graphql(FIND, { search: user.username }), code)
    }
    expectError(await admin.rest('POST', path, { json: { reason: ' ' } }), 'VALIDATION_FAILED')
    expectError(await admin.rest('POST', 'store/users/nobody-of-that-name/lock/', { json: { reason } }), 'NOT_FOUND')
    const own = await admin.rest('POST', `store/users/${admin.publicId}/lock/`, { json: { reason } })
    expect(expectError(own, 'VALIDATION_FAILED').body.error.details).toEqual({ user_id: ['This is your own account.'] })
    expectOk(await user.rest('GET', 'auth/users/me/'))
  })

  it('is done once, however often it is asked for, and told once', async () => {
    const user = await app.newUser()
    const headers = { 'Idempotency-Key': randomUUID() }
    const lock = (why: string, more = {}) =>
      admin.rest('POST', `store/users/${user.publicId}/lock/`, { json: { reason: why }, headers: more })
    const first = expectOk(await lock(reason, headers))
    expect(expectOk(await lock(reason, headers))).toEqual(first)
    expect(expectOk(await lock('another reason'))).toEqual(first)
    const told = await app.sql('select reason from audit_entries where subject = $1', [user.publicId])
    expect(told).toEqual([{ reason }])
  })

  it('is told again, with the same key, when the account is deleted by then', async () => {
    const user = await app.newUser()
    const headers = { 'Idempotency-Key': randomUUID() }
    const lock = async () =>
      expectOk(await admin.graphql(LOCK, { input: { userId: user.publicId, reason } }, { headers })).lockUser.user
    expect(await lock()).toMatchObject({ id: user.publicId, username: user.username })
    expectOk(await admin.graphql(UNLOCK, { input: { userId: user.publicId, reason } }))
    const credentials = { email: user.email, password: PASSWORD }
    const { auth_token: token } = expectOk(await app.rest('POST', 'auth/token/login/', { json: credentials }))
    const deletion = await app.rest('DELETE', 'auth/users/me/', { headers: { Authorization: `token ${token}` } })
    expect(deletion.status).toBe(204)
    expect(await lock()).toMatchObject({ id: user.publicId })
  })

  it('wins over a sign-in that is under way, and over a session that slipped in', async () => {
    const user = await app.newUser()
    await ways.REST.lock(user)
    // As a sign-in leaves it that was written while the account was being locked.
    await app.sql(`insert into access_tokens (user_id, hash) values ($1::uuid, sha256($2::bytea))`, [
      user.id,
      Buffer.from(user.token),
    ])
    expectError(await user.rest('GET', 'auth/users/me/'), 'AUTHENTICATION_FAILED')
    const stream = await readEvents(`${app.url}/api/v3/events/stream`, { actor: user })
    expect(stream.status).toBe(401)
    stream.close()
    await ways.REST.unlock(user)
    expectError(await user.rest('GET', 'auth/users/me/'), 'AUTHENTICATION_FAILED')
  })

  it.each([
    ['password', { new_password: 'staple battery horse' }],
    ['email', { new_email: 'of-the-thief@example.org' }],
    ['username', { new_username: 'of-the-thief' }],
  ])('wins over a change of the %s that is under way', async (what, wanted) => {
    const user = await app.newUser()
    const state = () => app.sql('select username, email, password_hash from users where id = $1::uuid', [user.id])
    const before = await state()
    const json = { current_password: PASSWORD, ...wanted }
    const answer = await lockMeanwhile(app, user, () => user.rest('POST', `auth/users/set_${what}/`, { json }))
    expectError(answer, 'VALIDATION_FAILED')
    expect(await state()).toEqual(before)
  })

  it('wins over a withdrawal that is under way', async () => {
    const user = await app.newUser({ num: '10' })
    const json = { amount: '1', to: `0x${'e1'.repeat(20)}`, current_password: PASSWORD }
    const answer = await lockMeanwhile(app, user, () => user.rest('POST', 'wallet/withdrawals/', { json }))
    expectError(answer, 'VALIDATION_FAILED')
    expect(await app.sql('select from withdrawals where wallet_id = $1::uuid', [user.id])).toEqual([])
    expect(await app.wallet(user)).toMatchObject({ num: '10' })
  })

  it('begins with finding them: by identifier, address, or the beginning of a name', async () => {
    const name = `find${process.pid}`
    const [one, other] = [await app.newUser({ username: `${name}a` }), await app.newUser({ username: name })]
    const search = async (text: string) =>
      expectOk(await admin.graphql(SEARCH, { search: text })).users.map(({ id }: { id: string }) => id)
    expect(await search(one.publicId)).toEqual([one.publicId])
    expect(await search(one.email.toUpperCase())).toEqual([one.publicId])
    expect(await search(name)).toEqual([other.publicId, one.publicId])
    expect(await search('%')).toEqual([])
    await ways.REST.lock(one)
    const rest = expectOk(await admin.rest('GET', `store/users/?search=${one.username}`)).results
    expect(rest).toEqual([
      {
        ...{ id: one.publicId, username: one.username, display_name: one.username },
        ...{ created_at: expect.any(String), locked_at: expect.any(String) },
      },
    ])
    const found = JSON.parse((await annal('find', one.email, '--json')).stdout)
    expect(found).toMatchObject([{ id: one.publicId, email: one.email, role: 'USER', lockReason: reason }])
    expect((await annal('find', one.email)).stdout).toContain(`(${reason})`)
    expect(await annal('find', 'nobody-of-that-name')).toMatchObject({ code: 1, stdout: '' })
    expect(await annal('lock', 'nobody-of-that-name', '--reason', 'none')).toMatchObject({ code: 1 })
    // What an administrator sees of others is told to nobody else, and is not the address.
    const seen = expectOk(await admin.graphql(SEARCH, { search: one.publicId })).users
    expect(seen).toEqual([{ id: one.publicId, username: one.username, email: null, lockedAt: expect.any(String) }])
    const node = `{ node(id: "${one.publicId}") { ... on User { lockedAt } } }`
    expect(expectOk(await other.graphql(node)).node).toEqual({ lockedAt: null })
  })
})
