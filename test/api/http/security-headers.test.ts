import { expect, it } from 'vitest'
import { createHttpServer } from '../../../src/http/http-server.ts'
import { atEnd } from '../../support/at-end.ts'
import { send } from '../../support/http-client.ts'
import { talkRaw } from '../../support/raw-http.ts'
import { createTestApp } from '../../support/test-app.ts'
import { createTestLog } from '../../support/test-log.ts'

const app = await createTestApp()
const user = await app.newUser()
const asset = await user.register({ public_access: 'true' })

it.each([
  ['GET', '/', { Accept: 'text/html' }],
  ['GET', '/healthz', {}],
  ['GET', '/nothing/here', {}],
  ['GET', '/api/v3/auth/users/me/', {}],
  ['GET', `/api/v3/assets/${asset.id}/`, {}],
  ['OPTIONS', '/api/v3/assets/', {}],
  ['GET', `/ipfs/${asset.id}`, {}],
  ['GET', '/graphql?query={__typename}', { Accept: 'application/json' }],
  ['GET', '/graphql?query={nothing}', { Accept: 'application/json' }],
  ['POST', '/graphql', {}],
  ['OPTIONS', '/graphql', {}],
  ['GET', '/graphql', { Accept: 'text/html' }],
])('sends security headers with the response to %s %s', async (method, path, headers) => {
  const response = await fetch(app.url + path, { method, headers })
  await response.arrayBuffer()
  const reported = Object.fromEntries(response.headers)
  expect(reported).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'cross-origin',
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  for (const name of ['set-cookie', 'server', 'x-powered-by', 'strict-transport-security']) {
    expect(reported, name).not.toHaveProperty(name)
  }
  if (reported['content-type']?.includes('html'))
    expect(reported['content-security-policy']).toContain("default-src 'none'")
})

it.each([
  ['GET', { path: '?query={me{email}}' }],
  ['POST', { json: { query: '{ me { username } }' } }],
  ['POST of a cached document', { json: { query: '{ me { username } }' } }],
  ['invalid document', { path: '?query={nothing}' }],
])('marks the GraphQL response as private for caches: %s', async (_, asked) => {
  const headers = { Accept: 'application/json' }
  const answer = await send(`${app.url}/graphql`, { ...asked, headers, token: user.token })
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
})

it.each([
  ['a control character in a header', `GET /ipfs/${asset.id} HTTP/1.1\r\nHost: a\r\nX: \x07\r\n\r\n`, 400],
  ['headers that are too large', `GET /ipfs/${asset.id} HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
  ['an invalid host', `GET /ipfs/${asset.id} HTTP/1.1\r\nHost: a|b\r\n\r\n`, 400],
])('marks the error response to a malformed request as not cacheable: %s', async (_, text, status) => {
  const answer = await talkRaw({ url: app.url, pieces: [Buffer.from(text)], end: 'wait' })
  expect([answer.status, answer.head]).toEqual([status, expect.stringContaining('Cache-Control: no-store')])
})

it.each([
  ['https://annal.example', 'max-age=31536000'],
  ['http://annal.example', null],
])('for the public URL %s, sends the header Strict-Transport-Security: %s', async (publicUrl, expected) => {
  const server = createHttpServer({ log: createTestLog(), publicUrl })
  atEnd(() => server.drain(100))
  const response = await fetch(`http://127.0.0.1:${await server.listen(0, '127.0.0.1')}/`)
  await response.arrayBuffer()
  expect(response.headers.get('strict-transport-security')).toBe(expected)
})
