/** Lookup of registered files in both APIs and on the page, limited to assets that the caller can access. */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import type { GraphQL } from '../../support/graphql-client.ts'
import type { Rest } from '../../support/rest-client.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp({ env: { LIMITS: 'requests-per-address=60' } })
const [owner, stranger] = await Promise.all([app.newUser({ num: '100' }), app.newUser()])

const LOOKUP =
  'query ($sha256: String, $cid: String, $first: Int, $after: String) { lookup(sha256: $sha256, cid: $cid, first: $first, after: $after) { totalCount pageInfo { endCursor hasNextPage } nodes { id proofHash commitCount } } }'
const file = (text: string) => new File([text], 'file.txt', { type: 'text/plain' })
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const byGraphQL = async (asked: object, { graphql }: { graphql: GraphQL } = app) =>
  expectOk(await graphql(LOOKUP, asked)).lookup
const idsByRest = async (query: string, { rest }: { rest: Rest } = app) => {
  const { count, results } = expectOk(await rest('GET', `lookup/?${query}`))
  const ids = results.map(({ id }: { id: string }) => id)
  expect(count).toBe(ids.length)
  return ids
}

const shown = await owner.register({ asset_file: file('shown'), headline: '<Shown>', public_access: 'true' })
const hidden = await owner.register({ asset_file: file('hidden') })

it('a lookup finds a public file by its SHA-256 in any notation, or its CID', async () => {
  const hash = sha256('shown')
  for (const asked of [{ sha256: hash }, { sha256: hash.toUpperCase() }, { sha256: `0x${hash}` }, { cid: shown.id }]) {
    expect(await byGraphQL(asked)).toMatchObject({ totalCount: 1, nodes: [{ id: shown.id, proofHash: hash }] })
    expect(await idsByRest(new URLSearchParams(Object.entries(asked)).toString())).toEqual([shown.id])
  }
})

it('a lookup finds a private file only for its owner, and other callers see an unregistered file', async () => {
  const unknown = { totalCount: 0, nodes: [], pageInfo: { endCursor: null, hasNextPage: false } }
  for (const asked of [{ sha256: sha256('hidden') }, { cid: hidden.id }]) {
    expect((await byGraphQL(asked, owner)).nodes).toMatchObject([{ id: hidden.id }])
    expect(await byGraphQL(asked, stranger)).toEqual(unknown)
    expect(await byGraphQL(asked)).toEqual(await byGraphQL({ sha256: sha256('of nobody') }))
  }
  expect(await idsByRest(`sha256=${sha256('hidden')}`, stranger)).toEqual([])
  const page = async (text: string) =>
    (await app.rest('GET', `/lookup?file=${sha256(text)}`)).text.replaceAll(sha256(text), '')
  expect(await page('hidden')).toBe(await page('of nobody'))
})

it('a lookup does not find the file of a deleted asset', async () => {
  const { id } = await owner.register({ asset_file: file('gone'), public_access: 'true' })
  expectOk(await owner.rest('DELETE', `assets/${id}/`))
  expect(await idsByRest(`sha256=${sha256('gone')}`)).toEqual([])
})

it('a lookup returns all registrations of the same bytes in pages, oldest first', async () => {
  // The same bytes in a different block layout have a different CID.
  const copies = []
  for (const text of ['one', 'two', 'three']) {
    copies.push((await owner.register({ asset_file: file(text), public_access: 'true' })).id)
  }
  await app.sql('update assets set sha256 = $1 where nid = any ($2)', [sha256('same'), copies])
  const asked = { sha256: sha256('same') }
  expect(await idsByRest(`sha256=${asked.sha256}`)).toEqual(copies)
  const first = await byGraphQL({ ...asked, first: 2 })
  expect(first).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } })
  const rest = await byGraphQL({ ...asked, first: 2, after: first.pageInfo.endCursor })
  expect([...first.nodes, ...rest.nodes].map(({ id }) => id)).toEqual(copies)
  const next = new URL(expectOk(await app.rest('GET', `lookup/?sha256=${asked.sha256}&limit=2`)).next)
  expect([...next.searchParams]).toEqual([
    ['sha256', asked.sha256],
    ['limit', '2'],
    ['offset', '2'],
  ])
  const page = (await app.rest('GET', `/lookup?file=${asked.sha256}`)).text
  expect([...page.matchAll(/href="\/assets\/([^"]*)"/g)].map(([, id]) => id)).toEqual(copies)
})

