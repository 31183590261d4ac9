import { describe, expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser()
const other = await app.newUser()
const own: { id: string; proof_hash: string }[] = []
for (let i = 0; i < 5; i++) own.push(await user.register({ tag: i % 2 ? 'odd' : 'even', public_access: String(i < 2) }))
await other.register({ public_access: 'true', tag: 'odd' })
await other.register({ tag: 'odd' })

const newestFirst = own.map(({ id }) => id).reverse()
const idsOf = ({ results }: { results: { id: string }[] }) => results.map(({ id }) => id)
const list = async (query = '', rest = user.rest) => expectOk(await rest('GET', `assets/${query}`))

describe('lists of assets', () => {
  it("the list of assets contains the caller's own assets, newest first", async () => {
    const page = await list()
    expect(page).toEqual({ count: 5, next: null, previous: null, results: expect.any(Array) })
    expect(idsOf(page)).toEqual(newestFirst)
  })

  it('the list of assets shows anonymous callers public assets without owner addresses', async () => {
    const page = await list('', app.rest)
    expect(page.count).toBe(3)
    expect(
      page.results.every((asset: object) => !('owner' in asset) && (asset as { public_access: boolean }).public_access),
    ).toBe(true)
  })

  it.each([
    '?limit=0',
    '?limit=rubbish',
    '?limit=-1',
    '?limit=',
    '?limit=1e3',
    '?offset=rubbish',
    '?offset=-2',
    '?unknown=x&unknown=y',
    '?page=&page_size=&ordering=&limit=&offset=',
  ])('the list of assets uses the default for the invalid parameter %s', async (query) => {
    const page = await list(query)
    expect([page.count, page.next, page.previous, page.results.length]).toEqual([5, null, null, 5])
  })

  it('the list of assets can be read in both directions through absolute links, without gaps or duplicates', async () => {
    let page = await list('?limit=2')
    const seen = idsOf(page)
    const pages = [page]
    while (page.next) {
      expect(page.next.startsWith(`${app.url}/api/v3/assets/?`)).toBe(true)
      page = expectOk(await user.rest('GET', page.next.slice(app.url.length)))
      pages.push(page)
      seen.push(...idsOf(page))
    }
    expect(seen).toEqual(newestFirst)
    expect(pages.map(({ results }) => results.length)).toEqual([2, 2, 1])
    const first = pages[0]!
    while (page.previous) page = expectOk(await user.rest('GET', page.previous.slice(app.url.length)))
    expect(page).toEqual(first)
  })

  it('the list of assets is empty beyond its end and links to the previous page', async () => {
    expect(await list('?offset=50&limit=10')).toEqual({
      count: 5,
      next: null,
      previous: `${app.url}/api/v3/assets/?limit=10&offset=40`,
      results: [],
    })
  })

  it.each(['2147483647', '2147483648', '99999999999999999999'])(
    'the list of assets treats the offset %s as the maximum',
    async (most) => {
      expect(await list(`?offset=${most}`)).toMatchObject({ next: null, results: [] })
      const page = await list(`?limit=${most}&offset=1`)
      expect([new URL(page.previous).searchParams.get('limit'), page.results.length]).toEqual(['1000', 4])
    },
  )
})

describe('filters of assets', () => {
  it.each([
    ['owner', () => `?owner=${encodeURIComponent(user.email)}`, 5],
    ['owner in a different case', () => `?owner=${encodeURIComponent(user.email.toUpperCase())}`, 5],
    ['an unknown owner', () => '?owner=nobody@example.org', 0],
    ['proof_hash', () => `?proof_hash=${own[3]!.proof_hash}`, 1],
    ['proof_hash in upper case', () => `?proof_hash=${own[3]!.proof_hash.toUpperCase()}`, 1],
    ['proof_hash with 0x', () => `?proof_hash=0x${own[3]!.proof_hash}`, 1],
    ['an invalid proof_hash', () => '?proof_hash=rubbish', 0],
    ['tag', () => '?tag=even', 3],
    ['is_original_owner', () => `?is_original_owner=true&owner=${encodeURIComponent(user.email)}`, 5],
    ['is_original_owner', () => '?is_original_owner=false', 0],
    ['is_original_owner as a Python boolean', () => '?is_original_owner=False', 0],
    ['tag and owner together', () => `?tag=odd&owner=${encodeURIComponent(user.email)}`, 2],
  ])('the asset filter by %s returns the matching assets', async (_, query, count) => {
    const page = await list(query())
    expect([page.count, page.results.length]).toEqual([count, count])
  })

  it('the asset filter by an e-mail address accepts a + with and without percent-encoding', async () => {
    const email = 'Ada+Photos@example.org'
    const ada = await app.newUser()
    await app.sql('update users set email = $1 where email = $2', [email, ada.email])
    await ada.register({ public_access: 'true' })
    for (const owner of [encodeURIComponent(email), email, email.toLowerCase(), `${email}%0A`]) {
      expect((await list(`?owner=${owner}`, app.rest)).count, owner).toBe(1)
    }
  })

  it.each([
    ['is_original_owner=true', { isOriginalOwner: true }],
    ['tag=odd', { tag: 'odd' }],
    ['proof_hash', { proofHash: own[0]!.proof_hash }],
  ])("the asset filter by %s returns only the user's own assets in both APIs", async (name, filter) => {
    const query = name === 'proof_hash' ? `?proof_hash=${own[0]!.proof_hash}` : `?${name}`
    const newcomer = await app.newUser()
    const LIST = 'query ($filter: AssetFilter) { assets(filter: $filter) { totalCount nodes { isOwn } } }'
    expect((await list(query, newcomer.rest)).count).toBe(0)
    expect(expectOk(await newcomer.graphql(LIST, { filter })).assets).toEqual({ totalCount: 0, nodes: [] })
    expect((await list(query, app.rest)).count).toBeGreaterThan(0)
    expect(expectOk(await app.graphql(LIST, { filter })).assets.totalCount).toBeGreaterThan(0)
    const mine = await list(query)
    expect(mine.count).toBeGreaterThan(0)
    expect(mine.results.every(({ owner }: { owner?: string }) => owner === user.email)).toBe(true)
    const { nodes } = expectOk(await user.graphql(LIST, { filter })).assets
    expect(nodes).toEqual(mine.results.map(() => ({ isOwn: true })))
  })
})
