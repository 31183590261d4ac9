import { describe, expect, it } from 'vitest'
import { documentLimits } from '../../../src/graphql/limits/document-limits.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { type Message, send } from '../../support/http-client.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'

const app = await createTestApp({ env: { GRAPHQL_INTROSPECTION: 'false' } })
const user = await app.newUser()
const times = (count: number, each: (i: number) => string) => Array.from({ length: count }, (_, i) => each(i)).join(' ')
const nested = (depth: number) => `{ me { ${'assets { nodes { owner { '.repeat(depth)} id ${'} } }'.repeat(depth)} } }`

describe('GraphQL documents', () => {
  it.each([
    ['characters', `{ __typename }${' '.repeat(documentLimits.characters)}`, 'characters'],
    ['tokens', `{ me(${times(600, (i) => `a${i}: 1`)}) { id } }`, 'tokens'],
    ['fields', `{ me { wallet { ${times(401, (i) => `f${i}`)} } } }`, 'fields'],
    ['levels', nested(4), 'levels of fields'],
    [
      'levels in fragments',
      `{ me { ...A } } fragment A on User ${nested(4).slice('{ me '.length, -2)}`,
      'levels of fields',
    ],
    ['aliases', `{ ${times(101, (i) => `alias${i}: __typename`)} }`, 'aliases'],
    [
      'aliases in nested fragments',
      `{ a: me { ...A } b: me { ...A } } ${times(8, (i) => {
        const next = String.fromCharCode(66 + i)
        return `fragment ${String.fromCharCode(65 + i)} on User { a: wallet { ...${next} } b: wallet { ...${next} } }`
      })} fragment I on User { id }`,
      'aliases',
    ],
    ['root fields', `{ ${times(16, (i) => `field${i}`)} }`, 'root fields'],
    ['root fields in a fragment', `{ ...A } fragment A on Query { ${times(16, (i) => `f${i}`)} }`, 'root fields'],
    ['directives', `{ ${times(21, (i) => `f${i} @skip(if: true)`)} }`, 'directives'],
    ['directives on one element', `{ __typename ${'@aa'.repeat(10)} }`, 'directives on one element'],
    ['repetitions', `{ ${times(500, () => '__typename')} }`, 'repetitions'],
    ['operations', times(21, (i) => `query Q${i} { __typename }`), 'operations'],
    ['fragments', `{ ...F0 } ${times(51, (i) => `fragment F${i} on Query { __typename }`)}`, 'fragments'],
  ])(
    'rejects a GraphQL document with too many %s with one error that names the limit',
    async (_what, document, named) => {
      const { body } = await user.graphql(document)
      expect(body.errors).toHaveLength(1)
      expect(body.errors[0].message).toContain(named)
      expect(body.errors[0].extensions.code).toMatch(/^(VALIDATION_FAILED|PARSE_ERROR)$/)
      expect(body.data).toBeUndefined()
    },
  )

  it('rejects a GraphQL document with more than one mutation field', async () => {
    expectError(await user.graphql('mutation { a: signOut b: signOut }'), 'VALIDATION_FAILED')
    expectError(
      await user.graphql('mutation { ...A } fragment A on Mutation { signOut b: signOut }'),
      'VALIDATION_FAILED',
    )
    expectError(await user.graphql('mutation { signOut ... on Mutation { signOut } }'), 'VALIDATION_FAILED')
    expectOk(await user.graphql('{ me { id } }'))
  })

  it('rejects a GraphQL document with cyclic fragments', async () => {
    const circle = '{ me { ...A } } fragment A on User { id ...B } fragment B on User { username ...A }'
    expectError(await user.graphql(circle), 'VALIDATION_FAILED')
  })

  it('accepts a GraphQL document of typical size', async () => {
    await user.register()
    const answer = await user.graphql(
      `query ($n: Int) { me { id wallet { num } assets(first: 100) { totalCount pageInfo { hasNextPage }
         nodes { id caption headline owner { username } commits(first: $n) { nodes { id message createdAt } } } } } }`,
      { n: 3 },
    )
    expect(expectOk(answer).me.assets.nodes).toHaveLength(1)
  })
})

