/** The most frequent reads use one prepared statement each, and never fall back to Prisma. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createDatabase } from '../../../src/db/database.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const { fallbacks } = app.installation.database
const user = await app.newUser()
const other = await app.newUser()
const store = await createStore(app, { owner: await app.admin() })
const { id: nid } = await user.register({ caption: 'First' })
await user.register({ public_access: 'false' })
expectOk(await user.rest('PATCH', `assets/${nid}/`, { json: { caption: 'Second' } }))
const { id: order } = await store.order(user)
expectOk(await store.confirm(user, order))
await store.order(user)

const document = (name: string) =>
  readFileSync(new URL(`../../../bench/documents/${name}.graphql`, import.meta.url), 'utf8')

const paths = `assets/ assets/?limit=1 assets/?limit=1&offset=1 assets/${nid}/ assets/${nid}/history/
  assets/${nid}/history/?limit=1&offset=1 auth/users/me/ store/network-app-orders/
  store/network-app-orders/?limit=1&offset=1 store/network-app-orders/${order}/ events/ events/?limit=1 events/?after=1`

it.each(paths.split(/\s+/))('reads %s without falling back to Prisma, for every caller', async (path) => {
  const headers = path.startsWith('store/') ? store.service : {}
  expectOk(await user.rest('GET', path, { headers }))
  await other.rest('GET', path, { headers })
  await app.rest('GET', path, { headers })
  expect(Object.fromEntries(fallbacks)).toEqual({})
})

it.each(['Q1', 'Q2', 'Q3', 'M1'])('executes the benchmark document %s without falling back to Prisma', async (name) => {
  const answer = await user.graphql(document(name), { id: nid, caption: name, message: 'reported' })
  expect(answer.body).toEqual({ data: expect.anything() })
  expect(Object.fromEntries(fallbacks)).toEqual({})
})

const commits = 'nodes { id message createdAt status transactionHash }'
const pageField = (list: string, fields: string) =>
  `page: ${list}(first: 1, after: $after) { ${fields} pageInfo { endCursor hasNextPage } }`
const page = (list: string, fields: string) => `query ($after: String) { ${pageField(list, fields)} }`

it.each([
  ['assets', page('assets', `nodes { id caption owner { username } commits(first: 2) { ${commits} } }`)],
  ['the caller’s assets', `query ($after: String) { me { ${pageField('assets', 'nodes { id } totalCount')} } }`],
  ['orders', page('orders', 'nodes { id status price } totalCount')],
  ['events', page('events', 'nodes { id type }')],
])('reads two pages of %s through GraphQL without falling back to Prisma', async (_, text) => {
  const first = await user.graphql(text)
  const { page } = first.body.data.me ?? first.body.data
  expect(page.nodes).toHaveLength(1)
  const next = await user.graphql(text, { after: page.pageInfo.endCursor })
  expect((next.body.data.me ?? next.body.data).page.nodes).toHaveLength(1)
  expect(Object.fromEntries(fallbacks)).toEqual({})
})

it('counts and logs a read that falls back to Prisma', async () => {
  const reported: unknown[] = []
  const log = { ...app.log, debug: (fields: object, message: string) => reported.push({ ...fields, message }) }
  const database = createDatabase({ url: app.env.DATABASE_URL!, pool: 2, log })
  try {
    await database.read.user.findFirst({ where: { username: user.username } })
    expect(database.fallbacks.size).toBe(0)
    for (const username of ['x', user.username.slice(1)])
      await database.read.user.findFirst({ where: { username: { contains: username } } })
    expect(Object.fromEntries(database.fallbacks)).toEqual({ 'User.findFirst': 2 })
    expect(reported).toEqual(Array(2).fill({ read: 'User.findFirst', message: 'Read executed by Prisma' }))
  } finally {
    await database.close()
  }
})
