import { randomUUID } from 'node:crypto'
import { mkdirSync, utimesSync } from 'node:fs'
import { readdir, readlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { formType, part, partHead, registrationByGraphQL } from '../../support/form-parts.ts'
import { openRequest } from '../../support/http-client.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'
import { PASSWORD } from '../../support/user.ts'

const app = await createTestApp({
  env: { LIMITS: 'sign-up=1,sign-in=2,reset=1,verification=1', TRUSTED_PROXIES: '127.0.0.1' },
})
const user = await app.newUser()
const uploads = join(app.installation.config.dir, 'uploads')
const assets = `${app.url}/api/v3/assets/`
const signUp = `${app.url}/api/v3/auth/users/`
const graphql = `${app.url}/graphql`
const preflight = { 'GraphQL-Require-Preflight': 'true' }

/** Lists the files in the uploads folder and the descriptors that this process has open there. */
async function leftOfUploads() {
  const open = await Promise.all(
    (await readdir('/proc/self/fd').catch(() => [])).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  )
  return [...(await readdir(uploads).catch(() => [])), ...open.filter((path) => path.startsWith(uploads))]
}

const nothingLeft = () => eventually(leftOfUploads, (left) => left.length === 0)
const somethingHeld = () => eventually(leftOfUploads, (left) => left.length > 0)

let addresses = 0
const stranger = () => {
  addresses += 1
  return { 'X-Forwarded-For': `198.51.100.${addresses}` }
}

describe('aborted uploads', () => {
  it.each([
    ['in the middle of its file', partHead('asset_file', 'a.png') + 'x'.repeat(100_000), true],
    ['in the headers of its file part', partHead('asset_file', 'a.png').slice(0, -30), false],
    ['after its file', `${partHead('asset_file', 'a.png')}bytes\r\n${partHead('caption')}half a wo`, true],
  ])('an upload aborted %s leaves no file and no open file descriptor', async (_, body, isHeld) => {
    for (let i = 0; i < 20; i++) {
      const request = openRequest(assets, { token: user.token, headers: { 'Content-Type': formType } })
      request.write(body)
      if (isHeld) await somethingHeld()
      request.abort()
    }
    await nothingLeft()
  })

  it('an aborted GraphQL upload leaves no file or open descriptor, and its user can upload again', async () => {
    const headers = { 'Content-Type': formType, ...preflight }
    const requests = Array.from({ length: 10 }, () => openRequest(graphql, { token: user.token, headers }))
    for (const request of requests) request.write(registrationByGraphQL + partHead('0', 'a.png') + 'x'.repeat(100_000))
    await somethingHeld()
    for (const request of requests) request.abort()
    await nothingLeft()
    await user.register()
  })

  it('an aborted upload is not logged', async () => {
    const before = app.log.lines.length
    for (const [url, type, body] of [
      [assets, formType, `${part('caption', 'x')}${partHead('asset_file', 'a.png')}half`],
      [`${assets}baf`, 'application/json', '{"caption":'],
      [graphql, 'application/json', '{"query":'],
    ] as const) {
      const headers = { 'Content-Type': type, 'Content-Length': '5000' }
      const request = openRequest(url, { method: url.endsWith('baf') ? 'PATCH' : 'POST', token: user.token, headers })
      request.write(body)
      // When another caller gets a response, the server has accepted this connection.
      expectOk(await app.rest('GET', '/healthz'))
      request.abort()
    }
    await nothingLeft()
    expectOk(await app.rest('GET', '/healthz'))
    expect(app.log.lines.slice(before)).toEqual([])
  })

  it('the cleanup deletes the upload files of a terminated process', async () => {
    const folder = join(uploads, 'upload-of-long-ago')
    mkdirSync(folder, { recursive: true })
    await writeFile(join(folder, '0'), 'left behind')
    utimesSync(folder, 1, 1)
    await app.maintenance.deleteAbandonedUploads()
    await nothingLeft()
  })
})

describe('rejections before the request body is read', () => {
  const headOnly = (url: string, options: Parameters<typeof openRequest>[1] = {}) => {
    const type = { 'Content-Type': 'application/json', 'Content-Length': '100' }
    const request = openRequest(url, { ...options, headers: { ...type, ...options.headers } })
    return request.answer.finally(() => request.abort())
  }

  it('both APIs reject an invalid token before reading the request body', async () => {
    const token = 'f'.repeat(40)
    expectError(await headOnly(assets, { token }), 'AUTHENTICATION_FAILED')
    const headers = { 'Content-Type': formType, ...preflight }
    expectError(await headOnly(graphql, { token, headers }), 'AUTHENTICATION_FAILED')
  })

  it('rejects an anonymous caller before reading the body if the operation requires an account', async () => {
    expectError(await headOnly(assets), 'NOT_AUTHENTICATED')
  })

  it('rejects sign-ups over the rate limit before reading the request body', async () => {
    const headers = stranger()
    const json = { username: 'first', email: 'first@example.org', password: PASSWORD }
    expectOk(await app.rest('POST', 'auth/users/', { json, headers }))
    expectError(await headOnly(signUp, { headers }), 'THROTTLED')
  })

  it('rejects a sign-up with an invalid API key before reading the request body', async () => {
    expectError(await headOnly(signUp, { headers: { ...stranger(), 'x-api-key': 'wrong' } }), 'UNTRUSTED_CLIENT')
  })

  it.each(['reset_password', 'resend_activation'])(
    'rejects mail requests over the rate limit before reading the request body: %s',
    async (path) => {
      const headers = stranger()
      expectOk(await app.rest('POST', `auth/users/${path}/`, { json: { email: 'nobody@example.org' }, headers }))
      expectError(await headOnly(`${app.url}/auth/users/${path}/`, { headers }), 'THROTTLED')
    },
  )

  it('rejects a registration before reading the body if the balance is too low', async () => {
    const poor = await app.newUser({ points: '0.1' })
    const request = { token: poor.token, headers: { 'Content-Type': formType, 'Content-Length': '250000000' } }
    expectError(await headOnly(assets, request), 'ASSET_COMMIT_INSUFFICIENT_FUND')
    const headers = { ...request.headers, 'Idempotency-Key': randomUUID() }
    expectError(await headOnly(assets, { ...request, headers }), 'ASSET_COMMIT_INSUFFICIENT_FUND')
  })

  it.each([
    ['JSON', 'application/json', 1_000_001],
    ['a form without a file', formType, 1_200_000],
  ])('rejects %s with a Content-Length over the limit before reading the body', async (_, type, bytes) => {
    const headers = () => ({ ...stranger(), 'Content-Type': type, 'Content-Length': String(bytes) })
    expectError(await headOnly(signUp, { headers: headers() }), 'PAYLOAD_TOO_LARGE')
    if (type === 'application/json') {
      expect(expectError(await headOnly(graphql, { headers: headers() }), 'PAYLOAD_TOO_LARGE').status).toBe(413)
    }
  })

  it('rejects a form with a file and a Content-Length over the limit before reading the body', async () => {
    const headers = { 'Content-Type': formType, 'Content-Length': '260000000' }
    expectError(await headOnly(assets, { token: user.token, headers }), 'PAYLOAD_TOO_LARGE')
  })

  it('sends 100 Continue only if the server will read the request body', async () => {
    const headers = { Expect: '100-continue', 'Content-Type': 'application/json', 'Content-Length': '2' }
    const refused = openRequest(assets, { headers })
    expectError(await refused.answer, 'NOT_AUTHENTICATED')
    expect(refused.continued()).toBe(false)
    const read = openRequest(`${app.url}/auth/token/logout`, { token: (await app.newUser()).token, headers })
    await eventually(read.continued, Boolean)
    read.write('{}')
    read.end()
    expect((await read.answer).status).toBe(204)
  })
})

/** Returns the response to a client that sends everything before it reads, as most clients do. */
async function sendAllFirst(head: string, bytes: number) {
  const { hostname, port } = new URL(app.url)
  const socket = connect({ host: hostname, port: Number(port) }).pause()
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.write(`${head}Content-Length: ${bytes}\r\n\r\n`)
    socket.write(Buffer.alloc(bytes, 'x'), () => resolve())
  })
  return text(socket)
}

