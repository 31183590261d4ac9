import { expect, it } from 'vitest'
import { asSystem } from '../../../src/context.ts'
import { issueApiKey } from '../../../src/modules/store/api-keys.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const env = {
  LIMITS: 'sign-up=2,sign-in=3,upload=2,requests-per-user=40',
  TRUSTED_PROXIES: '127.0.0.1',
  REQUIRE_API_KEY_FOR_SIGN_UP: 'true',
}
const app = await createTestApp({ env })
const headers = { 'x-api-key': (await issueApiKey(asSystem(app.context), { name: 'Partner' })).key }

it('requires an API key for a sign-up if the operator enables the requirement', async () => {
  const json = { username: 'alone', email: 'alone@example.org', password: PASSWORD }
  expectError(await app.rest('POST', 'auth/users/', { json }), 'UNTRUSTED_CLIENT')
})

it('rejects sign-ups over the limit shared by both APIs, with Retry-After', async () => {
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

it('rejects sign-ins over the limit, with a correct or an incorrect password', async () => {
  const { email } = await app.newUser()
  const login = (password: string) => app.rest('POST', 'auth/token/login/', { json: { email, password } })
  for (let i = 0; i < 3; i++) expectError(await login('wrong password'), 'INCORRECT_LOGIN_CREDENTIALS')
  expect(
    Number(expectError(await login('wrong password'), 'THROTTLED').headers.get('retry-after')),
  ).toBeLessThanOrEqual(60)
  expectError(await login(PASSWORD), 'THROTTLED')
})

it('a rate limit counts from zero after its window ends', async () => {
  const { email } = await app.newUser()
  await app.sql(`update limits set window_end = now() - interval '1 second'`)
  expectOk(await app.rest('POST', 'auth/token/login/', { json: { email, password: PASSWORD } }))
})

it('distinguishes client addresses behind a trusted proxy, and ignores forged addresses', async () => {
  await app.sql(`update limits set window_end = now()`)
  const login = (address: string) =>
    app.rest('POST', 'auth/token/login/', {
      json: { email: 'nobody-behind-a-proxy@example.org', password: 'wrong password' },
      headers: { 'X-Forwarded-For': address },
    })
  for (let i = 0; i < 3; i++) expectError(await login('203.0.113.1'), 'INCORRECT_LOGIN_CREDENTIALS')
  expectError(await login('203.0.113.1'), 'THROTTLED')
  expectError(await login('203.0.113.99, 203.0.113.1'), 'THROTTLED')
  expectError(await login('203.0.113.2'), 'INCORRECT_LOGIN_CREDENTIALS')
})

it('rejects files over the limit shared by both APIs before reading the files', async () => {
  const [user, other] = [await app.newUser(), await app.newUser()]
  const document = 'mutation ($input: RegisterAssetInput!) { registerAsset(input: $input) { asset { id } } }'
  const byGraphQL = () => user.graphql(document, { input: { assetFile: newFile() } })
  await user.register()
  expectOk(await byGraphQL())
  const answer = expectError(await user.rest('POST', 'assets/', { multipart: { asset_file: newFile() } }), 'THROTTLED')
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_500)
  expectError(await byGraphQL(), 'THROTTLED')
  expect(await app.sql('select asset_count from users where id = $1::uuid', [user.id])).toEqual([{ asset_count: 2 }])
  await other.register()
})
