/** A page continues after the previous one, even if entries have left the list. No entry is skipped or repeated. */
import { expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { createStore } from '../../support/store.ts'
import { createTestApp, type SignedIn } from '../../support/test-app.ts'

const app = await createTestApp()
const admin = await app.admin()

interface Page {
  nodes: { id: string }[]
  pageInfo: { startCursor: string; endCursor: string; hasNextPage: boolean; hasPreviousPage: boolean }
}
interface List {
  ids: string[]
  page(args: string): Promise<Page>
  leave(id: string): Promise<unknown>
}

const fields = '{ nodes { id } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } }'
const SIZE = 6

async function assetsOf(owner: SignedIn, tag: string): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < SIZE; at++) ids.unshift((await owner.register({ public_access: 'true', tag })).id)
  return ids
}

const lists: Record<string, () => Promise<List>> = {
  async 'another user’s assets, one becomes private'() {
    const owner = await app.newUser()
    return {
      ids: await assetsOf(owner, 'any'),
      page: async (args) =>
        expectOk(await app.graphql(`{ node(id: "${owner.publicId}") { ... on User { assets(${args}) ${fields} } } }`))
          .node.assets,
      leave: async (id) => expectOk(await owner.rest('PATCH', `assets/${id}/`, { json: { public_access: false } })),
    }
  },
  async 'the assets with a tag, one gets another tag'() {
    const owner = await app.newUser()
    return {
      ids: await assetsOf(owner, 'sea'),
      page: async (args) =>
        expectOk(await owner.graphql(`{ assets(filter: { tag: "sea" }, ${args}) ${fields} }`)).assets,
      leave: async (id) => expectOk(await owner.rest('PATCH', `assets/${id}/`, { json: { tag: 'land' } })),
    }
  },
  async 'unpaid orders, one is paid'() {
    const buyer = await app.newUser()
    const store = await createStore(app, { owner: admin, price: '0.1' })
    const ids: string[] = []
    for (let at = 0; at < SIZE; at++) ids.unshift((await store.order(buyer)).id)
    return {
      ids,
      page: async (args) => expectOk(await buyer.graphql(`{ orders(status: CREATED, ${args}) ${fields} }`)).orders,
      leave: async (id) => expectOk(await store.confirm(buyer, id)),
    }
  },
}

const idsOf = ({ nodes }: Page) => nodes.map(({ id }) => id)

it.each(Object.entries(lists))(
  'the next page is correct after the last entry of a page leaves the list: %s',
  async (_, make) => {
    const { ids, page, leave } = await make()
    const first = await page('first: 3')
    expect(idsOf(first)).toEqual(ids.slice(0, 3))
    expect(idsOf(await page(`first: 2, after: "${first.pageInfo.endCursor}"`))).toEqual(ids.slice(3, 5))
    await leave(ids[2]!)
    const next = await page(`first: 2, after: "${first.pageInfo.endCursor}"`)
    expect([idsOf(next), next.pageInfo.hasNextPage]).toEqual([ids.slice(3, 5), true])
    const before = await page(`last: 1, before: "${first.pageInfo.endCursor}"`)
    expect([idsOf(before), before.pageInfo.hasPreviousPage]).toEqual([ids.slice(1, 2), true])
    const last = await page(`first: 9, after: "${next.pageInfo.endCursor}"`)
    expect([idsOf(last), last.pageInfo.hasNextPage]).toEqual([ids.slice(5), false])
  },
)
