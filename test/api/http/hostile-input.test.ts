/** Invalid input that clients send by accident. Both APIs reject it by field, without a change or charge. */
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { send } from '../../support/http-client.ts'
import { talkRaw } from '../../support/raw-http.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const asset = await user.register({ caption: 'Original' })
const path = `assets/${asset.id}/`

const update =
  'mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { caption nitCommitCustom } } }'
const json = { 'Content-Type': 'application/json' }
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

async function refusedByBoth(raw: string, graphqlRaw: string, field: string, reported: RegExp) {
  const before = [await app.commitCount(asset.id), await app.wallet(user)]
  const rest = expectError(await user.rest('PATCH', path, { raw: `{${raw}}`, headers: json }), 'VALIDATION_FAILED')
  expect(rest.body.error.details).toEqual({ [field]: [expect.stringMatching(reported)] })
  expect(rest.body.error.message).toMatch(new RegExp(`^${field}: `))
  const body = `{"query":${JSON.stringify(update)},"variables":{"input":{"id":"${asset.id}",${graphqlRaw}}}}`
  const graphql = expectError(await user.rest('POST', '/graphql', { raw: body, headers: json }), 'VALIDATION_FAILED')
  expect(graphql.body.errors[0].message).toMatch(reported)
  expect([await app.commitCount(asset.id), await app.wallet(user)]).toEqual(before)
}

describe('text that is not valid Unicode', () => {
  it.each([
    ['caption', 'caption'],
    ['headline', 'headline'],
    ['tag', 'tag'],
    ['commit_message', 'commitMessage'],
    ['signed_metadata', 'signedMetadata'],
  ])('rejects text that is not valid Unicode in the field %s', async (rest, graphql) => {
    await refusedByBoth(`"${rest}":"a\\ud800b"`, `"${graphql}":"a\\ud800b"`, rest, /Unpaired surrogates/)
    await refusedByBoth(`"${rest}":"a\\u0000b"`, `"${graphql}":"a\\u0000b"`, rest, /Null characters/)
  })

  it.each([
    ['{"a":{"b":["\\udc00"]}}', /At a\.b\[0\]: Unpaired/],
    ['{"\\ud800":1}', /Unpaired/],
    ['{"a":{"\\u0000":1}}', /At a: Null/],
    ['{"a":{"__proto__":{"b":1}}}', /At a: A key may not be "__proto__"/],
  ])('rejects custom JSON that is not valid Unicode, with the path of the problem: %s', async (custom, reported) => {
    await refusedByBoth(`"nit_commit_custom":${custom}`, `"nitCommitCustom":${custom}`, 'nit_commit_custom', reported)
    const form = await user.rest('PATCH', path, { multipart: { nit_commit_custom: custom } })
    expect(expectError(form, 'VALIDATION_FAILED').body.error.details).toEqual({
      nit_commit_custom: [expect.stringMatching(reported)],
    })
  })

  it('rejects a GraphQL literal that is not valid Unicode, with its field name', async () => {
    const document = (caption: string, custom: string) =>
      `mutation { updateAssetMetadata(input: { id: "${asset.id}", caption: ${caption}, nitCommitCustom: ${custom} }) { asset { id } } }`
    for (const [text, field] of [
      [document('"a\\u0000b"', '{}'), 'caption'],
      [document('"""a\0b"""', '{}'), 'caption'],
      [document('""', '{ a: [{ b: "\\u{0}" }] }'), 'b'],
    ] as const) {
      const { body } = expectError(await user.graphql(text), 'VALIDATION_FAILED')
      expect(body.errors[0].message).toBe(`${field}: Null characters are not allowed.`)
    }
    expectError(await user.graphql(document('"\\ud800"', '{}')), 'PARSE_ERROR')
    expectError(await user.graphql('{ asset(id: "a\\u0000") { id } }'), 'VALIDATION_FAILED')
  })

  it.each([
    ['sign-up', 'POST', 'auth/users/', '{"username":"a\\ud800","email":"x@example.org","password":"correct horse"}'],
    ['sign-in', 'POST', 'auth/token/login/', '{"email":"a\\ud800@example.org","password":"x"}'],
    ['the password at sign-in', 'POST', 'auth/token/login/', '{"email":"a@example.org","password":"\\udfff"}'],
    ['a password reset', 'POST', 'auth/users/reset_password/', '{"email":"a\\u0000@example.org"}'],
    ['a profile', 'PATCH', 'auth/users/profile/', '{"display_name":"a\\ud800"}'],
    ['a default tag', 'PATCH', 'auth/users/me/', '{"default_tag":"a\\ud800"}'],
    ['a network app', 'POST', 'store/network-app-orders/', '{"network_app":"a\\ud800"}'],
  ])('rejects text that is not valid Unicode in %s', async (_what, method, route, raw) => {
    const headers = { ...json, ...(await createStore(app)).service }
    expectError(await user.rest(method, route, { raw, headers }), 'VALIDATION_FAILED')
  })

  it.each(['assets/?tag=%00', 'assets/?owner=%00', 'assets/?proof_hash=a%00', 'history/?nid=%00'])(
    'rejects a null character in the URL %s',
    async (address) => void expectError(await user.rest('GET', address), 'VALIDATION_FAILED'),
  )
})

