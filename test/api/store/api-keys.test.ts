import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { bothApis, restApi } from '../../support/api.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp({ env: { REQUIRE_API_KEY_FOR_SIGN_UP: 'true' } })
const admin = await app.admin()
const user = await app.newUser()
const missing = 'key_01h455vb4pex5vsknk084sn02q'

let people = 0
describe.each(bothApis)('API keys over $name', (api) => {
  /** Sends a request that needs a valid API key. */
  const signUp = (key: string) => {
    people += 1
    const input = { username: `person${people}`, email: `person${people}@example.org`, password: PASSWORD }
    return api.signUp(app, input, { headers: { 'x-api-key': key } })
  }
  const issue = async (name = 'Partner') => (await api.issueApiKey(admin, { name })).ok()
  const newest = async () => (await api.listApiKeys(admin)).ok().nodes[0]

  it('API keys are available only to administrators', async () => {
    for (const [caller, code] of [
      [app, 'NOT_AUTHENTICATED'],
      [user, 'PERMISSION_DENIED'],
    ] as const) {
      ;(await api.issueApiKey(caller, { name: 'No' })).fails(code)
      ;(await api.listApiKeys(caller)).fails(code)
      ;(await api.revokeApiKey(caller, { id: missing })).fails(code)
    }
  })

  it('an API key is shown once, and listed without its secret', async () => {
    const { key, ...record } = await issue(' Shop ')
    expect(key).toMatch(/^[0-9a-f]{8}\.[\w-]{32}$/)
    expect(record).toEqual({
      ...{ id: expect.stringMatching(/^key_[0-9a-z]{26}$/), name: 'Shop', prefix: key.slice(0, 8) },
      ...{ createdAt: expect.any(String), revokedAt: null },
    })
    ;(await signUp(key)).ok()
    const list = await api.listApiKeys(admin)
    expect(list.ok().nodes[0]).toEqual(record)
    expect(list.text).not.toContain(key.slice(9))
  })

  it.each(['', ' ', 'x'.repeat(101), 'a\0b'])('an API key cannot have the name %j', async (name) => {
    expect(Object.keys((await api.issueApiKey(admin, { name })).fails('VALIDATION_FAILED'))).toEqual(['name'])
  })

  it('an API key is rejected immediately after it is revoked', async () => {
    const { id, key } = await issue()
    ;(await signUp(key)).ok()
    ;(await api.revokeApiKey(admin, { id })).ok()
    ;(await signUp(key)).fails('UNTRUSTED_CLIENT')
    const record = await newest()
    expect(record).toMatchObject({ id, revokedAt: expect.any(String) })
    ;(await api.revokeApiKey(admin, { id })).ok()
    expect(await newest()).toEqual(record)
  })

  it.each([missing, 'rubbish', randomUUID()])(
    'the revocation of an API key returns 404 for the unknown ID %s',
    async (id) => {
      ;(await api.revokeApiKey(admin, { id })).fails('NOT_FOUND')
    },
  )

  it('a retried creation returns the same API key, which is not stored in clear text', async () => {
    const options = { headers: { 'Idempotency-Key': randomUUID() } }
    const name = `Twice ${api.name}`
    const [first, again] = [
      await api.issueApiKey(admin, { name }, options),
      await api.issueApiKey(admin, { name }, options),
    ]
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
    expect(await app.sql('select from api_keys where name = $1', [name])).toHaveLength(1)
    const { key } = first.ok()
    const tables = ['api_keys', 'idempotency_keys']
    const rows = JSON.stringify(await Promise.all(tables.map((table) => app.sql(`select t::text from ${table} t`))))
    for (const clear of [key.slice(9), Buffer.from(key).toString('hex')]) expect(rows).not.toContain(clear)
    ;(await signUp(key)).ok()
  })
})

it.each(['', `${missing}/confirm/`])('REST checks the API key before it reads the body (%s)', async (path) => {
  const send = (key: string) =>
    user.rest('POST', `store/network-app-orders/${path}`, {
      headers: { 'x-api-key': key, 'Content-Type': 'application/json' },
      raw: '{bad',
    })
  for (const key of ['', 'bad']) expectError(await send(key), 'UNTRUSTED_CLIENT')
  expectError(await send((await restApi.issueApiKey(admin, { name: 'Good' })).ok().key), 'PARSE_ERROR')
})

it('GraphQL returns an API key as a node to administrators only', async () => {
  const { id } = (await restApi.issueApiKey(admin, { name: 'Node' })).ok()
  const document = 'query ($id: ID!) { node(id: $id) { ... on ApiKey { name } } }'
  expect(expectOk(await admin.graphql(document, { id })).node).toEqual({ name: 'Node' })
  expect(expectOk(await user.graphql(document, { id })).node).toBeNull()
})
