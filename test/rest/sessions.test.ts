import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { waiting, whileHeld } from '../support/held-rows.ts'
import type { Answer } from '../support/http-client.ts'
import { createTestApp, type SignedIn } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp()
const lasting = await createTestApp({ env: { ACCESS_TOKEN_DAYS: '30' } })

interface SessionRecord {
  id: string
  name: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  is_current: boolean
}

const missing = 'session_01h455vb4pex5vsknk084sn02q'
const login = (user: SignedIn, fields = {}, headers = {}, at = app) =>
  at.rest('POST', 'auth/token/login/', { json: { email: user.email, password: PASSWORD, ...fields }, headers })
const tokenOf = (answer: Answer): string => expectOk(answer).auth_token
const list = async (user: SignedIn, query = ''): Promise<SessionRecord[]> =>
  expectOk(await user.rest('GET', `auth/sessions/${query}`)).results
const me = (token: string) => app.rest('GET', 'auth/users/me/', { actor: { token } })
/** The session that was started last. */
const newest = async (user: SignedIn): Promise<SessionRecord> => (await list(user))[0]!

describe('sessions', () => {
  it('are listed newest first, without their secrets, and tell which one asks', async () => {
    const user = await app.newUser()
    const token = tokenOf(await login(user, { device: 'Pixel 12' }))
    const answer = await user.rest('GET', '/auth/sessions')
    expect(expectOk(answer)).toEqual({
      count: 2,
      next: null,
      previous: null,
      results: [
        {
          id: expect.stringMatching(/^session_[0-9a-z]{26}$/),
          name: 'Pixel 12',
          created_at: expect.any(String),
          last_used_at: null,
          expires_at: null,
          is_current: false,
        },
        expect.objectContaining({ name: '', is_current: true }),
      ],
    })
    for (const secret of [token, user.token]) expect(answer.text).not.toContain(secret)
  })

  it('are paged', async () => {
    const user = await app.newUser()
    await login(user, { device: 'second' })
    const page = expectOk(await user.rest('GET', 'auth/sessions/?limit=1&offset=1'))
    expect(page).toMatchObject({ count: 2, next: null, previous: expect.stringContaining('limit=1') })
    expect(page.results).toMatchObject([{ is_current: true }])
  })

  it('are nobody else’s, and nobody’s without a token', async () => {
    const user = await app.newUser()
    const [own] = await list(user)
    expectError(await app.rest('GET', 'auth/sessions/'), 'NOT_AUTHENTICATED')
    for (const other of [await app.newUser(), await app.admin()]) {
      expect((await list(other)).map(({ id }) => id)).not.toContain(own!.id)
      expectError(await other.rest('DELETE', `auth/sessions/${own!.id}/`), 'NOT_FOUND')
    }
    expect((await me(user.token)).status).toBe(200)
  })

  it.each([
    ['the device as it names itself', { device: 'Ana’s phone' }, {}, 'Ana’s phone'],
    ['else the program that asks', {}, { 'User-Agent': 'curl/8.5.0' }, 'curl/8.5.0'],
    ['shortened when it is long', { device: '𐍈'.repeat(150) }, {}, '𐍈'.repeat(100)],
    ['without invisible characters', { device: 'a\u0000\u202eb' }, {}, 'ab'],
  ])('are named by %s', async (_case, fields, headers, name) => {
    const user = await app.newUser()
    tokenOf(await login(user, fields, headers))
    expect(await newest(user)).toMatchObject({ name })
  })

  it('tell when they were last used, once that was recorded, and reading it costs no write', async () => {
    const user = await app.newUser()
    expectOk(await me(user.token))
    expect(await newest(user)).toMatchObject({ last_used_at: null })
    const [before] = await app.sql<{ at: Date }>('select now() as at')
    await app.services.sessions.recordUse()
    const { last_used_at } = await newest(user)
    expect(Date.parse(last_used_at!)).toBeGreaterThanOrEqual(before!.at.getTime() - 1)
  })

  it('are recorded as used although somebody holds one of them, and that one next time', async () => {
    const [busy, free] = [await app.newUser(), await app.newUser()]
    await app.services.sessions.recordUse()
    const usedAt = () =>
      app.sql<{ mine: boolean; used: boolean }>(
        `select user_id = $1::uuid as mine, last_used_at is not null as used from access_tokens
         where user_id in ($1::uuid, $2::uuid) order by mine`,
        [busy.id, free.id],
      )
    await whileHeld(app, `select from access_tokens where user_id = '${busy.id}' for update`, async () => {
      for (const user of [busy, free]) expectOk(await me(user.token))
      await app.services.sessions.recordUse()
      return {}
    })
    expect(await usedAt()).toEqual([
      { mine: false, used: true },
      { mine: true, used: false },
    ])
    expectOk(await me(busy.token))
    await app.services.sessions.recordUse()
    expect((await usedAt()).map(({ used }) => used)).toEqual([true, true])
  })
})