describe('size of a response', () => {
  const document = (inner: string) =>
    `query ($n: Int = 3, $m: Int) { me { assets(first: $m) { nodes { commits(first: ${inner}) { nodes { id message createdAt } } } } } }`

  it.each([
    ['$n', { m: 100, n: 100 }],
    ['$n', { m: 100, n: 50 }],
    ['$n', { m: 100, n: null }],
  ])('limits the response size of nested pages: first %s with the variables %j', async (inner, variables) => {
    const answer = expectError(await user.graphql(document(inner), variables), 'VALIDATION_FAILED')
    expect(answer.body.errors[0].message).toMatch(/may contain \d+ values/)
  })

  it("limits the response size in bytes, including raw texts and the caller's aliases", async () => {
    const texts = 'query ($n: Int) { assets(first: $n) { nodes { meta signature signedMetadata } } }'
    expectOk(await user.graphql(texts, { n: 20 }))
    const refused = expectError(await user.graphql(texts, { n: 100 }), 'VALIDATION_FAILED')
    expect(refused.body.errors[0].message).toMatch(/may have \d+ bytes/)
    const named = `{ assets(first: 1000) { nodes { ${'x'.repeat(12_000)}: id } } }`
    expect(expectError(await user.graphql(named), 'VALIDATION_FAILED').body.errors[0].message).toMatch(/bytes/)
    expectError(await user.graphql('{ a: myData b: myData c: myData }'), 'VALIDATION_FAILED')
    expectOk(await user.graphql('{ myData }'))
  })

  it('calculates the response size from the maximum length of each list', async () => {
    const { id } = await user.register()
    const all = (limit: number) =>
      `{ asset(id: "${id}") { history(limit: ${limit}) { id sequence message status treeCid } } }`
    expectOk(await user.graphql(all(100)))
    expectError(await user.graphql(all(1000)), 'VALIDATION_FAILED')
    expectOk(await user.graphql(`{ asset(id: "${id}") { commitCount history { changes } } }`))
  })

  it.each([
    ['first: 1001', 'first', /1000 or less/],
    ['last: 1001', 'last', /1000 or less/],
    ['first: -1', 'first', /0 or more/],
    ['last: -1', 'last', /0 or more/],
    ['offset: -1', 'offset', /0 or more/],
    ['first: 1, last: 1', 'last', /cannot be combined/],
  ])(
    'limits the size of each page, and names an invalid page argument in the error: %s',
    async (page, field, problem) => {
      const name = page.split(':')[0]!
      const value = Number(/-?\d+/.exec(page)![0])
      const answers = [await app.graphql(`{ assets(${page}) { nodes { id } } }`)]
      if (!page.includes(','))
        answers.push(await app.graphql(`query ($n: Int) { assets(${name}: $n) { nodes { id } } }`, { n: value }))
      for (const answer of answers) {
        const { body } = expectError(answer, 'VALIDATION_FAILED')
        expect(body.errors).toHaveLength(1)
        expect(body.errors[0].extensions.details[field][0]).toMatch(problem)
      }
    },
  )

  it('calculates the response size with the variables of each request, even for a cached document', async () => {
    for (const [m, fits] of [
      [10, true],
      [100, true],
      [10, true],
    ] as const) {
      const answer = await user.graphql(document('$n'), { m })
      expect(!answer.body.errors, answer.text).toBe(fits)
    }
    expectError(await user.graphql(document('$n'), { m: 100, n: 99 }), 'VALIDATION_FAILED')
    expectOk(await user.graphql(document('$n'), { m: 1 }))
  })
})

describe('GraphQL variables', () => {
  const document = 'query ($first: Int) { assets(first: $first) { totalCount } }'
  let deep: unknown = 1
  for (let i = 0; i < 1_000; i++) deep = [deep]

  it.each([
    ['nested too deeply', { first: deep }, /^first: .* no more than 16 levels deep\.$/],
    ['too large', { first: Array(15_000).fill(1) }, /^The variables contain/],
  ])('rejects GraphQL variables that are %s', async (_what, variables, reported) => {
    const { body } = expectError(await user.graphql(document, variables), 'VALIDATION_FAILED')
    expect(body.errors[0].message).toMatch(reported)
  })

  it.each([
    [
      'unknown',
      { email: 'x'.repeat(100_000), ...Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`n${i}`, 1])) },
    ],
    ['missing', { email: 'x'.repeat(100_000) }],
    ['named like the prototype', JSON.parse('{"__proto__":1,"email":"a","password":"b"}')],
    ['of a wrong type', { email: { long: 'x'.repeat(100_000) }, password: 1 }],
  ])(
    'rejects GraphQL variables with fields that are %s, without repeating their values in the response',
    async (_what, input) => {
      const signIn = 'mutation ($input: SignInInput!) { signIn(input: $input) { token } }'
      expect(expectError(await user.graphql(signIn, { input }), 'VALIDATION_FAILED').text.length).toBeLessThan(5_000)
    },
  )

  it('rejects GraphQL variables that exceed the maximum size of a body', async () => {
    const answer = await user.graphql(document, { first: 'x'.repeat(1_000_001) })
    expect([expectError(answer, 'PAYLOAD_TOO_LARGE').status]).toEqual([413])
  })
})

