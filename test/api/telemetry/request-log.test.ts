import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createHttpServer } from '../../../src/http/http-server.ts'
import { createRequestTelemetry } from '../../../src/telemetry/telemetry.ts'
import { atEnd } from '../../support/at-end.ts'
import { readEvents } from '../../support/event-stream.ts'
import { poll } from '../../support/eventually.ts'
import { send } from '../../support/http-client.ts'
import { callRaw, talkRaw } from '../../support/raw-http.ts'
import { createTestApp } from '../../support/test-app.ts'
import { createTestLog, type TestLog } from '../../support/test-log.ts'

const app = await createTestApp()
const user = await app.newUser()
const asset = await user.register({ public_access: 'true' })
const ADA = { username: 'ada', email: 'ada@example.org', password: 'correct horse' }

async function lineOf(requestId: string | null, { requests }: TestLog = app.log) {
  expect(requestId).toBeTruthy()
  const found = await poll(() => requests.filter((line) => line.requestId === requestId)).until(
    (lines) => lines.length > 0,
  )
  expect(found).toHaveLength(1)
  return found[0]!
}

const lineFor = async (message: Parameters<typeof send>[1], url = app.url, log: TestLog = app.log) =>
  lineOf((await send(url, message)).headers.get('x-request-id'), log)

const graphql = (query: string, more: object = {}) => ({ path: '/graphql', json: { query, ...more } })

describe('log lines of requests', () => {
  it.each([
    ['a REST request', { path: '/api/v3/auth/users/me/' }, { route: '/api/v3/auth/users/me', status: 200 }],
    ['a REST request without /api/v3', { path: '/auth/users/me/' }, { route: '/api/v3/auth/users/me', status: 200 }],
    ['a request for an asset', { path: `/api/v3/assets/${asset.id}/` }, { route: '/api/v3/assets/:nid', status: 200 }],
    [
      'a rejected REST request',
      { path: `/api/v3/assets/${asset.id}/`, method: 'PATCH', json: { nit_commit_custom: 'x' } },
      { method: 'PATCH', route: '/api/v3/assets/:nid', status: 400, code: 'VALIDATION_FAILED' },
    ],
    ['a request for a file', { path: `/ipfs/${asset.id}` }, { route: '/ipfs/:cid', status: 200 }],
    ['a page', { path: `/assets/${asset.id}`, headers: { Accept: 'text/html' } }, { status: 200 }],
    [
      'an unknown path',
      { path: '/api/v3/nothing/' },
      { route: 'other', status: 404, code: 'NOT_FOUND', user: undefined },
    ],
    [
      'a GraphQL query',
      graphql('query Mine { me { username } }'),
      { method: 'POST', route: '/graphql', operation: 'query me', operationName: 'Mine', status: 200 },
    ],
    [
      'a cached GraphQL query',
      graphql('query Mine { me { username } }'),
      { route: '/graphql', operation: 'query me', operationName: 'Mine', status: 200 },
    ],
    [
      'a GraphQL error',
      graphql('mutation Update { updateAssetMetadata(input: { id: "baf", caption: "x" }) { asset { id } } }'),
      { operation: 'mutation updateAssetMetadata', operationName: 'Update', status: 200, code: 'NOT_FOUND' },
    ],
    [
      'an invalid GraphQL document',
      graphql('query Mine { nothing }'),
      { operation: 'other', status: 200, code: 'VALIDATION_FAILED' },
    ],
    [
      'a body that is too large',
      { path: '/api/v3/auth/users/', json: { ...ADA, more: 'x'.repeat(1_000_001) } },
      { method: 'POST', route: '/api/v3/auth/users', status: 413, code: 'PAYLOAD_TOO_LARGE' },
    ],
  ])('the log line of a request describes %s', async (_, message, expected) => {
    const line = await lineFor({ ...message, token: user.token })
    const method = 'json' in message ? 'POST' : 'GET'
    expect(line).toMatchObject({ method, user: user.publicId, durationMs: expect.any(Number), ...expected })
  })

  it('the log line of a request contains the route pattern, and no secrets of the request', async () => {
    const secret = 'c0ffee-c0ffee-c0ffee'
    const lines = [
      await lineFor({ path: `/account/password-reset/${secret}/${secret}?next=${secret}` }),
      await lineFor({
        path: `/api/v3/auth/token/login/?q=${secret}`,
        json: { email: `${secret}@a.org`, password: secret },
      }),
      await lineFor({ path: `/api/v3/assets/?caption=${secret}`, headers: { Authorization: `token ${secret}` } }),
      await lineFor({ path: `/api/v3/${secret}/`, headers: { Cookie: secret, 'X-Api-Key': secret } }),
      await lineFor(graphql(`{ asset(id: "${secret}") { id } }`, { variables: { password: secret } })),
    ]
    expect(lines[0]).toMatchObject({ route: '/account/password-reset/:uid/:token', status: 410 })
    expect(JSON.stringify(lines)).not.toContain(secret)
  })

  it.each([
    ['a REST stream', '/api/v3/events/stream/', undefined, { route: '/api/v3/events/stream' }],
    [
      'a GraphQL subscription',
      '/graphql',
      { query: `subscription S { commitUpdated(nid: "${asset.id}") { id } }` },
      { operationName: 'S' },
    ],
  ])('the log line of %s is written when the stream ends', async (_, path, body, expected) => {
    const stream = await readEvents(app.url + path, { actor: user, ...(body && { body }) })
    const requestId = stream.headers.get('x-request-id')
    expect(app.log.requests.filter((line) => line.requestId === requestId)).toEqual([])
    stream.close()
    expect(await lineOf(requestId)).toMatchObject({ status: 200, user: user.publicId, ...expected })
  })

  it('log level `info` omits the log lines of health and metrics probes', async () => {
    for (const path of ['/healthz', '/readyz']) await send(app.url, { path })
    expect((await lineFor({ path: '/version' })).route).toBe('/version')
    expect(app.log.requests.filter(({ route }) => /healthz|readyz|metrics/.test(String(route)))).toEqual([])
  })
})

