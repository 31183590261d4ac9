import { serverAudits } from 'graphql-http'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { send } from '../../support/http-client.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()

/** Returns the LISTEN connections. There are some only while a client is subscribed. */
const looks = () =>
  app.sql(`select pid from pg_stat_activity where application_name = 'annal-events' and datname = current_database()`)

describe('GraphQL endpoint', () => {
  it.each(
    serverAudits({ url: `${app.url}/graphql`, fetchFn: fetch }).map(
      (audit) => [audit.id, audit.name, audit.fn] as const,
    ),
  )('the GraphQL endpoint passes the audit %s %s', async (_id, _name, audit) => {
    const result = await audit()
    const reported =
      'response' in result ? `${result.response.status} ${await result.response.text().catch(() => '')}` : ''
    expect(result.status, `${'reason' in result ? result.reason : ''} ${reported}`).toBe('ok')
  })

  it('the GraphQL endpoint ignores unknown request parameters, like REST', async () => {
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }
    const params = { query: '{ __typename }', operationType: 'query', id: '1', batch: [1] }
    const posted = await fetch(`${app.url}/graphql`, { method: 'POST', headers, body: JSON.stringify(params) })
    expect(await posted.json()).toEqual({ data: { __typename: 'Query' } })
    const got = await fetch(`${app.url}/graphql?query={__typename}&operationType=query`, { headers })
    expect(await got.json()).toEqual({ data: { __typename: 'Query' } })
  })

  it("the GraphQL endpoint treats an empty list (PHP's empty map) and an empty string as an omitted parameter", async () => {
    const json = { 'Content-Type': 'application/json', Accept: 'application/json' }
    // The second request uses the cached document.
    for (const _time of [1, 2]) {
      for (const nothing of [[], '']) {
        const params = { query: '{ me { id } }', variables: nothing, operationName: '', extensions: nothing }
        const init = { method: 'POST', headers: { ...json, Authorization: `token ${user.token}` } }
        const posted = await fetch(`${app.url}/graphql`, { ...init, body: JSON.stringify(params) })
        expect(await posted.json()).toEqual({ data: { me: { id: user.publicId } } })
      }
    }
    const got = await fetch(`${app.url}/graphql?query={__typename}&variables=[]&operationName=`, { headers: json })
    expect(await got.json()).toEqual({ data: { __typename: 'Query' } })
    const listed = { query: '{ __typename }', variables: [1] }
    const refused = await fetch(`${app.url}/graphql`, { method: 'POST', headers: json, body: JSON.stringify(listed) })
    expect(refused.status).toBe(400)
  })

  it('the GraphQL endpoint rejects a mutation by GET', async () => {
    const response = await fetch(`${app.url}/graphql?query=${encodeURIComponent('mutation { signOut }')}`, {
      headers: { Authorization: `token ${user.token}` },
    })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await response.json()).errors[0].extensions.code).toBe('METHOD_NOT_ALLOWED')
    expectOk(await user.graphql('{ me { id } }'))
  })

  it.each(['PUT', 'DELETE', 'PATCH'])(
    'the GraphQL endpoint rejects the method %s with a documented error code',
    async (method) => {
      const response = await fetch(`${app.url}/graphql`, { method, headers: { Accept: 'application/json' } })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST'])
      expect((await response.json()).errors[0].extensions).toEqual({ code: 'METHOD_NOT_ALLOWED' })
    },
  )

  it.each([
    ['application/json', 'Accept: text/event-stream'],
    ['multipart/mixed; deferSpec=20220824', 'Accept: text/event-stream'],
    ['text/html', 'text/event-stream'],
    ['*/*;q=0', 'text/event-stream'],
    ['application/json, text/event-stream; q=0.000', 'Accept: text/event-stream'],
  ])('rejects a subscription if the client accepts only %s, and names the required media type', async (type, hint) => {
    const before = await looks()
    const answer = await user.graphql(
      'subscription { commitUpdated(nid: "x") { id } }',
      {},
      { headers: { Accept: type } },
    )
    expect([answer.status, answer.headers.get('content-type')]).toEqual([406, 'application/json; charset=utf-8'])
    expectError(answer, 'NOT_ACCEPTABLE')
    expect(answer.body.errors[0].message).toContain(hint)
    expect(answer.text).not.toContain('"http"')
    expect(await looks()).toEqual(before)
  })

  it('does not execute a GraphQL operation if the client accepts no supported media type', async () => {
    const answer = await user.graphql('mutation { signOut }', {}, { headers: { Accept: 'image/png' } })
    expect(answer.status).toBe(406)
    expectError(answer, 'NOT_ACCEPTABLE')
    expectOk(await user.graphql('{ me { id } }', {}, { headers: { Accept: 'text/html, */*;q=0.1' } }))
  })

  it('the GraphQL endpoint rejects @defer, @stream and clients that accept only multipart/mixed', async () => {
    for (const document of [
      '{ me { id ... @defer { email } } }',
      '{ me { id ...Rest @defer(label: "rest") } } fragment Rest on User { email }',
      '{ assets { nodes @stream(initialCount: 1) { id } } }',
    ]) {
      const { body } = expectError(await user.graphql(document), 'VALIDATION_FAILED')
      expect(body.errors).toHaveLength(1)
      expect(body.errors[0].message).toMatch(/^Unknown directive "@(defer|stream)"/)
    }
    const parts = await user.graphql('{ me { id } }', {}, { headers: { Accept: 'multipart/mixed' } })
    expect(parts.status).toBe(406)
    expect(expectError(parts, 'NOT_ACCEPTABLE').body.errors[0].message).toContain('Send `Accept: application/json`')
    const Accept = 'multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json;q=0.9'
    const whole = await user.graphql('{ me { id } }', {}, { headers: { Accept } })
    expect(whole.headers.get('content-type')).toMatch(/^application\/graphql-response\+json/)
    expectOk(whole)
  })

  it('the GraphQL endpoint rejects a batch with an explanation, as JSON and as a form', async () => {
    const batch = [{ query: '{ me { id } }' }, { query: '{ me { id } }' }]
    const form = { operations: JSON.stringify(batch), map: '{}' }
    for (const message of [{ json: batch }, { multipart: form, headers: { 'GraphQL-Require-Preflight': '1' } }]) {
      const answer = expectError(await send(`${app.url}/graphql`, message), 'VALIDATION_FAILED')
      expect([answer.status, answer.body.errors[0].message]).toEqual([400, expect.stringMatching(/^Batches are not/)])
    }
  })

  it.each(['/graphql', '/api/v3/assets/', '/ipfs/bafkqaaa'])(
    'the GraphQL endpoint lets browsers cache the preflight of %s',
    async (path) => {
      const headers = {
        Origin: 'https://somewhere.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization',
      }
      const preflight = await fetch(app.url + path, { method: 'OPTIONS', headers })
      expect([preflight.status, preflight.headers.get('access-control-max-age')]).toEqual([204, '86400'])
      const query = { method: 'POST', headers: { 'Content-Type': 'application/json', Origin: headers.Origin } }
      const answer = await fetch(`${app.url}/graphql`, { ...query, body: '{"query":"{ __typename }"}' })
      expect(answer.headers.get('access-control-max-age')).toBeNull()
    },
  )

  it('serves the GraphQL playground to browsers, without external resources', async () => {
    const response = await fetch(`${app.url}/graphql`, { headers: { Accept: 'text/html' } })
    const page = await response.text()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
    const policy = response.headers.get('content-security-policy')
    expect(policy).toMatch(/script-src 'sha256-[\w+/=]+' 'unsafe-eval'; /)
    expect(policy).toContain("connect-src 'self'; ")
    expect([...page.matchAll(/<(?:script|link)[^>]+(?:src|href)="(https?:)?\/\/[^"]+"/g)].map(([tag]) => tag)).toEqual(
      [],
    )
  })
})

