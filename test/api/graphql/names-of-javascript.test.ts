/** Field names that are special in JavaScript. For example, some libraries treat an object with a field `then` as a promise. */
import { describe, expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const custom = JSON.parse('{"then":"x","catch":{"then":1},"finally":"z","toJSON":1,"list":[{"then":{"then":null}}]}')

const register =
  'mutation ($input: RegisterAssetInput!) { registerAsset(input: $input) { asset { id nitCommitCustom commits(first: 1) { nodes { changes } } } } }'

const input = { assetFile: newFile(), nitCommitCustom: custom }
const { id: nid } = expectOk(await user.graphql(register, { input })).registerAsset.asset

it.each([
  '{ then: pricing { then: currency } }',
  '{ me { then: id } }',
  '{ me { then: wallet { then: num } } }',
  '{ assets(first: 2) { nodes { then: id } } }',
  '{ assets(first: 2) { then: nodes { then: owner { then: id } then: owner { then: id } } } }',
  '{ then: assets(first: 2) { then: edges { then: cursor node { then: commits(first: 1) { then: nodes { then: id } } } } } }',
  '{ then: __typename }',
  '{ then: __schema { queryType { name } } }',
])('an alias named `then` returns data in the GraphQL query %s', async (query) => {
  const data = expectOk(await user.graphql(query))
  expect(JSON.stringify(data).match(/"then":/g)?.length).toBeGreaterThan(0)
  expect(JSON.stringify(data)).not.toMatch(/"then":(null|\{\})/)
})

it.each(['__proto__', 'constructor', 'toJSON', 'toString', 'hasOwnProperty', 'catch', 'length', 'data', 'errors'])(
  'treats the GraphQL alias `%s` like any other alias',
  async (alias) => {
    const asked = (name: string) =>
      `{ ${name}: me { ${name}: wallet { ${name}: num } } b: assets(first: 2) { ${name}: nodes { ${name}: id } } c: pricing { ${name}: currency } }`
    const [expected, answered] = [await user.graphql(asked('plain')), await user.graphql(asked(alias))]
    expectOk(answered)
    expect(answered.text).toBe(expected.text.replaceAll('"plain"', `"${alias}"`))
  },
)

describe('custom JSON with a field named `then`', () => {
  const both =
    'query ($id: ID!) { asset: node(id: $id) { ... on Asset { id nitCommitCustom } } assets(first: 5) { nodes { id nitCommitCustom } } }'

  it('both APIs return custom JSON with a field named `then`, alone and in lists', async () => {
    const { asset, assets } = expectOk(await user.graphql(both, { id: nid }))
    expect([asset, ...assets.nodes]).toEqual([0, 1].map(() => ({ id: nid, nitCommitCustom: custom })))
    expect(expectOk(await user.rest('GET', `assets/${nid}/`)).nit_commit_custom).toEqual(custom)
    expect(expectOk(await user.rest('GET', 'assets/')).results[0].nit_commit_custom).toEqual(custom)
  })
})