it.each([
  ['with Connection: close', 'POST', 'HTTP/1.1\r\nHost: x\r\nConnection: close', 413],
  ['with HTTP/1.0', 'POST', 'HTTP/1.0', 413],
  ['to a path that does not accept the method', 'PUT', 'HTTP/1.1\r\nHost: x\r\nConnection: close', 405],
  ['with Expect: 100-continue', 'POST', 'HTTP/1.1\r\nHost: x\r\nExpect: 100-continue', 413],
])(
  'a client that sends its whole body before reading gets the error response: request %s',
  async (_, method, rest, status) => {
    const address = stranger()['X-Forwarded-For']
    const head = `${method} /api/v3/auth/users/ ${rest}\r\nContent-Type: application/json\r\nX-Forwarded-For: ${address}\r\n`
    const answer = await sendAllFirst(head, 20_000_000)
    expect(answer).toContain(`HTTP/1.1 ${status} `)
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ status_code: status })
  },
)

describe('rejections while the request body is being read', () => {
  it('both APIs reject a body without Content-Length when it exceeds the limit', async () => {
    for (const [url, type] of [
      [signUp, 'application/json'],
      [signUp, formType],
      [graphql, 'application/json'],
    ] as const) {
      const request = openRequest(url, { headers: { ...stranger(), 'Content-Type': type } })
      request.write(type === formType ? partHead('username') : '{"a":"')
      request.write('x'.repeat(1_300_000))
      expectError(await request.answer, 'PAYLOAD_TOO_LARGE')
      request.abort()
    }
  })

  it('limits the total size of all form fields to 1 MB', async () => {
    const fields = Array.from({ length: 11 }, (_, i) => part(`f${i}`, 'x'.repeat(100_000))).join('')
    for (const [url, actor] of [
      [signUp, undefined],
      [assets, user],
    ] as const) {
      const request = openRequest(url, { token: actor?.token, headers: { ...stranger(), 'Content-Type': formType } })
      request.write(fields)
      expectError(await request.answer, 'PAYLOAD_TOO_LARGE')
      request.abort()
    }
    const { body } = expectError(
      await user.rest('PATCH', `assets/${(await user.register()).id}/`, {
        json: { signed_metadata: JSON.stringify('x'.repeat(600_000)), signature: JSON.stringify('x'.repeat(600_000)) },
      }),
      'PAYLOAD_TOO_LARGE',
    )
    expect(body.status_code).toBe(413)
  })

  it.each([
    ['POST', 'auth/users/'],
    ['POST', 'auth/token/login/'],
    ['POST', 'auth/users/reset_password/'],
    ['POST', 'auth/token/logout/'],
    ['PATCH', 'auth/users/me/'],
  ])('rejects a file without storing it if the endpoint accepts no file: %s %s', async (method, path) => {
    const actor = /users\/$|login|reset/.test(path) ? undefined : await app.newUser()
    const headers = { ...stranger(), 'Content-Type': formType }
    const request = openRequest(`${app.url}/api/v3/${path}`, { method, token: actor?.token, headers })
    request.write(partHead('a_file', 'a.png') + 'x'.repeat(100_000))
    const { body } = expectError(await request.answer, 'VALIDATION_FAILED')
    expect(body.error.details).toEqual({ a_file: [expect.any(String)] })
    expect(await leftOfUploads()).toEqual([])
    request.abort()
  })

  it('does not store files in form fields that expect no file', async () => {
    const record = (await user.rest('POST', 'assets/', { multipart: { other: newFile(), asset_file: newFile() } })).body
    expect(record.asset_file_name).toBe('photo.png')
    await nothingLeft()
  })
})

