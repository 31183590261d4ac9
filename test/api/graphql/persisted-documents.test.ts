/** Documents that are identified by a hash or ID: trusted documents of the operator, and documents that a client sent before. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { hashOf, readTrustedDocuments, storedDocumentLimits } from '../../../src/graphql/persisted-documents.ts'
import { atEnd } from '../../support/at-end.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { schema } from '../../support/full-api.ts'
import { type Message, send } from '../../support/http-client.ts'
import { startAnother } from '../../support/start-another.ts'
import { createTestApp } from '../../support/test-app.ts'

const folder = await mkdtemp(join(tmpdir(), 'annal-manifests-'))
atEnd(() => rm(folder, { recursive: true, force: true }))
const write = async (name: string, manifest: unknown) => {
  const path = join(folder, name)
  await writeFile(path, typeof manifest === 'string' ? manifest : JSON.stringify(manifest))
  return path
}

const me = 'query Me { me { username } }'
const rename =
  'mutation Rename($name: String!) { updateProfile(input: { displayName: $name }) { user { displayName } } }'
const prices = 'query Prices { pricing { total } }'
const assets = 'query Assets($first: Int) { assets(first: $first) { nodes { id } } }'

await write('codegen.json', { [hashOf(me)]: me })
// Relay uses MD5 by default. The server does not need to know the algorithm.
await write('relay.json', { '0123456789abcdef0123456789abcdef': prices })
await write('apollo.json', {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [
    { id: hashOf(rename), name: 'Rename', type: 'mutation', body: rename },
    { id: `sha256:${hashOf(assets)}`, name: 'Assets', type: 'query', body: assets },
  ],
})

const app = await createTestApp({ env: { GRAPHQL_TRUSTED_DOCUMENTS: folder } })
const user = await app.newUser()
const config = readConfig({ ...app.env, GRAPHQL_TRUSTED_ONLY: 'true' })
const strict = await startAnother({ ...app, installation: { ...app.installation, config } })
atEnd(() => strict.stop())

const Accept = 'application/json'
const post = (json: object, headers: Message['headers'] = {}, url = app.url) =>
  send(`${url}/graphql`, { json, headers: { Accept, ...headers }, token: user.token })
const get = (params: Record<string, string>, url = app.url) =>
  send(`${url}/graphql`, { path: `?${new URLSearchParams(params)}`, headers: { Accept }, token: user.token })
const hashed = (text: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(text) } } })
const named = (text: string) => ({ documentId: `sha256:${hashOf(text)}` })

describe('automatically persisted documents', () => {
  it('requests an unknown persisted document with PersistedQueryNotFound, and later accepts its hash', async () => {
    const query = '{ me { username email } }'
    const missed = expectError(await post(hashed(query)), 'PERSISTED_QUERY_NOT_FOUND')
    expect([missed.status, missed.body.errors[0].message]).toEqual([200, 'PersistedQueryNotFound'])
    expect(missed.headers.get('cache-control')).toBe('no-store')
    const strictly = await post(hashed(query), { Accept: 'application/graphql-response+json' })
    expect(expectError(strictly, 'PERSISTED_QUERY_NOT_FOUND').status).toBe(404)
    const sent = expectOk(await post({ query, ...hashed(query) }))
    expect(sent.me).toEqual({ username: user.username, email: user.email })
    for (const answer of [
      await post(hashed(query)),
      await post(named(query)),
      await get({ extensions: JSON.stringify(hashed(query).extensions) }),
      await get(named(query)),
    ]) {
      expect(expectOk(answer)).toEqual(sent)
    }
  })

  it('does not store a persisted document if its hash, syntax, validation or cost is rejected', async () => {
    for (const [params, text] of [
      [{ query: '{ me { email } }' }, '{ me { id email } }'],
      [{}, '{ me { '],
      [{}, '{ me { nothing } }'],
      [{}, '{ assets(first: 1000) { nodes { commits(first: 100) { nodes { id message } } } } }'],
    ] as const) {
      const answer = await post({ query: text, ...hashed(text), ...params })
      expect(answer.body.errors[0].extensions.code).toMatch(/^(VALIDATION_FAILED|PARSE_ERROR)$/)
      expectError(await post(hashed(text)), 'PERSISTED_QUERY_NOT_FOUND')
    }
  })

  it('does not store a persisted document if the access token is invalid', async () => {
    const query = '{ me { id displayName } }'
    const json = { query, ...hashed(query) }
    expectError(
      await send(`${app.url}/graphql`, { json, headers: { Accept }, token: 'x'.repeat(40) }),
      'AUTHENTICATION_FAILED',
    )
    expectError(await post(hashed(query)), 'PERSISTED_QUERY_NOT_FOUND')
  })

  it('a persisted document cannot execute a mutation by GET', async () => {
    expect((await get({ ...named(rename), variables: '{"name":"By GET"}' })).status).toBe(405)
    expect(expectOk(await user.graphql('{ me { displayName } }')).me.displayName).not.toBe('By GET')
  })

  it('evicts a persisted document when the cache is full, and requests the document again', async () => {
    const long = (n: number) => `{ me { id } } #${n} ${'x'.repeat(16_000)}`
    const count = Math.ceil(storedDocumentLimits.bytes / (2 * 16_000)) + 1
    const send = (n: number) => post({ query: long(n), ...hashed(long(n)) })
    for (let n = 0; n < count; n += 1) expectOk(await send(n))
    expectError(await post(hashed(long(0))), 'PERSISTED_QUERY_NOT_FOUND')
    expectOk(await post(hashed(long(count - 1))))
  })
})

describe('trusted documents', () => {
  it('executes a trusted document by its identifier, for every manifest format', async () => {
    expect(expectOk(await post(named(me))).me.username).toBe(user.username)
    expect(expectOk(await post(hashed(me))).me.username).toBe(user.username)
    expect(expectOk(await post({ documentId: '0123456789abcdef0123456789abcdef' })).pricing.total).toBe('0.179')
    expect(expectOk(await get({ documentId: '0123456789abcdef0123456789abcdef' })).pricing.total).toBe('0.179')
    const renamed = await post({ ...named(rename), variables: { name: 'Ada' } })
    expect(expectOk(renamed).updateProfile.user.displayName).toBe('Ada')
  })

  it('applies the limits to a trusted document with the variables of each request', async () => {
    expectOk(await post({ ...named(assets), variables: { first: 1 } }))
    expectError(await post({ ...named(assets), variables: { first: 1001 } }), 'VALIDATION_FAILED')
  })

  it('trusted documents do not block other documents by default', async () => {
    expectOk(await post({ query: '{ me { id } }' }))
    expectOk(await post({ query: me }))
  })
})

describe('servers that accept only trusted documents', () => {
  it('a server that accepts only trusted documents executes these documents', async () => {
    expect(expectOk(await post(named(me), {}, strict.url)).me.username).toBe(user.username)
    expect(expectOk(await get(named(me), strict.url)).me.username).toBe(user.username)
  })

  it.each([
    ['a document', { query: '{ me { id } }' }, 'PERSISTED_QUERY_ID_REQUIRED'],
    ['a listed document that is sent in full', { query: me }, 'PERSISTED_QUERY_ID_REQUIRED'],
    [
      'an unlisted document with its hash',
      { query: '{ me { id } }', ...hashed('{ me { id } }') },
      'PERSISTED_QUERY_ID_REQUIRED',
    ],
    ['an introspection query', { query: '{ __schema { types { name } } }' }, 'PERSISTED_QUERY_ID_REQUIRED'],
    ['nothing', {}, 'PERSISTED_QUERY_ID_REQUIRED'],
    ['a hash that is not on the list', hashed('{ me { id } }'), 'PERSISTED_QUERY_NOT_IN_LIST'],
    ['an identifier that is not on the list', { documentId: 'constructor' }, 'PERSISTED_QUERY_NOT_IN_LIST'],
  ] as const)(
    'a server that accepts only trusted documents rejects %s without asking the client for the document',
    async (_what, json, code) => {
      const { body } = expectError(await post(json, {}, strict.url), code)
      expect(body.data).toBeUndefined()
      expect(body.errors[0].message).not.toBe('PersistedQueryNotFound')
      expectError(await post(hashed('{ me { id } }'), {}, strict.url), 'PERSISTED_QUERY_NOT_IN_LIST')
    },
  )

  it('a server that accepts only trusted documents still serves REST, but no playground', async () => {
    expectOk(await send(`${strict.url}/api/v3/auth/users/me/`, { token: user.token }))
    const page = await send(`${strict.url}/graphql`, { headers: { Accept: 'text/html' } })
    expect([page.status, page.text.includes('GraphiQL')]).toEqual([400, false])
  })
})

describe('invalid manifests of trusted documents', () => {
  const problemsOf = (path: string): string => {
    try {
      readTrustedDocuments(path, schema, true)
      return 'none'
    } catch (error) {
      return (error as Error).message
    }
  }

  it('an invalid manifest is rejected with a list of all problems by file and document', async () => {
    const path = await write('bad.json.draft', {
      a: '{ me { ',
      b: '{ nothing }',
      c: `{ me { id } } #${'x'.repeat(17_000)}`,
      d: '{ assets(first: 1000) { nodes { commits(first: 100) { nodes { id } } } } }',
      [hashOf('x')]: me,
    })
    const reported = problemsOf(path)
    const problems = [/document a: Syntax Error/, /document b: .*nothing/, /c: .*characters/, /d: .*values/, /SHA-256/]
    for (const problem of problems) expect(reported).toMatch(problem)
    expect(reported).toMatch(/^GRAPHQL_TRUSTED_DOCUMENTS has problems:/)
  })

  it.each([
    ['is not valid JSON', '{', /is not valid JSON/],
    ['is a list', [], /is not a manifest/],
    ['is empty', {}, /contains no documents/],
    ['is another JSON file', { name: 'annal', version: 1 }, /is not a manifest/],
    ['has no document texts', { operations: [{ id: 'x' }] }, /is not a manifest/],
    ['uses @defer', { x: '{ me { id ... @defer { email } } }' }, /Unknown directive "@defer"/],
  ])('rejects a manifest of trusted documents if it %s', async (_how, manifest, reported) => {
    expect(problemsOf(await write('one.json.draft', manifest))).toMatch(reported)
  })

  it('rejects a manifest that is missing, conflicts with another manifest, or whose folder is empty', async () => {
    expect(problemsOf(join(folder, 'none.json'))).toMatch(/ENOENT/)
    const other = await mkdtemp(join(tmpdir(), 'annal-manifests-'))
    atEnd(() => rm(other, { recursive: true, force: true }))
    expect(problemsOf(other)).toMatch(/contains no \.json file/)
    await writeFile(join(other, 'a.json'), JSON.stringify({ one: me }))
    await writeFile(join(other, 'b.json'), JSON.stringify({ one: prices }))
    expect(problemsOf(other)).toMatch(/b\.json, document one: Another document has the same identifier/)
  })
})