describe('deeply nested JSON', () => {
  it.each([17, 4_000])('rejects JSON with %i levels of nesting', async (levels) => {
    const text = nested(levels)
    const reported = /16 levels/
    for (const [rest, graphql] of [
      ['nit_commit_custom', 'nitCommitCustom'],
      ['signed_metadata', 'signedMetadata'],
      ['signature', 'signature'],
    ] as const) {
      const inGraphQL = graphql === 'nitCommitCustom' ? text : JSON.stringify(text)
      await refusedByBoth(`"${rest}":${text}`, `"${graphql}":${inGraphQL}`, rest, reported)
      const form = await user.rest('PATCH', path, { multipart: { [rest]: text } })
      expect(expectError(form, 'VALIDATION_FAILED').body.error.details).toEqual({
        [rest]: [expect.stringMatching(reported)],
      })
    }
    const meta = await user.rest('POST', 'assets/', { multipart: { asset_file: newFile(), meta: text } })
    expect(expectError(meta, 'VALIDATION_FAILED').body.error.details).toEqual({
      meta: [expect.stringMatching(reported)],
    })
  })

  it('rejects deeply nested JSON in fields that return the submitted JSON', async () => {
    const raw = `{"device":${nested(10_000)}}`
    const { body } = expectError(await user.rest('POST', 'auth/devices/', { raw, headers: json }), 'VALIDATION_FAILED')
    expect(body.error.details).toEqual({ device: [expect.stringMatching(/16 levels/)] })
  })

  it('accepts JSON with 16 levels of nesting', async () => {
    const custom = JSON.parse(nested(16))
    expectOk(await user.rest('PATCH', path, { json: { nit_commit_custom: custom, signature: nested(16) } }))
    expectOk(await user.graphql(update, { input: { id: asset.id, nitCommitCustom: { ...custom, b: 1 } } }))
  })

  it('ignores deeply nested JSON in an unknown field', async () => {
    const raw = `{"unknown":${nested(10_000)},"caption":"Read all the same"}`
    expect(expectOk(await user.rest('PATCH', path, { raw, headers: json })).caption).toBe('Read all the same')
  })
})