describe('servers with introspection disabled', () => {
  it.each(['{ __schema { types { name } } }', '{ __type(name: "User") { name fields { name } } }'])(
    'a server with introspection disabled rejects the query %s',
    async (document) => {
      expect(expectError(await user.graphql(document), 'VALIDATION_FAILED').body.data).toBeUndefined()
    },
  )

  it.each([
    ['{ __schema { directive } }', {}],
    ['{ me { usernam } }', {}],
    ['query ($input: SignInInput!) { me { id } }', { input: { emai: 'x' } }],
    ['mutation ($input: SignInInput!) { signIn(input: $input) { token } }', { input: { emai: 'x', password: 'y' } }],
  ])('a server with introspection disabled gives no suggestions in the error for %s', async (document, variables) => {
    expect((await user.graphql(document, variables)).text).not.toContain('Did you mean')
  })

  it('a server with introspection disabled serves no schema file', async () => {
    expectError(await send(`${app.url}/schema.graphql`, {}), 'NOT_FOUND')
  })

  it('a server with introspection disabled serves no playground', async () => {
    const answer = await send(`${app.url}/graphql`, { headers: { Accept: 'text/html', 'Sec-Fetch-Mode': 'cors' } })
    expect([answer.status, answer.text.includes('GraphiQL')]).toEqual([406, false])
  })
})

describe('CSRF protection', () => {
  const ask = (message: Message) => send(`${app.url}/graphql`, message)
  const form = () => {
    const body = new FormData()
    body.set('operations', JSON.stringify({ query: 'mutation { signOut }' }))
    body.set('map', '{"0":["variables.file"]}')
    body.set('0', newFile())
    return body
  }

  it('rejects a GraphQL mutation sent as a form by another site (CSRF)', async () => {
    const posted = await ask({ multipart: form(), headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
    expect(expectError(posted, 'VALIDATION_FAILED').status).toBe(400)
    const urlencoded = { query: '{ __typename }' }
    expect(expectError(await ask({ urlencoded }), 'UNSUPPORTED_MEDIA_TYPE').status).toBe(415)
    const plain = { raw: '{"query":"{ __typename }"}', headers: { 'Content-Type': 'text/plain' } }
    expectError(await ask(plain), 'UNSUPPORTED_MEDIA_TYPE')
    expectError(await ask({ method: 'POST', path: '?query={__typename}' }), 'UNSUPPORTED_MEDIA_TYPE')
  })

  const upload = 'mutation ($file: Upload!) { registerAsset(input: { assetFile: $file }) { asset { id } } }'
  const uploadForm = () => {
    const body = new FormData()
    body.set('operations', JSON.stringify({ query: upload, variables: { file: null } }))
    body.set('map', '{"0":["variables.file"]}')
    body.set('0', newFile())
    return body
  }

  it.each([
    ['graphql-require-preflight', '1'],
    ['apollo-require-preflight', 'true'],
    ['x-apollo-operation-name', 'Upload'],
    ['x-graphql-yoga-csrf', '1'],
    ['x-api-key', ''],
    ['authorization', 'unknown x'],
  ])('accepts an upload with the header %s, which requires a preflight', async (name, value) => {
    expectError(await ask({ multipart: uploadForm(), headers: { [name]: value } }), 'NOT_AUTHENTICATED')
  })

  it.each(['token', 'Bearer'])('accepts an upload with an access token in the scheme %s', async (scheme) => {
    const { token } = await app.newUser()
    const answer = await ask({ multipart: uploadForm(), headers: { Authorization: `${scheme} ${token}` } })
    expect(expectOk(answer).registerAsset.asset.id).toMatch(/^baf/)
  })

  it.each(['Basic YTpi', 'digest username="a"', 'Negotiate YTpi', 'NTLM YTpi'])(
    'rejects an upload with credentials that browsers send without a preflight: %s',
    async (authorization) => {
      const answer = await ask({ multipart: uploadForm(), headers: { authorization } })
      expect(expectError(answer, 'VALIDATION_FAILED').body.errors[0].message).toContain('GraphQL-Require-Preflight')
    },
  )

  it.each([
    [{ Accept: '*/*', 'Sec-Fetch-Mode': 'no-cors' }, 400],
    [{ Accept: 'text/html,*/*', 'Sec-Fetch-Mode': 'navigate' }, 400],
    [{ Accept: 'application/json', 'Sec-Fetch-Mode': 'cors' }, 200],
    [{ Accept: 'application/graphql-response+json', 'Sec-Fetch-Mode': 'no-cors' }, 200],
    [{ Accept: '*/*', 'Sec-Fetch-Mode': 'no-cors', 'GraphQL-Require-Preflight': '1' }, 200],
    [{ Accept: '*/*', 'Sec-Fetch-Mode': 'no-cors', 'X-Apollo-Operation-Name': 'Any' }, 200],
  ])('a GraphQL query by GET with the headers %j returns %i', async (headers, status) => {
    expect((await ask({ path: '?query={__typename}', headers })).status).toBe(status)
  })
})
