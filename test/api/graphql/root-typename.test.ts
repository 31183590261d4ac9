/** `__typename` at the root of a query or mutation is free, because client tools add it to every selection. */
import { describe, expect, it } from 'vitest'
import { documentLimits } from '../../../src/graphql/limits/document-limits.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp({ env: { HEALTH_PORT: '0' } })
const user = await app.newUser({ num: '100' })
const { id: nid } = await user.register()
const times = (count: number, each: (i: number) => string) => Array.from({ length: count }, (_, i) => each(i)).join(' ')

it.each([
  ['{ __typename me { id } }', ['__typename', 'me']],
  ['{ me { id } type: __typename }', ['me', 'type']],
  ['{ ...F } fragment F on Query { __typename me { id } }', ['__typename', 'me']],
  ['{ __typename @skip(if: true) me { id } }', ['me']],
  ['{ __typename me { id } pricing { total } }', ['__typename', 'me', 'pricing']],
])('the query %s with __typename returns its fields in order', async (document, names) => {
  // The second request takes the fast path.
  for (const _ of [1, 2]) {
    const data = expectOk(await user.graphql(document))
    expect(Object.keys(data)).toEqual(names)
    expect(data).toMatchObject({ me: { id: user.publicId } })
    for (const name of names.filter((each) => each.startsWith('__') || each === 'type'))
      expect(data[name]).toBe('Query')
  }
})

describe('mutations with __typename', () => {
  const update = (caption: string) =>
    `updateAssetMetadata(input: { id: "${nid}", caption: "${caption}" }) { asset { caption } }`

  it.each([
    ['before its field', (field: string) => `mutation { __typename ${field} }`],
    ['after its field', (field: string) => `mutation { ${field} __typename }`],
    ['under other names', (field: string) => `mutation { a: __typename ${field} b: __typename }`],
    ['in a fragment', (field: string) => `mutation { ...F } fragment F on Mutation { __typename ${field} }`],
    ['in an inline fragment', (field: string) => `mutation { __typename ... on Mutation { __typename ${field} } }`],
  ])('a mutation may select __typename %s', async (caption, documentOf) => {
    const before = await app.commitCount(nid)
    const { updateAssetMetadata, ...others } = expectOk(await user.graphql(documentOf(update(caption))))
    expect(updateAssetMetadata).toEqual({ asset: { caption } })
    expect(new Set(Object.values(others))).toEqual(new Set(['Mutation']))
    expect(await app.commitCount(nid)).toBe(before + 1)
  })

  it('a mutation may consist of __typename only', async () => {
    expect(expectOk(await user.graphql('mutation { __typename }'))).toEqual({ __typename: 'Mutation' })
  })

  it('rejects a mutation with __typename and two other fields', async () => {
    expectError(await user.graphql(`mutation { __typename a: ${update('a')} b: ${update('b')} }`), 'VALIDATION_FAILED')
  })

  it('a mutation with __typename returns no data if its other field fails', async () => {
    const document = 'mutation { __typename updateAssetMetadata(input: { id: "none" }) { asset { id } } }'
    expect(expectError(await user.graphql(document), 'NOT_FOUND').body.data ?? null).toBeNull()
  })
})

it('the limit of root fields does not count __typename', async () => {
  const { rootFields } = documentLimits
  const prices = (count: number) => times(count, (i) => `p${i}: pricing { total }`)
  expectOk(await user.graphql(`{ __typename ${prices(rootFields)} }`))
  const refused = expectError(await user.graphql(`{ __typename ${prices(rootFields + 1)} }`), 'VALIDATION_FAILED')
  expect(refused.body.errors[0].message).toContain('root fields')
})
