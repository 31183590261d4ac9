import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../support/expect-error.ts'
import { createTestApp } from '../support/test-app.ts'
import { PASSWORD } from '../support/user.ts'

const app = await createTestApp({ env: { REQUIRE_API_KEY_FOR_SIGN_UP: 'true' } })
const admin = await app.admin()
const user = await app.newUser()

const KEY = /^[0-9a-f]{8}\.[\w-]{32}$/
const missing = 'key_01h455vb4pex5vsknk084sn02q'
const issue = (name: string, headers = {}) => admin.rest('POST', 'store/api-keys/', { json: { name }, headers })
const issued = async (name = 'Partner') => {
  const answer = await issue(name)
  expect(answer.status, answer.text).toBe(201)
  return answer.body
}

let people = 0
const signUp = (key: string) => {
  people += 1
  const json = { username: `person${people}`, email: `person${people}@example.org`, password: PASSWORD }
  return app.rest('POST', 'auth/users/', { json, headers: { 'x-api-key': key } })
}

const ISSUE =
  'mutation ($input: IssueApiKeyInput!) { issueApiKey(input: $input) { key apiKey { id name prefix createdAt revokedAt } } }'
const REVOKE = 'mutation ($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { apiKey { id revokedAt } } }'
const LIST = '{ apiKeys(first: 2) { totalCount nodes { id name } pageInfo { hasNextPage } } }'

describe('API keys', () => {
  it.each([
    ['POST', 'store/api-keys/'],
    ['GET', 'store/api-keys/'],
    ['DELETE', `store/api-keys/${missing}/`],
  ])('are for administrators: %s %s', async (method, path) => {
    expectError(await app.rest(method, path), 'NOT_AUTHENTICATED')
    expectError(await user.rest(method, path), 'PERMISSION_DENIED')
  })

  it.each([
    [ISSUE, { input: { name: 'No' } }],
    [REVOKE, { input: { id: missing } }],
    [LIST, {}],
  ])('are for administrators: %s', async (document, variables) => {
    expectError(await app.graphql(document, variables), 'NOT_AUTHENTICATED')
    expectError(await user.graphql(document, variables), 'PERMISSION_DENIED')
  })

  it.each(['', `${missing}/confirm/`])('are judged before a body is read (%s)', async (path) => {
    const send = (key: string) =>
      user.rest('POST', `store/network-app-orders/${path}`, {
        headers: { 'x-api-key': key, 'Content-Type': 'application/json' },
        raw: '{bad',
      })
    for (const key of ['', 'bad']) expectError(await send(key), 'UNTRUSTED_CLIENT')
    expectError(await send((await issued('Good')).key), 'PARSE_ERROR')
  })

  it('are issued, work, and are listed without their secret', async () => {
    const { key, ...record } = await issued('Shop')
    expect(key).toMatch(KEY)
    expect(record).toEqual({
      id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      name: 'Shop',
      prefix: key.slice(0, 8),
      created_at: expect.any(String),
      revoked_at: null,
    })
    expect((await signUp(key)).status).toBe(201)
    const list = await admin.rest('GET', 'store/api-keys/?limit=1')
    expect(expectOk(list).results).toEqual([record])
    expect(list.text).not.toContain(key.slice(9))
  })

  it.each(['', ' ', 'x'.repeat(101), 'a\0b'])('need a name other than %j', async (name) => {
    const answer = expectError(await issue(name), 'VALIDATION_FAILED')
    expect(Object.keys(answer.body.error.details)).toEqual(['name'])
  })

  it('are not trusted from the next request on once they are revoked', async () => {
    const { id, key } = await issued()
    expect((await signUp(key)).status).toBe(201)
    expect(await admin.rest('DELETE', `store/api-keys/${id}/`)).toMatchObject({ status: 204, text: '' })
    expectError(await signUp(key), 'UNTRUSTED_CLIENT')
    const [record] = expectOk(await admin.rest('GET', 'store/api-keys/?limit=1')).results
    expect(record).toMatchObject({ id, revoked_at: expect.any(String) })
    expect((await admin.rest('DELETE', `store/api-keys/${id}/`)).status).toBe(204)
    expect(expectOk(await admin.rest('GET', 'store/api-keys/?limit=1')).results[0]).toEqual(record)
  })

  it.each([missing, 'rubbish', randomUUID()])('that are unknown cannot be revoked: %s', async (id) => {
    expectError(await admin.rest('DELETE', `store/api-keys/${id}/`), 'NOT_FOUND')
  })

  it('are the same for a retry, and no secret is kept', async () => {
    const headers = { 'Idempotency-Key': randomUUID() }
    const [first, again] = [await issue('Twice', headers), await issue('Twice', headers)]
    expect([again.status, again.text]).toEqual([201, first.text])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const { count } = (
      await app.sql<{ count: number }>(`select count(*)::int as count from api_keys where name = 'Twice'`)
    )[0]!
    expect(count).toBe(1)
    const rows = [
      ...(await app.sql('select k::text as row from api_keys k')),
      ...(await app.sql('select k::text as row from idempotency_keys k')),
    ]
    const secret = first.body.key.slice(9)
    for (const clear of [secret, Buffer.from(first.body.key).toString('hex')]) {
      expect(JSON.stringify(rows)).not.toContain(clear)
    }
    expect((await signUp(again.body.key)).status).toBe(201)
  })

  it('are issued, listed and revoked by GraphQL', async () => {
    const { key, apiKey } = expectOk(await admin.graphql(ISSUE, { input: { name: ' Graph ' } })).issueApiKey
    expect(key).toMatch(KEY)
    expect(apiKey).toMatchObject({ name: 'Graph', prefix: key.slice(0, 8), revokedAt: null })
    await issued('Newer')
    const { apiKeys } = expectOk(await admin.graphql(LIST))
    expect(apiKeys.nodes).toMatchObject([{ name: 'Newer' }, { id: apiKey.id, name: 'Graph' }])
    expect(apiKeys.pageInfo.hasNextPage).toBe(true)
    const { revokeApiKey } = expectOk(await admin.graphql(REVOKE, { input: { id: apiKey.id } }))
    expect(revokeApiKey.apiKey).toEqual({ id: apiKey.id, revokedAt: expect.any(String) })
    expectError(await signUp(key), 'UNTRUSTED_CLIENT')
    expectError(await admin.graphql(REVOKE, { input: { id: missing } }), 'NOT_FOUND')
  })

  it('are found as nodes by administrators only', async () => {
    const { id } = await issued('Node')
    const document = 'query ($id: ID!) { node(id: $id) { ... on ApiKey { name } } }'
    expect(expectOk(await admin.graphql(document, { id })).node).toEqual({ name: 'Node' })
    expect(expectOk(await user.graphql(document, { id })).node).toBeNull()
  })
})
