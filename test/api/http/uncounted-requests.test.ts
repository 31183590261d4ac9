/** Requests that count against no limit: probes, and requests that fail validation before they do anything expensive. */
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp({
  env: {
    TRUSTED_PROXIES: '127.0.0.1',
    EMAIL_VERIFICATION: 'on',
    LIMITS: 'requests-per-address=100,sign-in=1,sign-up=1,reset=1,verification=1',
  },
})
let addresses = 0
const newAddress = () => {
  addresses += 1
  return { 'X-Forwarded-For': `198.51.100.${addresses}` }
}

describe.each(['/healthz', '/readyz'])('requests to %s', (path) => {
  it('a health probe is not rate limited, even if the limit of its address is exhausted', async () => {
    const headers = newAddress()
    for (let i = 0; i < 150; i += 1) expect((await app.rest('GET', path, { headers })).status).toBe(200)
    for (let i = 0; i < 100; i += 1) expectOk(await app.rest('GET', 'assets/', { headers }))
    expectError(await app.rest('GET', 'assets/', { headers }), 'THROTTLED')
    expect((await app.rest('GET', path, { headers })).status).toBe(200)
    expect((await app.rest('HEAD', path, { headers })).status).toBe(200)
  })
})

const invalidEmails: [string, unknown][] = [
  ['no e-mail address', undefined],
  ['null as e-mail address', null],
  ['a blank e-mail address', '  '],
  ['a number as e-mail address', 42],
  ['a boolean as e-mail address', true],
  ['a list as e-mail address', ['ada@example.org']],
  ['an object as e-mail address', { a: 1 }],
  ['a name without a domain as e-mail address', 'ada'],
]
const invalidPasswords: [string, unknown][] = [
  ['no password', undefined],
  ['null as password', null],
  ['a blank password', ''],
  ['a number as password', 12_345_678],
  ['a boolean as password', true],
  ['a list as password', [PASSWORD]],
  ['an object as password', {}],
  ['a password of 300 characters', 'x'.repeat(300)],
]

describe('invalid sign-ins', () => {
  const invalid: [string, (email: string) => object][] = [
    ...invalidEmails.map(([name, email]): [string, () => object] => [name, () => ({ email, password: PASSWORD })]),
    ...invalidPasswords.map(([name, password]): [string, (email: string) => object] => [
      name,
      (email) => ({ email, password }),
    ]),
    ['an empty body', () => ({})],
  ]

  it.each(invalid)(
    'a sign-in with %s is rejected as invalid and counts neither as a sign-in nor as a password guess',
    async (_, fieldsOf) => {
      const headers = newAddress()
      const { email } = await app.newUser()
      const json = fieldsOf(email)
      const document = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'
      for (let i = 0; i < 5; i += 1) {
        expectError(await app.rest('POST', 'auth/token/login/', { json, headers }), 'VALIDATION_FAILED')
        const { body } = await app.graphql(document, { input: json }, { headers })
        expect(body.data ?? null).toBeNull()
        for (const { extensions } of body.errors) expect(extensions.code).not.toMatch(/THROTTLED|INCORRECT/)
      }
      const login = { json: { email, password: PASSWORD }, headers }
      expectOk(await app.rest('POST', 'auth/token/login/', login))
      expectError(await app.rest('POST', 'auth/token/login/', login), 'THROTTLED')
    },
  )
})

describe.each([
  ['a password reset', 'auth/users/reset_password/'],
  ['a verification mail', 'auth/users/resend_activation/'],
])('invalid requests for %s', (_name, path) => {
  it.each(invalidEmails.filter(([, email]) => email !== undefined && email !== null))(
    'a mail request with %s is rejected as invalid and does not count towards the mail limit',
    async (_, email) => {
      const headers = newAddress()
      for (let i = 0; i < 3; i += 1) {
        expectError(await app.rest('POST', path, { json: { email }, headers }), 'VALIDATION_FAILED')
      }
      const json = { email: `mail${addresses}@example.org` }
      expect((await app.rest('POST', path, { json, headers })).status).toBeLessThan(300)
      expectError(await app.rest('POST', path, { json, headers }), 'THROTTLED')
    },
  )
})

it('rejects a blank current password as invalid, and does not count it as a password guess', async () => {
  const user = await app.newUser()
  for (const current_password of [undefined, null, '', 5, {}]) {
    for (let i = 0; i < 2; i += 1) {
      const json = { current_password, new_password: 'staple battery horse' }
      expectError(await user.rest('POST', 'auth/users/set_password/', { json }), 'VALIDATION_FAILED')
    }
  }
  const json = { current_password: PASSWORD, new_password: 'staple battery horse' }
  expect((await user.rest('POST', 'auth/users/set_password/', { json })).status).toBe(204)
})

it('does not count profile pictures that are rejected before processing', async () => {
  const user = await app.newUser()
  const send = (file: File) => user.rest('PATCH', 'auth/users/profile/', { multipart: { profile_picture: file } })
  for (let i = 0; i < 61; i += 1) expectError(await send(new File([], 'empty.png')), 'VALIDATION_FAILED')
  expectOk(await send(await newPicture()))
})