describe('revoking', () => {
  it('one session refuses its token from the next request on, and leaves the others', async () => {
    const user = await app.newUser()
    const token = tokenOf(await login(user))
    const { id } = await newest(user)
    expect(await user.rest('DELETE', `auth/sessions/${id}/`)).toMatchObject({ status: 204, text: '' })
    expectError(await me(token), 'AUTHENTICATION_FAILED')
    expect(await list(user)).toMatchObject([{ is_current: true }])
    expectError(await user.rest('DELETE', `auth/sessions/${id}/`), 'NOT_FOUND')
  })

  it('the current session signs out', async () => {
    const user = await app.newUser()
    const { id } = await newest(user)
    expect((await user.rest('DELETE', `auth/sessions/${id}/`)).status).toBe(204)
    expectError(await me(user.token), 'AUTHENTICATION_FAILED')
  })

  it('the same one twice with one key succeeds twice', async () => {
    const user = await app.newUser()
    await login(user)
    const { id } = await newest(user)
    const headers = { 'Idempotency-Key': randomUUID() }
    for (const replayed of [null, 'true']) {
      const answer = await user.rest('DELETE', `auth/sessions/${id}/`, { headers })
      expect(answer.status).toBe(204)
      expect(answer.headers.get('idempotency-replayed')).toBe(replayed)
    }
  })

  it.each([missing, 'rubbish', 'user_01h455vb4pex5vsknk084sn02q'])('%s finds nothing', async (id) => {
    expectError(await (await app.newUser()).rest('DELETE', `auth/sessions/${id}/`), 'NOT_FOUND')
  })

  it('all others leaves the one that asks, and other people’s', async () => {
    const [user, other] = [await app.newUser(), await app.newUser()]
    const tokens = [tokenOf(await login(user)), tokenOf(await login(user))]
    const headers = { 'Idempotency-Key': randomUUID() }
    const revokeOthers = () => user.rest('POST', 'auth/sessions/revoke-others/', { headers })
    expect(await revokeOthers()).toMatchObject({ status: 204, text: '' })
    for (const token of tokens) expectError(await me(token), 'AUTHENTICATION_FAILED')
    expect(await list(user)).toMatchObject([{ is_current: true }])
    expectOk(await me(other.token))
    const later = tokenOf(await login(user))
    expect((await revokeOthers()).headers.get('idempotency-replayed')).toBe('true')
    expectOk(await me(later))
    // Nothing has ended that it would say has: from there it is another request.
    const actor = { token: later }
    const fromLater = await app.rest('POST', 'auth/sessions/revoke-others/', { actor, headers })
    expectError(fromLater, 'IDEMPOTENCY_KEY_REUSED')
    expectOk(await me(user.token))
  })
})

describe('an end', () => {
  it('is set for new sessions where the configuration says so, by the database’s clock', async () => {
    const user = await lasting.newUser()
    tokenOf(await login(user, {}, {}, lasting))
    const [row] = await lasting.sql<{ days: number }>(
      `select extract(epoch from expires_at - created_at)::int / 86400.0 as days from access_tokens
       where user_id = $1::uuid order by id desc limit 1`,
      [user.id],
    )
    expect(Number(row!.days)).toBeCloseTo(30, 3)
    expect((await list(user))[0]!.expires_at).toEqual(expect.any(String))
  })

  it('that has come ends the session: it is not listed and its token is refused', async () => {
    const user = await lasting.newUser()
    const token = tokenOf(await login(user, {}, {}, lasting))
    await lasting.sql(
      `update access_tokens set expires_at = now() - interval '1 second'
       where user_id = $1::uuid and expires_at is not null`,
      [user.id],
    )
    expectError(await lasting.rest('GET', 'auth/users/me/', { actor: { token } }), 'AUTHENTICATION_FAILED')
    expect(await list(user)).toMatchObject([{ is_current: true }])
  })
})

it('a sign-in yields no token when the password is changed while it is being checked', async () => {
  const user = await app.newUser()
  const change = `update users set password_hash = 'changed' where id = '${user.id}'`
  const signIn = await whileHeld(app, change, async () => {
    const answer = login(user)
    await waiting(app, 1)
    return { answer }
  })
  expectError(await signIn.answer, 'INCORRECT_LOGIN_CREDENTIALS')
  expect(await list(user)).toHaveLength(1)
})