it('a lookup rejects an invalid hash, and a hash together with a CID', async () => {
  const both = { sha256: sha256('shown'), cid: shown.id }
  for (const asked of [{}, both, { sha256: 'abc' }, { sha256: `${'a'.repeat(63)}g` }, { cid: 'bafy' }]) {
    expectError(await app.graphql(LOOKUP, asked), 'VALIDATION_FAILED')
    expectError(await app.rest('GET', `lookup/?${new URLSearchParams(Object.entries(asked))}`), 'VALIDATION_FAILED')
  }
})

it("the lookup page works without scripts, in the reader's language, without external requests", async () => {
  const hash = sha256('shown')
  const empty = await app.rest('GET', '/lookup')
  expect([empty.status, empty.text.includes('Is this file registered?')]).toEqual([200, true])
  const policy = empty.headers.get('content-security-policy')!
  expect(policy).toMatch(/^default-src 'none'; .*form-action 'self'; frame-ancestors 'none'$/)
  expect(policy).not.toMatch(/connect-src|'unsafe-inline'|'unsafe-eval'|https?:/)
  const scripts = [...empty.text.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script]) => script!)
  expect(scripts).toHaveLength(1)
  expect(policy).toContain(`'sha256-${createHash('sha256').update(scripts[0]!).digest('base64')}'`)
  for (const given of [hash, ` ${hash.toUpperCase()}\n`, shown.id]) {
    const { status, text, headers } = await app.rest('GET', `/lookup?${new URLSearchParams({ file: given })}`)
    expect([status, headers.get('cache-control'), headers.get('x-robots-tag')]).toEqual([200, 'no-store', 'noindex'])
    expect(text).toContain('This file is registered')
    expect(text).toContain(`<a href="/assets/${shown.id}">`)
    expect(text).toContain('&lt;Shown&gt;')
  }
  const other = sha256('other')
  for (const line of [
    `${hash}  picture of ${other}.png`,
    `\\${hash} *a\\nb.png`,
    `SHA2-256(${other}.png)= ${hash}`,
    `SHA256 (a.png) = ${hash}`,
    `SHA256          ${hash.toUpperCase()}       C:\\a.png`,
    hash.match(/../g)!.join(' '),
  ]) {
    const { text } = await app.rest('GET', `/lookup?${new URLSearchParams({ file: line })}`)
    expect([line, text.includes('This file is registered')]).toEqual([line, true])
  }
  expect((await app.rest('GET', `/lookup?file=${sha256('of nobody')}`)).text).toContain('This proves nothing.')
  const chinese = { headers: { 'Accept-Language': 'zh-TW' } }
  expect((await app.rest('GET', `/lookup?file=${sha256('of nobody')}`, chinese)).text).toContain('這不能證明任何事。')
  const wrong = await app.rest('GET', '/lookup?file=%22%3E%3Cscript%3E')
  expect([wrong.status, /aria-invalid="true"/.test(wrong.text), wrong.text.includes('"><script>')]).toEqual([
    400,
    true,
    false,
  ])
  expect((await app.rest('POST', '/lookup', { urlencoded: { file: hash } })).text).toContain('This file is registered')
})

it('lookups count towards the rate limit of anonymous callers', async () => {
  const answers = []
  for (let n = 0; n < 61; n += 1) answers.push(await app.rest('GET', `/lookup?file=${sha256('shown')}`))
  const last = answers.at(-1)!
  expect([last.status, last.headers.has('retry-after')]).toEqual([429, true])
  expectError(await app.rest('GET', `lookup/?sha256=${sha256('shown')}`), 'THROTTLED')
  expectError(await app.graphql(LOOKUP, { sha256: sha256('shown') }), 'THROTTLED')
})
