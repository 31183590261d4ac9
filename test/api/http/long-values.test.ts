/** Long, unusual values in both APIs. `test/contract/regular-expressions.test.ts` checks that no regular expression is slow. */
import { expect, it } from 'vitest'
import { expectError } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const json = { 'Content-Type': 'application/json' }
const update = 'mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { id } } }'
const orders = 'query ($status: OrderStatus) { orders(status: $status) { totalCount } }'
const LENGTH = 900_000
const zeros = `1.${'0'.repeat(LENGTH)}1`
const REPEATED = 'Expected value of type "x" '

it.each([
  {
    what: 'a number with many zeros in a REST body',
    path: 'auth/token/login/',
    raw: `{"email":${zeros.slice(0, 200_000)}1,"password":"x"}`,
  },
  {
    what: 'a number with many zeros in a GraphQL variable',
    path: '/graphql',
    raw: `{"query":${JSON.stringify(update)},"variables":{"input":{"id":"x","nitCommitCustom":{"size":${zeros}}}}}`,
  },
  {
    what: 'a value that repeats the text of a GraphQL error message',
    path: '/graphql',
    raw: JSON.stringify({ query: orders, variables: { status: REPEATED.repeat(LENGTH / REPEATED.length) } }),
  },
])('rejects a long invalid value without repeating it in the error: $what', async ({ path, raw }) => {
  const { text } = expectError(await app.rest('POST', path, { raw, headers: json }), 'VALIDATION_FAILED')
  expect(text.length).toBeLessThan(2_000)
})

it('does not repeat a long invalid cursor in the error of each field', async () => {
  const user = await app.newUser()
  const { id } = await user.register()
  const fields = Array.from(
    { length: 15 },
    (_, n) => `a${n}: asset(id: "${id}") { commits(after: $after) { nodes { id } } }`,
  )
  const query = `query ($after: String) { ${fields.join(' ')} }`
  const { text, body } = expectError(await user.graphql(query, { after: 'x'.repeat(900_000) }), 'VALIDATION_FAILED')
  expect(body.errors).toHaveLength(15)
  expect(text.length).toBeLessThan(20_000)
})
