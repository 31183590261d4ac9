/** Compiled reads return exactly the executor's response, for documents of the benchmark, of routes and of random queries. */

import fc from 'fast-check'
import { type GraphQLObjectType, getNamedType, getOperationAST, parse, validate } from 'graphql'
import { expect, it } from 'vitest'
import { compileOperation } from '../../../src/graphql/fast-path/compile-operation.ts'
import { answersOf, contextOf } from '../../support/compiled-answers.ts'
import { schema } from '../../support/full-api.ts'
import { selectionOf, withVariables } from '../../support/made-selections.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()
const other = await app.newUser()
const admin = await app.admin()
const store = await createStore(app, { owner: admin })
const { id: shown } = await user.register({ public_access: 'true', caption: 'Shown "first" \u2028 ä' })
const { id: hidden } = await user.register({ public_access: 'false', tag: 'hidden' })
await other.register({ public_access: 'true' })
for (const caption of ['second', 'third', 'fourth']) await user.rest('PATCH', `assets/${shown}/`, { json: { caption } })
const { id: order } = await store.order(user)
await store.confirm(user, order)

const askers = await Promise.all(
  [user.token, other.token, admin.token, undefined].map((token) => contextOf(app, token)),
)

it.each([
  ['a field with @skip', 'query ($a: Boolean = true) { me { id @skip(if: $a) email } }'],
  ['a fragment with @include', '{ me { id ...F @include(if: true) } } fragment F on User { email }'],
  ['several root fields', '{ me { id } pricing { total } }'],
  [
    'one relation with two different arguments',
    '{ me { a: assets(first: 1) { nodes { id } } b: assets(last: 1) { nodes { id } } } }',
  ],
  ['a field without a compiled read', '{ pricing { total } }'],
  ['variables of a wrong type', 'query ($n: Int!) { me { assets(first: $n) { nodes { id } } } }'],
])('the fast path leaves %s to the GraphQL executor', async (_, text) => {
  const document = parse(text)
  const read = compileOperation(schema, document, getOperationAST(document)!)
  expect(await read?.(askers[0]!, { n: 'many' })).toBeUndefined()
})

it('the fast path leaves a caller with an invalid token to the GraphQL executor', async () => {
  const { compiled, executed } = await answersOf(parse('{ me { id } }'), {}, await contextOf(app, 'stale'))
  expect([compiled, JSON.parse(executed).codes]).toEqual([undefined, ['AUTHENTICATION_FAILED']])
})

const roots = [
  'me',
  `asset(id: "${shown}")`,
  `asset(id: "${hidden}")`,
  `order(id: "${order}")`,
  'users(search: "user")',
]

it('a compiled random query returns the same response as the GraphQL executor', async () => {
  let compiledOnes = 0
  let valid = 0
  const query = schema.getQueryType()!.getFields()
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.nat(1_000_000)), fc.nat(), fc.nat(), async (numbers, at, who) => {
      const pick = (count: number) => numbers.next().value! % count
      const root = roots[at % roots.length]!
      const type = getNamedType(query[/^\w+/.exec(root)![0]]!.type) as GraphQLObjectType
      const document = parse(withVariables('query', `{ ${root} ${selectionOf(type, pick)} }`))
      if (validate(schema, document).length > 0) return
      valid += 1
      const { compiled, executed } = await answersOf(document, {}, askers[who % askers.length]!)
      if (compiled === undefined) return
      compiledOnes += 1
      expect(compiled).toBe(executed)
    }),
    { numRuns: Number(process.env.COMPILED_READS_RUNS ?? 150), seed: 36, endOnFailure: true },
  )
  expect(compiledOnes).toBeGreaterThan(valid / 3)
})
