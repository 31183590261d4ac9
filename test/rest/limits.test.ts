import { expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const env = { LIMIT_SIGN_UPS_PER_IP: '2', LIMIT_SIGN_INS_PER_IP: '3', REQUIRE_API_KEY_FOR_SIGN_UP: 'true' }
const app = await createTestApp({ env })
const { key } = await app.services.apiKeys.issue(
  { kind: 'system' },
  { name: 'Partner' },
  { key: undefined, replayed: false },
)
const headers = { 'x-api-key': key }

it('a sign-up needs an API key where the operator says so', async () => {
  const json = { username: 'alone', email: 'alone@example.org', password: PASSWORD }
  expectError(await app.rest('POST', 'auth/users/', { json }), 'UNTRUSTED_CLIENT')
})

it('sign-ups over the limit are refused with the seconds to wait, by both doors from one bucket', async () => {
  const fields = (i: number) => ({ username: `many${i}`, email: `many${i}@example.org`, password: PASSWORD })
  const document = 'mutation ($input: SignUpInput!) { signUp(input: $input) { user { id } } }'
  expect((await app.rest('POST', 'auth/users/', { json: fields(0), headers })).status).toBe(201)
  expectOk(await app.graphql(document, { input: fields(1) }, { headers }))
  const answer = expectError(await app.rest('POST', 'auth/users/', { json: fields(2), headers }), 'THROTTLED')
  const wait = Number(answer.headers.get('retry-after'))
  expect(wait).toBeGreaterThan(3_500)
  expect(wait).toBeLessThanOrEqual(3_600)
  expect(answer.body.detail).toContain(`${wait} seconds`)
  const other = expectError(await app.graphql(document, { input: fields(3) }, { headers }), 'THROTTLED')
  expect(Number(other.headers.get('retry-after'))).toBeGreaterThan(3_500)
  expect(await app.sql(`select count(*)::int as n from users where username like 'many%'`)).toEqual([{ n: 2 }])
})

it('sign-ins over the limit are refused whether they would be right or wrong', async () => {
  const { email } = await app.newUser()
  const login = (password: string) => app.rest('POST', 'auth/token/login/', { json: { email, password } })
  for (let i = 0; i < 3; i++) expectError(await login('wrong password'), 'INCORRECT_LOGIN_CREDENTIALS')
  expect(
    Number(expectError(await login('wrong password'), 'THROTTLED').headers.get('retry-after')),
  ).toBeLessThanOrEqual(60)
  expectError(await login(PASSWORD), 'THROTTLED')
})

it('a window that has ended counts from the start again', async () => {
  const { email } = await app.newUser()
  await app.sql(`update limits set window_end = now() - interval '1 second'`)
  expectOk(await app.rest('POST', 'auth/token/login/', { json: { email, password: PASSWORD } }))
})