describe('GraphQL errors', () => {
  it.each([
    ['{', 'PARSE_ERROR'],
    ['{ nothing }', 'VALIDATION_FAILED'],
    ['query ($id: ID!) { asset(id: $id) { id } }', 'VALIDATION_FAILED'],
    ['{ assets(first: "x") { totalCount } }', 'VALIDATION_FAILED'],
  ] as const)('the GraphQL error for the document %s has the code %s', async (document, code) => {
    expectError(await app.graphql(document), code)
  })

  it('an unexpected GraphQL error exposes no internals, and is logged with its request', async () => {
    const broken = await app.newUser()
    const { id } = await broken.register()
    // Corrupts the row, so that reading it fails.
    await app.sql(`update assets set head_commit_id = '00000000-0000-0000-0000-000000000000' where nid = $1`, [id])
    await app.sql('alter table commits rename to hidden_commits')
    try {
      for (const answer of [
        await broken.graphql(`{ asset(id: "${id}") { history { id } } }`),
        await broken.rest('GET', `assets/${id}/history/`),
      ]) {
        expectError(answer, 'INTERNAL')
        expect(answer.text).not.toMatch(/commits|relation|select|prisma|node_modules|\.ts/i)
        expect(answer.headers.get('x-request-id')).toBeTruthy()
      }
    } finally {
      await app.sql('alter table hidden_commits rename to commits')
      await app.sql(`update assets a set head_commit_id = c.id from commits c where c.asset_id = a.id and a.nid = $1`, [
        id,
      ])
    }
    expect(app.log.lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual(
      Array(2).fill('Request failed: unexpected error'),
    )
  })
})
