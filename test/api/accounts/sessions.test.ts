import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { bothApis, callerWith, restApi } from '../../support/api.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { waiting, whileHeld } from '../../support/held-rows.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp()
const expiring = await createTestApp({ env: { ACCESS_TOKEN_DAYS: '30' } })

const me = (token: string, at = app) => at.graphql('{ me { id } }', {}, { actor: { token } })
describe.each(bothApis)('sessions over $name', (api) => {
  const signIn = async ({ email }: SignedIn, name?: string, at = app): Promise<string> =>
    (await api.signIn(at, { email, password: PASSWORD, name })).ok().token
  const list = async (user: SignedIn) => (await api.listSessions(user)).ok().nodes

  it.each([
    ['a wrong password', { password: 'wrong horse battery' }],
    ['an unknown address', { email: 'stranger@example.org' }],
  ])('sign-in rejects %s with the same message', async (_, wrong) => {
    const result = await api.signIn(app, { email: (await app.newUser()).email, password: PASSWORD, ...wrong })
    result.fails('INCORRECT_LOGIN_CREDENTIALS')
    expect(result.text).toContain('Unable to log in with provided credentials.')
  })

  it('sign-in accepts the address in any case, and gives each session its own token', async () => {
    const user = await app.newUser()
    const tokens = [await signIn(user), await signIn({ ...user, email: ` ${user.email.toUpperCase()} ` })] as const
    expect(new Set(tokens).size).toBe(2)
    ;(await api.signOut(callerWith(app, tokens[0]))).ok()
    expectError(await me(tokens[0]), 'AUTHENTICATION_FAILED')
    expectOk(await me(tokens[1]))
    ;(await api.signOut(app)).fails('NOT_AUTHENTICATED')
  })

  it('lists sessions newest first, without tokens, and marks the current session', async () => {
    const user = await app.newUser()
    const token = await signIn(user, ' Pixel 12 ')
    const result = await api.listSessions(user)
    expect(result.ok()).toEqual({
      totalCount: 2,
      nodes: [
        {
          ...{ id: expect.stringMatching(/^session_[0-9a-z]{26}$/), name: 'Pixel 12', createdAt: expect.any(String) },
          ...{ lastUsedAt: null, expiresAt: null, isCurrent: false },
        },
        expect.objectContaining({ name: '', isCurrent: true }),
      ],
    })
    for (const secret of [token, user.token]) expect(result.text).not.toContain(secret)
  })

  it('hides sessions from other users and anonymous callers', async () => {
    const user = await app.newUser()
    const [{ id }] = await list(user)
    ;(await api.listSessions(app)).fails('NOT_AUTHENTICATED')
    ;(await api.revokeSession(app, { id })).fails('NOT_AUTHENTICATED')
    ;(await api.revokeOtherSessions(app)).fails('NOT_AUTHENTICATED')
    for (const other of [await app.newUser(), await app.admin()]) {
      expect((await list(other)).map((session: { id: string }) => session.id)).not.toContain(id)
      ;(await api.revokeSession(other, { id })).fails('NOT_FOUND')
    }
    expectOk(await me(user.token))
  })

  it('rejects the token of a revoked session from the next request on', async () => {
    const user = await app.newUser()
    const token = await signIn(user)
    const [{ id }, own] = await list(user)
    ;(await api.revokeSession(user, { id })).ok()
    expectError(await me(token), 'AUTHENTICATION_FAILED')
    expect(await list(user)).toMatchObject([{ isCurrent: true }])
    ;(await api.revokeSession(user, { id })).fails('NOT_FOUND')
    ;(await api.revokeSession(user, { id: own.id })).ok()
    expectError(await me(user.token), 'AUTHENTICATION_FAILED')
  })

  it('revokes all other sessions of the user', async () => {
    const [user, other] = [await app.newUser(), await app.newUser()]
    const tokens = [await signIn(user), await signIn(user)]
    const options = { headers: { 'Idempotency-Key': randomUUID() } }
    ;(await api.revokeOtherSessions(user, {}, options)).ok()
    for (const token of tokens) expectError(await me(token), 'AUTHENTICATION_FAILED')
    expect(await list(user)).toMatchObject([{ isCurrent: true }])
    expectOk(await me(other.token))
    const later = await signIn(user)
    expect((await api.revokeOtherSessions(user, {}, options)).headers.get('idempotency-replayed')).toBe('true')
    expectOk(await me(later))
    // The key belongs to the session that sent it first.
    ;(await api.revokeOtherSessions(callerWith(app, later), {}, options)).fails('IDEMPOTENCY_KEY_REUSED')
    expectOk(await me(user.token))
  })

  it('sessions expire after ACCESS_TOKEN_DAYS', async () => {
    const user = await expiring.newUser()
    const token = await signIn(user, undefined, expiring)
    const [row] = await expiring.sql<{ days: number }>(
      `select extract(epoch from expires_at - created_at)::float / 86400 as days from access_tokens
       where user_id = $1::uuid order by id desc limit 1`,
      [user.id],
    )
    expect(row!.days).toBeCloseTo(30, 3)
    expect((await list(user))[0].expiresAt).toEqual(expect.any(String))
    const expire = `update access_tokens set expires_at = now() - interval '1 second'
      where user_id = $1::uuid and expires_at is not null`
    await expiring.sql(expire, [user.id])
    expectError(await me(token, expiring), 'AUTHENTICATION_FAILED')
    expect(await list(user)).toMatchObject([{ isCurrent: true }])
  })

  it('sign-in issues no token if the password changes during the password check', async () => {
    const user = await app.newUser()
    const change = `update users set password_hash = 'changed' where id = '${user.id}'`
    const { answer } = await whileHeld(app, change, async () => {
      const answer = api.signIn(app, { email: user.email, password: PASSWORD })
      await waiting(app, 1)
      return { answer }
    })
    ;(await answer).fails('INCORRECT_LOGIN_CREDENTIALS')
    expect(await list(user)).toHaveLength(1)
  })
})