describe('request IDs', () => {
  it.each(['0cc6ad03-8233-4544-9498-146DB8D409B1'])('uses the request ID of the caller: %s', async (id) => {
    const answer = await send(app.url, { path: '/version', headers: { 'X-Request-Id': id } })
    expect(answer.headers.get('x-request-id')).toBe(id)
    expect(await lineOf(id)).toMatchObject({ route: '/version' })
  })

  it.each(['', 'request-1', 'correct horse', '<script>', 'f'.repeat(64), 'é', `${'0cc6ad03'.repeat(4)},a`])(
    'replaces an unsafe request ID of the caller: %s',
    async (id) => {
      const answer = await send(app.url, { path: '/version', headers: { 'X-Request-Id': id } })
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    },
  )

  it('the log line of an internal error contains the request ID', async () => {
    await app.sql('alter table assets rename column caption to hidden')
    const answer = await send(app.url, { ...graphql(`{ asset(id: "${asset.id}") { caption } }`), token: user.token })
    await app.sql('alter table assets rename column hidden to caption')
    const requestId = answer.headers.get('x-request-id')
    expect(answer.body.errors[0].extensions.code).toBe('INTERNAL')
    const found = app.log.lines.splice(0).filter(({ level }) => level === 'error')
    expect(found).toMatchObject([{ message: 'Request failed: unexpected error', fields: { requestId } }])
  })
})

describe('requests rejected by the HTTP server', () => {
  const idIn = (head: string) => /^x-request-id: (.*)$/im.exec(head)?.[1]?.trim() ?? null

  it.each([
    ['malformed HTTP', 'NONSENSE\r\n\r\n', 400, 'PARSE_ERROR'],
    ['an invalid header', 'GET / HTTP/1.1\r\nHost: a\r\nX: \x07\r\n\r\n', 400, 'PARSE_ERROR'],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['an invalid host', 'GET / HTTP/1.1\r\nHost: a|b\r\n\r\n', 400, 'PARSE_ERROR'],
  ])('a request rejected by the HTTP server has a log line with its request ID: %s', async (_, text, status, code) => {
    const answer = await talkRaw({ url: app.url, pieces: [Buffer.from(text)], end: 'wait' })
    expect(answer.status).toBe(status)
    expect(await lineOf(idIn(answer.head))).toMatchObject({ status, code })
  })

  async function startServer() {
    const log = createTestLog()
    const telemetry = createRequestTelemetry().follow(log)
    const server = createHttpServer({ log, telemetry, timeouts: { request: 200, headers: 100, checkEvery: 20 } })
    atEnd(() => server.drain(100))
    return { server, log, url: `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}` }
  }

  it('a request during start-up has a log line with its request ID', async () => {
    const { log, url } = await startServer()
    const line = await lineFor({ path: '/api/v3/assets/' }, url, log)
    expect(line).toMatchObject({ method: 'GET', status: 503, code: 'UNAVAILABLE' })
  })

  it('a request whose headers time out has a log line with its request ID', async () => {
    const { log, url } = await startServer()
    const answer = await talkRaw({ url, pieces: [Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n')], end: 'wait' })
    expect(answer.status).toBe(408)
    expect(await lineOf(idIn(answer.head), log)).toMatchObject({ status: 408, code: 'REQUEST_TIMEOUT' })
  })

  it('a request whose body times out has a log line with its request ID', async () => {
    const { server, log, url } = await startServer()
    await server.serve((app) => app.post('/reads', () => new Promise<void>(() => {})))
    const requestId = randomUUID()
    const answer = await callRaw({
      url,
      method: 'POST',
      path: '/reads',
      headers: { 'Content-Length': 10, 'X-Request-Id': requestId },
      pieces: [Buffer.from('12')],
      end: 'wait',
    })
    expect([answer.status, idIn(answer.head)]).toEqual([408, requestId])
    expect(await lineOf(requestId, log)).toMatchObject({ method: 'POST', status: 408, code: 'REQUEST_TIMEOUT' })
  })
})
