import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp, newFile } from '../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()
const admin = await app.admin()
const asset = await user.register({ public_access: 'true' })

const { key } = await app.services.apiKeys.issue(
  { kind: 'system' },
  { name: 'Partner' },
  { key: undefined, replayed: false },
)

const me = (authorization: string) => app.rest('GET', 'auth/users/me/', { headers: { Authorization: authorization } })

describe('Authorization', () => {
  it.each(['token', 'Token', 'TOKEN', 'bearer', 'Bearer', 'BEARER'])('takes the scheme word %s', async (scheme) => {
    expect(expectOk(await me(`${scheme} ${user.token}`)).id).toBe(user.publicId)
  })

  it.each(['Basic dXNlcjpwYXNz', 'token', 'Digest x', '', 'Negotiate abc'])(
    '"%s" counts as anonymous',
    async (header) => {
      expectError(await me(header), 'NOT_AUTHENTICATED')
      expectOk(await app.rest('GET', `assets/${asset.id}/`, { headers: { Authorization: header } }))
    },
  )

  it.each([
    ['GET', 'assets/'],
    ['GET', `assets/${asset.id}/`],
    ['GET', `assets/${asset.id}/history/`],
    ['GET', `/ipfs/${asset.id}`],
  ])('with a bad token is refused even on the public %s %s', async (method, path) => {
    const answer = expectError(
      await app.rest(method, path, { actor: { token: 'f'.repeat(40) } }),
      'AUTHENTICATION_FAILED',
    )
    expect(answer.headers.get('www-authenticate')).toBe('Token')
    expect(answer.body.error.message).toBe('Incorrect authentication credentials.')
  })

  it('that is missing where it is needed is told as such', async () => {
    const answer = expectError(await app.rest('GET', 'auth/users/me/'), 'NOT_AUTHENTICATED')
    expect(answer.headers.get('www-authenticate')).toBe('Token')
    expect(answer.body.error.message).toBe('Authentication credentials were not provided.')
  })

  it.each([['PATCH', `assets/${asset.id}/`, 'Idempotency-Key']])(
    'is checked before other headers of %s %s',
    async (method, path, name) => {
      const malformed = { headers: { [name]: '' } }
      expectError(await app.rest(method, path, malformed), 'NOT_AUTHENTICATED')
      expectError(await app.rest(method, path, { ...malformed, actor: { token: 'x' } }), 'AUTHENTICATION_FAILED')
      expectError(await app.rest(method, path, { ...malformed, actor: user }), 'VALIDATION_FAILED')
    },
  )

  it('is checked before the body is read', async () => {
    const broken = { raw: '{', headers: { 'Content-Type': 'application/json' } }
    expectError(await app.rest('PATCH', `assets/${asset.id}/`, broken), 'NOT_AUTHENTICATED')
    expectError(
      await app.rest('PATCH', `assets/${asset.id}/`, { ...broken, actor: { token: 'x' } }),
      'AUTHENTICATION_FAILED',
    )
  })
})

describe('x-api-key', () => {
  it('looks like a prefix of 8 characters and a secret of 32', () => {
    expect(key).toMatch(/^[^.]{8}\.[^.]{32}$/)
  })

  it.each(['x-api-key', 'X-API-KEY', 'X-Api-Key'])('is taken as %s, beside a token or alone', async (name) => {
    expectOk(await app.rest('GET', 'assets/', { headers: { [name]: key } }))
    expect(expectOk(await user.rest('GET', 'auth/users/me/', { headers: { [name]: key } })).id).toBe(user.publicId)
  })

  it('does not stand in for a token', async () => {
    expectError(await app.rest('GET', 'auth/users/me/', { headers: { 'x-api-key': key } }), 'NOT_AUTHENTICATED')
  })

  it('that is wrong is a 401 on sign-up, and no account is made', async () => {
    const json = { username: 'nobody', email: 'nobody@example.org', password: 'correct horse battery' }
    for (const wrong of ['abcdefgh.wrong', `${key}x`, 'nonsense']) {
      const answer = expectError(
        await app.rest('POST', 'auth/users/', { json, headers: { 'x-api-key': wrong } }),
        'UNTRUSTED_CLIENT',
      )
      expect(answer.headers.get('www-authenticate')).toBe('Token')
    }
    expect(await app.sql(`select 1 from users where username = 'nobody'`)).toEqual([])
  })

  it.each(['', '  '])('that is empty ("%s") counts as none', async (empty) => {
    const username = `keyless${empty.length}`
    const json = { username, email: `${username}@example.org`, password: 'correct horse battery' }
    expect((await app.rest('POST', 'auth/users/', { json, headers: { 'x-api-key': empty } })).status).toBe(201)
    expectOk(await user.rest('GET', 'auth/users/me/', { headers: { 'x-api-key': empty } }))
  })

  it('that is right signs up', async () => {
    const json = { username: 'partnered', email: 'partnered@example.org', password: 'correct horse battery' }
    expect((await app.rest('POST', 'auth/users/', { json, headers: { 'x-api-key': key } })).status).toBe(201)
  })

  it('that was revoked is refused, and no account is made', async () => {
    const revoked = await app.services.apiKeys.issue(
      { kind: 'system' },
      { name: 'Gone' },
      { key: undefined, replayed: false },
    )
    await app.sql('update api_keys set revoked_at = now() where prefix = $1', [revoked.key.slice(0, 8)])
    const json = { username: 'latecomer', email: 'latecomer@example.org', password: 'correct horse battery' }
    const answer = await app.rest('POST', 'auth/users/', { json, headers: { 'x-api-key': revoked.key } })
    expectError(answer, 'UNTRUSTED_CLIENT')
    expect(await app.sql(`select 1 from users where username = 'latecomer'`)).toEqual([])
  })

  it('is stored as a digest only', async () => {
    const rows = await app.sql<Record<string, unknown>>('select * from api_keys')
    expect(JSON.stringify(rows)).not.toContain(key.slice(9))
  })
})

it('an administrator sees no more of private assets than anybody', async () => {
  const { id } = await user.register()
  expectError(await admin.rest('GET', `assets/${id}/`), 'NOT_FOUND')
  expectError(await admin.rest('PATCH', `assets/${id}/`, { json: { caption: 'x' } }), 'NOT_FOUND')
  expectError(await admin.rest('GET', `/ipfs/${id}`), 'NOT_FOUND')
})

it('a token is stored as a digest only', async () => {
  const rows = await app.sql<Record<string, unknown>>('select *, hash::text as text from access_tokens')
  expect(JSON.stringify(rows)).not.toContain(user.token)
})

it('a user without a wallet balance is still signed in: 401 means only who are you', async () => {
  const poor = await app.newUser({ points: '0.1' })
  const answer = await poor.rest('POST', 'assets/', { multipart: { asset_file: newFile() } })
  expectError(answer, 'ASSET_COMMIT_INSUFFICIENT_FUND')
})
