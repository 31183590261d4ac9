import { afterAll, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const LENGTH = 10_200
const app = await createTestApp()
const owner = await app.newUser()
const stranger = await app.newUser()
const { uuid, id: nid } = await owner.register({ public_access: 'true' })

interface Page {
  next: string | null
  previous: string | null
  results: { uuid: string }[]
}
const get = async (link: string): Promise<Page> => expectOk(await stranger.rest('GET', link.replace(app.url, '')))

const quickly = (statements: string[]) =>
  app.sql(`do $do$ begin set local session_replication_role = replica; ${statements.join('; ')}; end $do$`)

// Inserts assets up to `LENGTH`, each with a commit. They are deleted before the invariants are checked.
await quickly([
  `insert into assets select copy.* from assets a, generate_series(2, ${LENGTH}) n,
     jsonb_populate_record(a, jsonb_build_object('id', uuidv7(), 'nid', a.nid || n)) copy`,
  `insert into commits select copy.* from commits c, assets a,
     jsonb_populate_record(c, jsonb_build_object('id', a.id, 'asset_id', a.id)) copy where a.id <> c.asset_id`,
  `insert into commit_relays select copy.* from commit_relays r, commits c,
     jsonb_populate_record(r, jsonb_build_object('commit_id', c.id)) copy where c.id <> r.commit_id`,
])
afterAll(() =>
  quickly([
    'delete from commit_relays r using commits c where c.id = r.commit_id and c.id = c.asset_id',
    'delete from commits where id = asset_id',
    `delete from assets where id <> '${uuid}'`,
  ]),
)

it("links all pages of another user's long list in both directions, without gaps or duplicates", async () => {
  const query = `owner=${encodeURIComponent(owner.email)}&unknown=kept`
  const pages = [await get(`/api/v3/assets/?${query}&limit=100&offset=9950`)]
  while (pages.at(-1)!.next) pages.push(await get(pages.at(-1)!.next!))
  expect(pages.map(({ results }) => results.length)).toEqual([100, 100, 50])
  expect(new Set(pages.flatMap(({ results }) => results.map((asset) => asset.uuid))).size).toBe(250)
  expect(pages[1]!.next).toMatch(/\?owner=[^&]*&unknown=kept&limit=100&offset=10150&after=\w+$/)
  let page = pages.at(-1)!
  for (const { results } of pages.slice(0, -1).reverse()) {
    page = await get(page.previous!)
    expect(page.results).toEqual(results)
  }
  expect(page.previous).toBe(`${app.url}/api/v3/assets/?${query}&limit=100&offset=9850`)
  expect(page.next).toBe(pages[0]!.next)
})

it('searches and sorts the newest 10,000 assets of another user, and all assets of the caller', async () => {
  const ends = `id in ('${uuid}', (select max(id::text)::uuid from assets))`
  await app.sql(`update assets set headline = 'needle' where ${ends}`)
  const count = async (query: string, { rest } = stranger) =>
    expectOk(await rest('GET', `assets/?owner=${encodeURIComponent(owner.email)}&limit=1&${query}`)).count
  expect(await count('search=needle')).toBe(1)
  expect(await count('search=needle', owner)).toBe(2)
  expect(await count('ordering=-updated_at')).toBe(10_000)
  expect(await count('ordering=-updated_at', owner)).toBe(LENGTH)
  await app.sql(`update assets set headline = '' where ${ends}`)
})

it('counts at most 10,000 assets of another user, or for an anonymous caller', async () => {
  const countOf = async (rest: typeof app.rest) => expectOk(await rest('GET', 'assets/?limit=1')).count
  expect(await countOf(app.rest)).toBe(10_000)
  expect(await countOf(owner.rest)).toBe(LENGTH)
  const document = `query ($nid: ID!, $owner: String) { asset(id: $nid) { owner { assets(first: 1) { totalCount } } }
    assets(first: 1, filter: { owner: $owner }) { totalCount } }`
  const { asset, assets } = expectOk(await app.graphql(document, { nid, owner: owner.email }))
  expect([asset.owner.assets.totalCount, assets.totalCount]).toEqual([10_000, 10_000])
})

it("accepts high page numbers for another user's assets, and returns 404 beyond the last page", async () => {
  const query = `owner=${encodeURIComponent(owner.email)}&page_size=100`
  const pages = [await get(`/api/v3/assets/?${query}&page=101`)]
  while (pages.at(-1)!.next) pages.push(await get(pages.at(-1)!.next!))
  expect(pages.map(({ results }) => results.length)).toEqual([100, 100])
  expect(pages[0]!.next).toMatch(/&page=102&after=\w+$/)
  expect((await get(pages[1]!.previous!)).results).toEqual(pages[0]!.results)
  const last = await get(`/api/v3/assets/?${query}&page=last`)
  expect([last.next, last.results]).toEqual([null, pages[1]!.results])
  expectError(await stranger.rest('GET', `assets/?${query}&page=103`), 'NOT_FOUND')
  expectError(await stranger.rest('GET', `assets/?${query}&page=102`), 'VALIDATION_FAILED')
})

it('rejects an invalid list cursor at high offsets, and ignores the cursor at low offsets', async () => {
  expectError(await stranger.rest('GET', 'assets/?owner=x@example.org&offset=10001&after=rubbish'), 'VALIDATION_FAILED')
  expectOk(await stranger.rest('GET', 'assets/?after=rubbish&before=rubbish'))
})
