/** Compares the responses of a service with its fast paths to those of a service without them. */
import { expect, it } from 'vitest'
import type { Answer } from '../../support/http-client.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'

/** Values that differ between two services: IDs, hashes, addresses, times and cursors. */
const GENERATED =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(?:app|order|user|transfer|event|commit|audit)_\w+|\b(?:0x)?[0-9a-f]{40,}\b|\bbafy?\w{40,}|\d{4}-\d\d-\d\dT[\d:.]+Z?|127\.0\.0\.1:\d+|\bR1BDOl[\w+/=]+|signature=[\w-]+|expires=\d+/gi

/** Creates a function that replaces each generated value with its number, in the order of appearance. */
function createNormalizer(names: Record<string, string>) {
  const numbers = new Map<string, number>()
  return (text: string) => {
    let named = text
    for (const [name, value] of Object.entries(names)) named = named.replaceAll(value, `<${name}>`)
    return named.replace(GENERATED, (value) => {
      if (/^\d{4}-\d\d-\d\dT/.test(value)) return '<time>'
      if (!numbers.has(value)) numbers.set(value, numbers.size)
      return `<${numbers.get(value)}>`
    })
  }
}

const asset = `id caption headline tag nftRecord owner { id username email } registration { sequence committer author }`

const queries = [
  '{ me { id email wallet { num points } } }',
  '{ me { assets(first: 1) { totalCount edges { cursor node { id } } pageInfo { endCursor hasNextPage } } } }',
  '{ me { assets(last: 2) { nodes { id } pageInfo { startCursor hasPreviousPage } } } }',
  `query ($id: ID!) { asset(id: $id) { ${asset} commits(first: 20) { totalCount nodes { id message createdAt } } } }`,
  'query ($id: ID!) { a: asset(id: $id) { __typename ...F ... on Node { id } } } fragment F on Asset { b: caption creator { address } }',
  'query ($id: ID!, $no: Boolean!) { asset(id: $id) { id caption @include(if: $no) tag @skip(if: $no) } }',
  'query ($order: ID!) { order(id: $order) { id state buyer { username wallet { num } } networkApp { name } } }',
  'query ($name: String!) { users(search: $name) { id username } }',
  'query ($id: ID!) { asset(id: $id) { commits(first: 1000) { nodes { id } } } }',
  '{ me { orders(first: 2) { nodes { id } } transfers(first: 3) { nodes { id } } } }',
]

const mutations = [
  'mutation ($id: ID!) { updateAssetMetadata(input: { id: $id, caption: "Changed" }) { asset { id caption commits(last: 1) { nodes { message } } } } }',
  'mutation ($id: ID!) { updateAssetMetadata(input: { id: $id, caption: "Refused", maxCost: "0.01" }) { asset { id } } }',
  'mutation { updateProfile(input: { displayName: "Some One" }) { user { displayName } } }',
  'mutation ($order: ID!) { confirmOrder(input: { id: $order }) { order { id state } } }',
]

/** Runs the same requests and returns their normalized responses. */
async function run(fastPaths: boolean): Promise<string[]> {
  const app = await createTestApp({ fastPaths })
  const user = await app.newUser({ num: '50' })
  const other = await app.newUser({ num: '5' })
  const store = await createStore(app)
  const normalize = createNormalizer({
    user: user.username,
    other: other.username,
    store: store.name,
    owner: store.owner.username,
  })
  const responses: string[] = []
  const add = (name: string, { status, text }: Answer) => responses.push(normalize(`${name}\n${status} ${text}`))

  const file = new File(['the same bytes'], 'photo.png', { type: 'image/png' })
  const { id } = await user.register({ asset_file: file, public_access: 'false', caption: 'First', tag: 'a' })
  await user.register({ asset_file: new File(['second'], 'b.png', { type: 'image/png' }), public_access: 'true' })
  const { id: order } = await store.order(user)
  const variables = { id, order, name: 'nobody-has-this-name', no: false }

  const callers = { user, other, anonymous: app }
  for (const document of [...queries, ...mutations, ...queries]) {
    for (const [caller, { graphql }] of Object.entries(callers)) {
      // The second request with the same document skips the GraphQL server.
      for (let i = 0; i < 2; i++) {
        add(`${caller}: ${document}`, await graphql(document, variables, { headers: store.service }))
      }
    }
  }
  for (const path of ['auth/users/me/', 'assets/', `assets/${id}/`, `assets/${id}/commits/`, 'assets/nonsense/']) {
    for (const [caller, { rest }] of Object.entries(callers)) add(`${caller}: ${path}`, await rest('GET', path))
  }
  add('confirm again', await store.confirm(user, order))

  // Concurrent writes of several assets, orders and invalid requests share statements.
  const assets = await Promise.all(
    Array.from({ length: 6 }, async () => user.register({ asset_file: newFile(), caption: 'Before' })),
  )
  const orders = await Promise.all(Array.from({ length: 3 }, () => store.order(user)))
  const concurrent = await Promise.all([
    ...assets.map((each) => user.rest('PATCH', `assets/${each.id}/`, { json: { caption: 'After' } })),
    ...assets.map((each) => other.rest('PATCH', `assets/${each.id}/`, { json: { caption: 'Foreign' } })),
    ...orders.map((each) => store.confirm(user, each.id)),
  ])
  responses.push(concurrent.map(({ status, body }) => `${status} ${body.caption ?? body.error?.type ?? ''}`).join('\n'))
  const captions = 'query ($id: ID!) { asset(id: $id) { caption commits(first: 5) { totalCount } } }'
  for (const each of assets) responses.push((await user.graphql(captions, { id: each.id })).text)
  responses.push(JSON.stringify(await app.wallet(user)))
  return responses
}

it('returns the same responses with and without the fast paths', async () => {
  const [on, off] = await Promise.all([run(true), run(false)])
  expect(on.length).toBeGreaterThan(100)
  expect(off).toEqual(on)
  // The cases must reach data, errors and permissions.
  for (const part of ['"caption":"Changed"', 'PRICE_EXCEEDS_MAX_COST', 'NOT_FOUND', 'VALIDATION_FAILED']) {
    expect(
      on.filter((response) => response.includes(part)),
      part,
    ).not.toHaveLength(0)
  }
})