describe('last-use time of sessions', () => {
  const list = async (user: SignedIn) => (await restApi.listSessions(user)).ok().nodes

  it('the last-use time of a session is recorded in the background, so requests do not write to the database', async () => {
    const user = await app.newUser()
    expectOk(await me(user.token))
    expect(await list(user)).toMatchObject([{ lastUsedAt: null }])
    const [before] = await app.sql<{ at: Date }>('select now() as at')
    await app.context.credentials.recordTokenUse()
    const [{ lastUsedAt }] = await list(user)
    expect(Date.parse(lastUsedAt)).toBeGreaterThanOrEqual(before!.at.getTime() - 1)
  })
})

it.each([
  ['the device name', { device: 'Ana’s phone' }, {}, 'Ana’s phone'],
  ['the User-Agent without a device name', {}, { 'User-Agent': 'curl/8.5.0' }, 'curl/8.5.0'],
  ['a shortened long name', { device: '𐍈'.repeat(150) }, {}, '𐍈'.repeat(100)],
  ['a name without invisible characters', { device: 'a\u0000\u202eb' }, {}, 'ab'],
])('a REST sign-in names the new session by %s', async (_, fields, headers, name) => {
  const user = await app.newUser()
  const json = { email: user.email, password: PASSWORD, ...fields }
  expectOk(await app.rest('POST', 'auth/token/login/', { json, headers }))
  expect(expectOk(await user.rest('GET', 'auth/sessions/')).results[0]).toMatchObject({ name })
})

it('a GraphQL sign-in rejects a session name of more than 100 characters', async () => {
  const { email } = await app.newUser()
  const document = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'
  const input = { email, password: PASSWORD, name: 'x'.repeat(101) }
  expectError(await app.graphql(document, { input }), 'VALIDATION_FAILED')
})
