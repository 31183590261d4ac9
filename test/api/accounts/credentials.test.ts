import { describe, expect, it } from 'vitest'
import { asSystem } from '../../../src/context.ts'
import { issueApiKey } from '../../../src/modules/store/api-keys.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()
const asset = await user.register({ public_access: 'true' })

const { key } = await issueApiKey(asSystem(app.context), { name: 'Partner' })

const me = (authorization: string) => app.rest('GET', 'auth/users/me/', { headers: { Authorization: authorization } })

describe('Authorization header', () => {
  it.each(['token', 'Token', 'TOKEN', 'bearer', 'Bearer', 'BEARER'])(
    'accepts the scheme %s in the Authorization header',
    async (scheme) => {
      expect(expectOk(await me(`${scheme} ${user.token}`)).id).toBe(user.publicId)
    },
  )

  it.each(['Basic dXNlcjpwYXNz', 'token', 'Digest x', '', 'Negotiate abc'])(
    'treats a caller with the Authorization header "%s" as anonymous',
    async (text) => {
      expectError(await me(text), 'NOT_AUTHENTICATED')
      expectOk(await app.rest('GET', `assets/${asset.id}/`, { headers: { Authorization: text } }))
    },
  )

  it.each([['PATCH', `assets/${asset.id}/`, 'Idempotency-Key']])(
    'checks the Authorization header before the other headers of %s %s',
    async (method, path, name) => {
      const malformed = { headers: { [name]: '' } }
      expectError(await app.rest(method, path, malformed), 'NOT_AUTHENTICATED')
      expectError(await app.rest(method, path, { ...malformed, actor: { token: 'x' } }), 'AUTHENTICATION_FAILED')
      expectError(await app.rest(method, path, { ...malformed, actor: user }), 'VALIDATION_FAILED')
    },
  )
})

describe('x-api-key header', () => {
  it.each(['x-api-key', 'X-API-KEY', 'X-Api-Key'])(
    'accepts an API key in the header %s, with and without an access token',
    async (name) => {
      expectOk(await app.rest('GET', 'assets/', { headers: { [name]: key } }))
      expect(expectOk(await user.rest('GET', 'auth/users/me/', { headers: { [name]: key } })).id).toBe(user.publicId)
    },
  )

  it('an API key does not replace an access token', async () => {
    expectError(await app.rest('GET', 'auth/users/me/', { headers: { 'x-api-key': key } }), 'NOT_AUTHENTICATED')
  })

  it('sign-up with a wrong API key returns 401 and creates no account', async () => {
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

  it.each(['', '  '])('ignores an empty x-api-key header ("%s")', async (empty) => {
    const username = `keyless${empty.length}`
    const json = { username, email: `${username}@example.org`, password: 'correct horse battery' }
    expect((await app.rest('POST', 'auth/users/', { json, headers: { 'x-api-key': empty } })).status).toBe(201)
    expectOk(await user.rest('GET', 'auth/users/me/', { headers: { 'x-api-key': empty } }))
  })
})

it('the database stores access tokens only as hashes', async () => {
  const rows = await app.sql<Record<string, unknown>>('select *, hash::text as text from access_tokens')
  expect(JSON.stringify(rows)).not.toContain(user.token)
})
