/** Repeated documents take a fast path with identical responses. */
import { request } from 'node:http'
import { expect, it } from 'vitest'
import { createTestApp } from '../../support/test-app.ts'

const MOST_REQUESTS = 80
const app = await createTestApp({ env: { LIMITS: `requests-per-user=${MOST_REQUESTS}` } })
const user = await app.newUser({ num: '5' })
const other = await app.newUser()
const { id: nid } = await user.register({ public_access: 'false', caption: 'Über allen Gipfeln' })

interface Sent {
  body: unknown
  headers?: Record<string, string>
  token?: string | undefined
}

function send({ body, headers = {}, token = user.token }: Sent): Promise<object> {
  return new Promise((resolve, reject) => {
    const sent = request(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `token ${token}` }), ...headers },
    })
    sent.once('error', reject).once('response', async (answer) => {
      const { 'x-request-id': id, date, ...rest } = answer.headers
      expect(id).toHaveLength(36)
      resolve({ status: answer.statusCode, headers: rest, text: Buffer.concat(await answer.toArray()).toString() })
    })
    sent.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
}

const query =
  'query Named($id: ID!, $n: Int) { asset(id: $id) { id caption commits(first: $n) { nodes { id createdAt } } } }'
const variables = { id: nid }
let documents = 0

async function bothWays({ body, ...rest }: Sent & { body: Record<string, unknown> }) {
  documents += 1
  const first = await send({ ...rest, body: { ...body, query: `${body.query}${' '.repeat(documents)}` } })
  await send({ body: { query: body.query, variables } })
  return { first, again: await send({ ...rest, body }) }
}

it.each<[string, Omit<Sent, 'body'> & { body: Record<string, unknown> }]>([
  ['a query', { body: { query, variables } }],
  ['with an operation name', { body: { query, variables, operationName: 'Named' } }],
  ['with an unknown operation name', { body: { query, variables, operationName: 'Other' } }],
  ['from another origin', { body: { query, variables }, headers: { Origin: 'https://example.com' } }],
  [
    'with Accept: application/graphql-response+json',
    { body: { query, variables }, headers: { Accept: 'application/graphql-response+json' } },
  ],
  ['with an unsupported Accept header', { body: { query, variables }, headers: { Accept: 'image/png' } }],
  ['with unknown parameters', { body: { query, variables, kind: 'query', extensions: {} } }],
  ['without variables', { body: { query } }],
  ['with invalid variables', { body: { query, variables: [nid] } }],
  ['with a variable of a wrong type', { body: { query, variables: { id: nid, n: 'many' } } }],
  ['with a page size above the maximum', { body: { query, variables: { id: nid, n: 1_000 } } }],
  ['for a missing asset', { body: { query, variables: { id: 'nothing' } } }],
  ['from another user', { body: { query, variables }, token: other.token }],
  ['from an anonymous caller', { body: { query, variables }, token: '' }],
  ['for signed-in users, from an anonymous caller', { body: { query: '{ me { id } }' }, token: '' }],
  ['with an invalid token', { body: { query, variables }, token: 'a'.repeat(40) }],
  ['with an empty idempotency key', { body: { query, variables }, headers: { 'Idempotency-Key': '' } }],
])('returns the same response for a repeated GraphQL request: %s', async (_, sent) => {
  const { first, again } = await bothWays(sent)
  expect(again).toEqual(first)
})

it('rejects an invalid GraphQL body after a valid request', async () => {
  await send({ body: { query, variables } })
  for (const body of ['{', '[]', '{"query": 1}', '{"variables": {}}'])
    expect(await send({ body })).toMatchObject({ status: 400 })
})

it('counts each GraphQL request once, with or without the fast path', async () => {
  const limited = await app.newUser()
  const ask = (at: number) =>
    send({ body: { query, variables: { id: at % 2 ? nid : 'nothing' } }, token: limited.token })
  for (let at = 0; at < MOST_REQUESTS; at++)
    expect(await ask(at)).toMatchObject({ text: expect.not.stringContaining('THROTTLED') })
  expect(await ask(0)).toMatchObject({ text: expect.stringContaining('THROTTLED') })
})
