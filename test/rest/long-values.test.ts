/** Values that are long and odd: they take about as long as others of their length, at both doors. */
import { expect, it } from 'vitest'
import { expectError } from '../support/expect-error.ts'
import type { RestOptions } from '../support/rest-client.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()

/** What is as dear as the square of its length takes at least fifty times as long. */
const TIMES = 10
/** Milliseconds that a collection of garbage may come in with. */
const NOISE = 50

/** Milliseconds of processors that a request takes: the service runs in this process. */
async function costOf(path: string, options: RestOptions): Promise<number> {
  const before = process.cpuUsage()
  expectError(await app.rest('POST', path, options), 'VALIDATION_FAILED')
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

const json = { 'Content-Type': 'application/json' }
const update = 'mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { id } } }'
const orders = 'query ($status: OrderStatus) { orders(status: $status) { totalCount } }'
const customOf = (number: string) =>
  `{"query":${JSON.stringify(update)},"variables":{"input":{"id":"x","nitCommitCustom":{"size":${number}}}}}`
const statusOf = (status: string) => JSON.stringify({ query: orders, variables: { status } })
const repeated = (text: string, characters: number) => text.repeat(characters / text.length)

it.each([
  {
    what: 'a number with a long row of zeros in a body of REST',
    path: 'auth/token/login/',
    odd: `{"email":1.${repeated('0', 100_000)}1,"password":"x"}`,
    plain: `{"email":1.${repeated('7', 100_000)}1,"password":"x"}`,
  },
  {
    what: 'a number with a long row of zeros in a variable',
    path: '/graphql',
    odd: customOf(`1.${repeated('0', 100_000)}1`),
    plain: customOf(`1.${repeated('7', 100_000)}1`),
  },
  {
    what: 'a value that repeats what GraphQL says of values',
    path: '/graphql',
    odd: statusOf(repeated('Expected value of type "x" ', 500_000)),
    plain: statusOf(repeated('Something else of a type x ', 500_000)),
  },
])('$what is refused as soon as another one', async ({ path, odd, plain }) => {
  const plainly: number[] = []
  for (let time = 0; time < 3; time += 1) plainly.push(await costOf(path, { raw: plain, headers: json }))
  const costs = [await costOf(path, { raw: odd, headers: json }), await costOf(path, { raw: odd, headers: json })]
  expect(Math.min(...costs)).toBeLessThan(TIMES * Math.min(...plainly) + NOISE)
})

it('a cursor that was never given out is not repeated in full by each field that was given it', async () => {
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
