/** Compiled reads return exactly the executor's response, for documents of the benchmark, of routes and of random queries. */

import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import {
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  getNamedType,
  getOperationAST,
  parse,
  validate,
} from 'graphql'
import { describe, expect, it } from 'vitest'
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
const documentOf = (name: string) =>
  readFileSync(new URL(`../../../bench/documents/${name}.graphql`, import.meta.url), 'utf8')

const page = '{ nodes { id message createdAt } }'

it.each([
  ['Q1', documentOf('Q1')],
  ['Q2', documentOf('Q2')],
  ['Q3', documentOf('Q3')],
  [
    'cursors and page information',
    '{ me { assets(first: 1) { totalCount edges { cursor node { id } } pageInfo { endCursor hasNextPage hasPreviousPage } } } }',
  ],
  ['a backward page', 'query ($n: Int) { me { assets(last: $n) { nodes { id } pageInfo { startCursor } } } }'],
  ['a backward page without page information', 'query ($n: Int) { me { assets(last: $n) { nodes { id } } } }'],
  ['an empty page', '{ me { assets(first: 0) { nodes { id } } } }'],
  [
    'fragments and aliases',
    `query ($id: ID!) { a: asset(id: $id) { __typename ...F ... on Node { id } b: caption } } fragment F on Asset { caption owner { username email } c: commits(first: 2) ${page} }`,
  ],
  [
    'nested relations',
    'query ($id: ID!) { asset(id: $id) { registration { sequence committer author } creator { address wallet { num spendable } } } }',
  ],
  ['an object that needs its own read', `{ order(id: "${order}") { id buyer { username email wallet { num } } } }`],
  ['__typename at the root', 'query ($id: ID!) { __typename asset(id: $id) { id } type: __typename }'],
  ['a list', 'query ($name: String!) { users(search: $name) { id username email } }'],
])("returns the executor's response for %s", async (_, text) => {
  const document = parse(text)
  for (const asker of askers) {
    for (const id of [shown, hidden, 'nonsense']) {
      const variables = { id, n: 1, name: user.username }
      const { compiled, executed } = await answersOf(document, variables, asker)
      expect(compiled).toBe(executed)
    }
  }
})

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
])('leaves %s to the executor', async (_, text) => {
  const document = parse(text)
  const read = compileOperation(schema, document, getOperationAST(document)!)
  expect(await read?.(askers[0]!, { n: 'many' })).toBeUndefined()
})

it('leaves a caller with an invalid token to the executor', async () => {
  const { compiled, executed } = await answersOf(parse('{ me { id } }'), {}, await contextOf(app, 'stale'))
  expect([compiled, JSON.parse(executed).codes]).toEqual([undefined, ['AUTHENTICATION_FAILED']])
})

it('leaves a null in a non-null field to the executor, which reports it', async () => {
  const thing = new GraphQLObjectType({ name: 'Thing', fields: { name: { type: new GraphQLNonNull(GraphQLString) } } })
  const schemaOf = (row: object) => {
    const read = () => row
    const fields = { thing: { type: thing, resolve: read, extensions: { read } } }
    return new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) })
  }
  const document = parse('{ thing { name } }')
  const ask = (row: object) => compileOperation(schemaOf(row), document, getOperationAST(document)!)?.(askers[0]!, {})
  expect(await ask({ name: 'any' })).toEqual({ data: { thing: { name: 'any' } } })
  expect(await ask({ name: null })).toBeUndefined()
})

it('leaves nested rows that need a resolver to the executor', () => {
  const facts = { pothosPrismaModel: 'Thing', pothosPrismaTypeSelection: { select: { id: true } } }
  const find = () => ({ id: 'found' })
  const found = { resolve: find, extensions: { ownResolver: find } }
  const thing: GraphQLObjectType = new GraphQLObjectType({
    name: 'Thing',
    extensions: facts,
    fields: () => ({ id: { type: GraphQLString }, found: { type: thing, ...found } }),
  })
  const read = () => ({ id: 'read' })
  const fields = { thing: { type: thing, resolve: read, extensions: { read } } }
  const made = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) })
  const compiled = (text: string) => compileOperation(made, parse(text), getOperationAST(parse(text))!)
  expect(compiled('{ thing { id } }')).toBeDefined()
  expect(compiled('{ thing { found { id } } }')).toBeUndefined()
})

const roots = [
  'me',
  `asset(id: "${shown}")`,
  `asset(id: "${hidden}")`,
  `order(id: "${order}")`,
  'users(search: "user")',
]

describe('a compiled random query', () => {
  it("returns the executor's response", async () => {
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
})