describe('numbers that lose precision', () => {
  it.each(['9007199254740993', '1e400', '1.0000000000000000001'])(
    'rejects a number that loses precision, with its path: %s',
    async (number) => {
      const custom = `{"size":{"of":[1,${number}]}}`
      const reported = /At size\.of\[1\]: This number cannot be stored/
      await refusedByBoth(`"nit_commit_custom":${custom}`, `"nitCommitCustom":${custom}`, 'nit_commit_custom', reported)
      for (const form of [
        { multipart: { nit_commit_custom: custom } },
        { urlencoded: { nit_commit_custom: custom } },
      ]) {
        const { body } = expectError(await user.rest('PATCH', path, form), 'VALIDATION_FAILED')
        expect(body.error.details).toEqual({ nit_commit_custom: [expect.stringMatching(reported)] })
      }
      const literal = `mutation { updateAssetMetadata(input: { id: "${asset.id}", nitCommitCustom: { size: ${number} } }) { asset { id } } }`
      const { body } = expectError(await user.graphql(literal), 'VALIDATION_FAILED')
      expect(body.errors[0].message).toMatch(/^This number cannot be stored/)
    },
  )

  it('both APIs reject numbers that lose precision in the arguments of an order', async () => {
    const { service, appId: networkApp } = await createStore(app)
    const headers = { ...json, ...service }
    const raw = `{"network_app":"${networkApp}","action_args":{"seed":9007199254740993}}`
    const { body } = expectError(
      await user.rest('POST', 'store/network-app-orders/', { raw, headers }),
      'VALIDATION_FAILED',
    )
    expect(body.error.details).toEqual({ action_args: [expect.stringMatching(/^At seed: /)] })
    const create = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { order { id } } }'
    const graphql = `{"query":${JSON.stringify(create)},"variables":{"input":{"networkApp":"${networkApp}","actionArgs":{"seed":1e400}}}}`
    const refused = expectError(await user.rest('POST', '/graphql', { raw: graphql, headers }), 'VALIDATION_FAILED')
    expect(refused.body.errors[0].message).toMatch(/^actionArgs: At seed: This number/)
  })

  it('ignores numbers that lose precision in an unknown field, and keeps the value of exact numbers', async () => {
    const raw = '{"unknown":9007199254740993,"nit_commit_custom":{"n":[0.1,1e21,9007199254740992,5e-324,-1.5]}}'
    const record = expectOk(await user.rest('PATCH', path, { raw, headers: json }))
    expect(record.nit_commit_custom.n).toEqual([0.1, 1e21, 2 ** 53, 5e-324, -1.5])
  })
})

it.each(['image/png\u0001', 'text/plain; charset=ü日', 'no type'])(
  'an uploaded file with the media type %j can be downloaded',
  async (type) => {
    const form = { asset_file: new File([await newFile().bytes()], 'a\u0000b\u0007\u202ec.png', { type }) }
    const { id, asset_file } = expectOk(await user.rest('POST', 'assets/', { multipart: form }))
    const response = await fetch(asset_file)
    expect(response.status).toBe(200)
    await response.arrayBuffer()
    expectOk(await user.rest('GET', `assets/${id}/`))
    const asset_file_mime_type = type
    if (type === 'no type') return
    const reported = await user.rest('POST', 'assets/', { multipart: { asset_file: newFile(), asset_file_mime_type } })
    expectError(reported, 'VALIDATION_FAILED')
  },
)

describe('JSON strings in forms', () => {
  const text = '{\n  "proof": "x",\n\t"list": [\n1\n]}'
  const sent = text.replaceAll('\n', '\r\n')

  it.each(['multipart', 'urlencoded'] as const)(
    'JSON strings keep their line breaks if a browser sends them as %s',
    async (encoding) => {
      const fields = { signed_metadata: sent, signature: sent }
      expect(expectOk(await user.rest('PATCH', path, { [encoding]: fields }))).toMatchObject({ signed_metadata: text })
      const [row] = await app.sql('select signed_metadata, signature from assets where nid = $1', [asset.id])
      expect(row).toEqual({ signed_metadata: text, signature: text })
    },
  )
})

it.each(['"secret"', '{"caption":"secret"}', '{"id":"x","caption":{"a":"secret"}}', '{"id":"x","maxCost":"secret"}'])(
  'the error for the GraphQL variable %s does not repeat its value',
  async (input) => {
    const { body, text } = expectError(await user.graphql(update, { input: JSON.parse(input) }), 'VALIDATION_FAILED')
    expect(body.errors[0].message).toMatch(/^Variable "\$input" got an invalid value/)
    expect(text).not.toContain('secret')
  },
)

