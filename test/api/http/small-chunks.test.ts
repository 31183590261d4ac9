import { describe, expect, it } from 'vitest'
import { BOUNDARY, formEnd, formType, part, partHead } from '../../support/form-parts.ts'
import { send } from '../../support/http-client.ts'
import { callRaw, chunk } from '../../support/raw-http.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp({ env: { LIMITS: 'sign-in=1000000' } })
const user = await app.newUser()
const signIn = '/api/v3/auth/token/login/'
const json = { 'Content-Type': 'application/json' }
const form = { 'Content-Type': formType, 'GraphQL-Require-Preflight': '1' }
const file = partHead('file', 'a.png')

/** Endpoints open to anonymous callers, with the start of a body that can be extended with any number of letters. */
const doors: [string, string, Record<string, string>, string][] = [
  ['JSON over REST', signIn, json, '{"email":"'],
  ['JSON over GraphQL', '/graphql', json, '{"query":"#'],
  ['form field', signIn, form, partHead('email')],
  ['form file', signIn, form, file],
  ['headers of a form part', signIn, form, file.slice(0, -20)],
  ['document in a GraphQL upload', '/graphql', form, partHead('operations')],
]

function* inChunks(bytes: number, each: number, atOnce = 4_000) {
  const one = chunk(Buffer.alloc(each, 'x'))
  const many = Buffer.concat(Array.from({ length: atOnce }, () => one))
  for (let sent = 0; sent < bytes; sent += each * atOnce) yield many
}

function* after(begin: string, pieces: Iterable<Buffer>) {
  yield chunk(Buffer.from(begin))
  yield* pieces
}

const callInChunks = (path: string, headers: Record<string, string>, begin: string, pieces: Iterable<Buffer>) =>
  callRaw({
    ...{ url: app.url, method: 'POST', path, end: 'wait' },
    headers: { ...headers, 'Transfer-Encoding': 'chunked' },
    pieces: after(begin, pieces),
  })

describe('bodies in thousands of one-byte chunks', () => {
  it.each(doors)(
    'rejects a body in thousands of one-byte chunks with an explanation: %s',
    async (_, path, headers, begin) => {
      const answer = await callInChunks(path, headers, begin, inChunks(40_000, 1))
      expect([answer.status, answer.body]).toEqual([
        413,
        expect.stringContaining('The body arrived in too many small chunks.'),
      ])
    },
  )

  it('rejects an HTML form in thousands of one-byte chunks with an HTML page', async () => {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const answer = await callInChunks('/account/password-reset/1/2', type, 'a=', inChunks(8_000, 1))
    expect([answer.status, answer.head]).toEqual([413, expect.stringContaining('text/html')])
  })
})

it('reads a form with a file identically in chunks of any size', async () => {
  const bytes = Buffer.from(`a file${'\r\n--'.repeat(300)}${BOUNDARY.slice(1)} of ${performance.timeOrigin}`)
  const body = Buffer.concat([
    Buffer.from(part('caption', 'dusk') + partHead('asset_file', 'a.png')),
    bytes,
    Buffer.from(formEnd),
  ])
  const pieces: Buffer[] = []
  for (let at = 0, length = 1; at < body.length; at += length, length = (length % 13) + 1) {
    pieces.push(chunk(body.subarray(at, at + length)))
  }
  const headers = {
    ...{ authorization: `token ${user.token}`, 'Content-Type': formType, 'Transfer-Encoding': 'chunked' },
  }
  const answer = await callRaw({
    ...{ url: app.url, method: 'POST', path: '/api/v3/assets/', headers, end: 'wait' },
    pieces: [...pieces, Buffer.from('0\r\n\r\n')],
  })
  const asset = JSON.parse(answer.body)
  expect([answer.status, asset.caption]).toEqual([201, 'dusk'])
  const { cid } = (await user.rest('GET', `assets/${asset.id}/`)).body
  expect((await send(`${app.url}/ipfs/${cid ?? asset.cid}`, { token: user.token })).bytes.equals(bytes)).toBe(true)
})

it('rejects a URL-encoded form with too many fields, even empty fields', async () => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  for (const each of ['a', 'a=', '', 'a=b']) {
    const refused = await send(app.url + signIn, { headers, raw: Array(200_000).fill(each).join('&') })
    expect([refused.status, refused.text]).toEqual([413, expect.stringContaining('The body has more than 100 fields.')])
    const fields = ['email=a%40example.org', ...Array(98).fill(each), 'password=x']
    const taken = await send(app.url + signIn, { headers, raw: fields.join('&') })
    expect([taken.status, taken.body.error.type]).toEqual([400, 'incorrect_login_credentials'])
  }
})

it.each([
  ['no headers', `--${BOUNDARY}\r\n`],
  ['no name', `--${BOUNDARY}\r\n\r\nx\r\n`],
])('rejects a form of many parts with %s', async (_, each) => {
  for (const path of [signIn, '/graphql']) {
    const answer = await send(app.url + path, { headers: form, raw: `${each.repeat(200)}--${BOUNDARY}--\r\n` })
    expect([answer.status, answer.text]).toEqual([413, expect.stringContaining('The body has more than 110 parts.')])
  }
})
