/** Compiled reads answer what the executor answers, to the letter: on the documents of the benchmark, of routes, and on any others. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import {
  type DocumentNode,
  execute,
  type GraphQLField,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  getNamedType,
  getOperationAST,
  isObjectType,
  parse,
  validate,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import type { Context } from '../../src/context.ts'
import { compileRead } from '../../src/graphql/compiled/compile-read.ts'
import { schema } from '../../src/graphql/schema.ts'
import { createStore } from '../support/store.ts'
import { createTestApp } from '../support/test-app.ts'

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

async function contextOf(token: string | undefined): Promise<Context> {
  const credentials = { token, apiKey: undefined, address: '127.0.0.1' }
  return {
    ...(await app.services.accounts.authenticate(credentials)),
    services: app.services,
    database: app.installation.database,
    linkConfig: app.linkConfig,
    log: app.log,
    cutsPages: false,
    idempotency: { key: undefined, replayed: false },
  }
}

const askers = await Promise.all([user.token, other.token, admin.token, undefined, 'stale'].map(contextOf))
const documentOf = (name: string) =>
  readFileSync(new URL(`../../bench/documents/${name}.graphql`, import.meta.url), 'utf8')

/** Both answers as they are sent; of the compiled read, undefined when there is none. */
async function answersOf(document: DocumentNode, variableValues: Record<string, unknown>, contextValue: Context) {
  const read = compileRead(schema, document, getOperationAST(document)!)
  const compiled = await read?.(contextValue, variableValues)
  const executed = await execute({ schema, document, variableValues, contextValue })
  return { compiled: compiled && JSON.stringify(compiled), executed: JSON.stringify(executed) }
}

const page = '{ nodes { id message createdAt } }'

it.each([
  ['Q1', documentOf('Q1')],
  ['Q2', documentOf('Q2')],
  ['Q3', documentOf('Q3')],
  [
    'cursors and positions',
    '{ me { assets(first: 1) { totalCount edges { cursor node { id } } pageInfo { endCursor hasNextPage hasPreviousPage } } } }',
  ],
  ['a page backwards', 'query ($n: Int) { me { assets(last: $n) { nodes { id } pageInfo { startCursor } } } }'],
  ['a page backwards of nothing but rows', 'query ($n: Int) { me { assets(last: $n) { nodes { id } } } }'],
  ['an empty page', '{ me { assets(first: 0) { nodes { id } } } }'],
  [
    'fragments and other names',
    `query ($id: ID!) { a: asset(id: $id) { __typename ...F ... on Node { id } b: caption } } fragment F on Asset { caption owner { username email } c: commits(first: 2) ${page} }`,
  ],
  [
    'relations of relations',
    'query ($id: ID!) { asset(id: $id) { registration { sequence committer author } creator { address wallet { num spendable } } } }',
  ],
  ['a list', 'query ($name: String!) { users(search: $name) { id username email } }'],
])('answers %s as the executor does', async (_, text) => {
  const document = parse(text)
  for (const asker of askers) {
    for (const id of [shown, hidden, 'nonsense']) {
      const { compiled, executed } = await answersOf(document, { id, n: 1, name: user.username }, asker)
      expect(compiled).toBe(executed)
    }
  }
})

it.each([
  ['what variables decide', 'query ($is: Boolean = true) { me { id @include(if: $is) } }'],
  ['several fields at the root', '{ me { id } pricing { total } }'],
  ['one relation in two ways', '{ me { a: assets(first: 1) { nodes { id } } b: assets(last: 1) { nodes { id } } } }'],
  ['a change', 'mutation { signOut { ok: __typename } }'],
  ['what is no read', '{ pricing { total } }'],
  ['an object that a resolver finds', `{ order(id: "${order}") { buyer { username } } }`],
  ['variables that do not fit', 'query ($n: Int!) { me { assets(first: $n) { nodes { id } } } }'],
])('leaves %s to the executor', async (_, text) => {
  const document = parse(text)
  const read = compileRead(schema, document, getOperationAST(document)!)
  expect(await read?.(askers[0]!, { n: 'many' })).toBeUndefined()
})

it('leaves a null where none may be to the executor, which tells of it', async () => {
  const thing = new GraphQLObjectType({ name: 'Thing', fields: { name: { type: new GraphQLNonNull(GraphQLString) } } })
  const schemaOf = (row: object) => {
    const read = () => row
    const fields = { thing: { type: thing, resolve: read, extensions: { read } } }
    return new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) })
  }
  const document = parse('{ thing { name } }')
  const ask = (row: object) => compileRead(schemaOf(row), document, getOperationAST(document)!)?.(askers[0]!, {})
  expect(await ask({ name: 'any' })).toEqual({ data: { thing: { name: 'any' } } })
  expect(await ask({ name: null })).toBeUndefined()
})

/** Made by the moment. */
const unlike = new Set(['assetFile', 'assetFileThumbnail', 'thumbnailUrl'])
const roots = [
  'me',
  `asset(id: "${shown}")`,
  `asset(id: "${hidden}")`,
  `order(id: "${order}")`,
  'users(search: "user")',
]
const pages = ['', '(first: 2)', '(first: 1)', '(last: 1)', '(last: 0)', '(first: $n)', '(first: 200)']
const MOST_FIELDS = 5
const DEPTH = 4

/** A selection on a type, made up by `pick`. */
function selectionOf(type: GraphQLObjectType, depth: number, pick: (count: number) => number): string {
  const fields = Object.values(type.getFields()).filter(({ name }) => !unlike.has(name))
  const leaves = fields.filter((field) => !isObjectType(getNamedType(field.type)))
  const from = depth > 0 ? fields : leaves
  const chosen = Array.from({ length: 1 + pick(MOST_FIELDS) }, () => from[pick(from.length)] ?? leaves[0])
  const asked = chosen.flatMap((field) => (field ? [fieldOf(field, depth, pick)] : []))
  const text = [...asked, ...(pick(4) === 0 ? ['__typename'] : [])].join(' ')
  return pick(5) === 0 ? `{ ... on ${type.name} { ${text} } }` : `{ ${text} }`
}

function fieldOf(field: GraphQLField<unknown, unknown>, depth: number, pick: (count: number) => number): string {
  const named = getNamedType(field.type)
  const alias = pick(6) === 0 ? `other${pick(3)}: ` : ''
  const args = named.name.endsWith('Connection') ? pages[pick(pages.length)] : ''
  const below = isObjectType(named) ? selectionOf(named, depth - 1, pick) : ''
  return `${alias}${field.name}${args} ${below}`
}

describe('any document', () => {
  it('is answered as the executor does', async () => {
    let compiledOnes = 0
    let valid = 0
    const query = schema.getQueryType()!.getFields()
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(1_000_000)), fc.nat(), fc.nat(), async (numbers, at, who) => {
        const pick = (count: number) => numbers.next().value! % count
        const root = roots[at % roots.length]!
        const type = getNamedType(query[/^\w+/.exec(root)![0]]!.type) as GraphQLObjectType
        const asked = `{ ${root} ${selectionOf(type, DEPTH, pick)} }`
        const document = parse(asked.includes('$n') ? `query ($n: Int = 2) ${asked}` : asked)
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