it('the message of a validation error names the first invalid field and the reason', async () => {
  const answer = await user.rest('PATCH', path, { json: { headline: 'x'.repeat(26), tag: 'x'.repeat(256) } })
  const { error, detail } = expectError(answer, 'VALIDATION_FAILED').body
  expect(error.message).toBe('headline: Ensure this field has no more than 25 characters.')
  expect(detail).toBe(error.message)
  const other = await user.rest('PATCH', path, { json: { commit_message: 'x'.repeat(1001) } })
  expect(other.body.detail).toBe('commit_message: Ensure this field has no more than 1000 characters.')
  const graphql = await user.graphql(update, { input: { id: asset.id, commitMessage: 'x'.repeat(1001) } })
  expect(graphql.body.errors[0].message).toBe('commitMessage: Ensure this field has no more than 1000 characters.')
})

it.each(['a b', 'a/b', 'a?b', 'user@host', 'a:99999', '[::1'])(
  'rejects the Host header %j in both APIs',
  async (host) => {
    for (const target of ['/graphql', '/api/v3/auth/users/me/', '/']) {
      const json = target === '/graphql' ? { query: '{ __typename }' } : undefined
      const headers = { Host: host, 'Content-Type': 'application/json', Accept: 'application/json' }
      const answer = await send(app.url, { path: target, json, headers })
      expect(answer.status, answer.text).toBe(400)
      expect(answer.body).toMatchObject({ error: { type: 'parse_error' }, status_code: 400 })
    }
  },
)

const talk = (line: string, ...headers: string[]) =>
  talkRaw({
    url: app.url,
    pieces: [Buffer.from([`${line} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n'))],
    end: 'wait',
  })

describe('request targets in absolute form', () => {
  const host = 'Host: annal.example'

  it.each([
    ['/graphql?query={__typename}', 200, '{"data":{"__typename":"Query"}}'],
    ['/admin', 303, ''],
    ['/version', 200, '{"version":"0.1.0"}'],
    ['', 200, '<!doctype html>'],
    ['?x', 200, '<!doctype html>'],
    ['/nowhere', 404, 'resource_not_found'],
  ])('routes a request target in absolute form by its path: %j', async (path, status, text) => {
    const answer = await talk(`GET http://stranger.example${path}`, host, 'Accept: application/json')
    expect([answer.status, answer.body]).toEqual([status, expect.stringContaining(text)])
    expect(answer.head + answer.body).not.toContain('stranger.example')
  })

  it('does not use the host of an absolute request target in links', async () => {
    await user.register()
    await user.register()
    const credentials = `Authorization: token ${user.token}`
    const { body } = await talk('GET http://stranger.example/api/v3/assets/?limit=1', host, credentials)
    const { next } = JSON.parse(body)
    const { pathname, search } = new URL(next)
    expect([pathname, search]).toEqual(['/api/v3/assets/', '?limit=1&offset=1'])
    expect(next).not.toContain('stranger.example')
  })
})

it.each([
  ['two Host headers', 'GET /version', ['Host: annal.example', 'host: stranger.example']],
  ['the same Host header twice', 'GET /version', ['Host: annal.example', 'Host: annal.example']],
  ['a target that is neither a path nor a URL', 'GET *', ['Host: annal.example']],
  ['a target with another scheme', 'GET ftp://annal.example/version', ['Host: annal.example']],
])('rejects a request with %s as invalid HTTP', async (_, line, headers) => {
  const { status, body } = await talk(line, ...headers)
  expect([status, JSON.parse(body).error.type]).toEqual([400, 'parse_error'])
})

it('rejects a HEAD request with a very long URL without a response body', async () => {
  const { status, text } = await send(app.url, { method: 'HEAD', path: `/version?${'x'.repeat(40_000)}` })
  expect([status, text]).toEqual([431, ''])
})

it('the server logs no errors for invalid input', () =>
  expect(app.log.lines.filter(({ level }) => level === 'error')).toEqual([]))