describe('bodies of GraphQL requests', () => {
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }

  it.each(['null', '1', '"text"', 'true'])(
    'the GraphQL endpoint rejects the body %s because it is not an object',
    async (raw) => {
      expect(expectError(await app.rest('POST', '/graphql', { raw, headers }), 'PARSE_ERROR').status).toBe(400)
    },
  )

  it('the GraphQL endpoint rejects an anonymous upload before it stores any data', async () => {
    const request = openRequest(graphql, { headers: { ...stranger(), ...preflight, 'Content-Type': formType } })
    request.write(registrationByGraphQL + partHead('0', 'a.png') + 'x'.repeat(1_000_000))
    expectError(await request.answer, 'NOT_AUTHENTICATED')
    expect(await leftOfUploads()).toEqual([])
    request.abort()
  })

  it('the GraphQL endpoint rejects an upload that the user cannot pay for before it stores any data', async () => {
    const actor = await app.newUser({ points: '0.1' })
    const headers = { ...preflight, 'Content-Type': formType, 'Idempotency-Key': randomUUID() }
    const request = openRequest(graphql, { token: actor.token, headers })
    request.write(registrationByGraphQL + partHead('0', 'a.png') + 'x'.repeat(1_000_000))
    expectError(await request.answer, 'ASSET_COMMIT_INSUFFICIENT_FUND')
    expect(await leftOfUploads()).toEqual([])
    request.abort()
  })
})

describe('invalid HTTP', () => {
  const send = async (bytes: string) => {
    const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1' })
    socket.write(bytes)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) }
  }

  it.each([
    ['an invalid request line', 'NONSENSE\r\n\r\n', 400, 'parse_error'],
    ['an unknown method', 'BREW /api/v3/assets/ HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'parse_error'],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    [
      'two Content-Length headers',
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'parse_error',
    ],
    [
      'chunk extensions that are too large',
      `POST /auth/token/login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\n`,
      413,
      'payload_too_large',
    ],
    ['a missing Host header', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'parse_error'],
  ])('rejects invalid HTTP such as %s with the standard error body', async (_, bytes, status, type) => {
    const answer = await send(bytes)
    expect({ ...answer, head: undefined }).toEqual({
      status,
      head: undefined,
      body: { error: { type, message: expect.any(String) }, status_code: status, detail: expect.any(String) },
    })
    expect(answer.body.detail).toBe(answer.body.error.message)
    expect(answer.head).toContain('Content-Type: application/json')
    expect(answer.head).toContain('X-Content-Type-Options: nosniff')
  })

  it.each([
    ['a body without a Content-Length', '{}'],
    [
      'a request with invalid chunks',
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\n',
    ],
  ])('rejects invalid HTTP after the responses to earlier requests: %s', async (_, rest) => {
    const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: token ${(await app.newUser()).token}\r\n\r\n`
    const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1' })
    socket.write(`GET /api/v3/auth/users/me/ ${head}POST /api/v3/auth/token/logout/ ${head}${rest}`)
    const answers = [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)]
    expect(answers.map(([, status]) => status)).toEqual(['200', '204', '400'])
  })
})
