/** An asset has one canonical identifier, and each API accepts it in every form of a CID. */
import { randomBytes } from 'node:crypto'
import { bases } from 'multiformats/basics'
import { CID } from 'multiformats/cid'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const small = await user.register({ asset_file: await newPicture({ width: 40, height: 30 }), public_access: 'true' })
const large = await user.register({
  asset_file: new File([randomBytes(1_100_000)], 'large.bin'),
  public_access: 'true',
})

const encode = (nid: string, base: keyof typeof bases) => bases[base].encode(CID.parse(nid).bytes)
const textsOf = (nid: string): Record<string, string> => ({
  ...Object.fromEntries(
    (Object.keys(bases) as (keyof typeof bases)[])
      .filter((base) => base !== 'identity')
      .map((base) => [base, encode(nid, base)]),
  ),
  'base 32 in mixed case': `B${nid.slice(1)}`,
  'ipfs://': `ipfs://${nid}`,
  'ipfs:// with a slash': `ipfs://${nid}/`,
  'ipfs:// and base 58': `ipfs://${encode(nid, 'base58btc')}`,
  '/ipfs/': `/ipfs/${nid}`,
  'white space': ` ${nid} `,
})

it.each([
  ...Object.entries(textsOf(small.id)).map(([name, text]) => [`a small file in ${name}`, small, text] as const),
  ...Object.entries(textsOf(large.id)).map(([name, text]) => [`a large file in ${name}`, large, text] as const),
  ['the CIDv0 of a large file', large, CID.parse(large.id).toV0().toString()] as const,
  ['an ipfs:// URL with the CIDv0 of a large file', large, `ipfs://${CID.parse(large.id).toV0()}`] as const,
])('both APIs read an asset by %s', async (_, { id }, text) => {
  const segment = encodeURIComponent(text)
  expect(expectOk(await app.rest('GET', `assets/${segment}/`))).toMatchObject({ id, cid: id })
  expect(expectOk(await app.rest('GET', `history/?nid=${segment}`)).nid).toBe(id)
  expect(expectOk(await app.rest('GET', `lookup/?cid=${segment}`)).results).toMatchObject([{ id }])
  const query =
    'query ($id: ID!, $cid: String!) { asset(id: $id) { id } node(id: $id) { id } lookup(cid: $cid) { nodes { id } } }'
  const { asset, node, lookup } = expectOk(await app.graphql(query, { id: text, cid: text }))
  expect([asset.id, node.id, lookup.nodes]).toEqual([id, id, [{ id }]])
  for (const format of ['', '?format=raw']) {
    const { status, headers } = await app.rest('HEAD', `/ipfs/${segment}${format}`)
    expect([status, headers.get('x-ipfs-path')]).toEqual([200, `/ipfs/${id}`])
  }
  const page = await app.rest('GET', `/assets/${segment}`)
  expect(page.status).toBe(200)
  expect(page.text).toContain(`rel="canonical" href="${app.url}/assets/${id}"`)
})

const uri = `ipfs://${encode(small.id, 'base36')}`
const path = `assets/${encodeURIComponent(uri)}/`

describe('asset IDs in an alternative form', () => {
  it('REST updates, quotes and links accept an asset ID in an alternative form', async () => {
    expect(expectOk(await user.rest('PATCH', path, { json: { caption: 'REST' } }))).toMatchObject({
      id: small.id,
      caption: 'REST',
    })
    expectOk(await user.rest('POST', `quotes/${path}`, { json: { caption: 'Quote' } }))
    for (const part of ['history/', 'tree/', 'content-credentials/', 'links/'])
      expect([part, (await user.rest('GET', `${path}${part}`)).status]).toEqual([part, 200])
    expect(expectOk(await user.rest('POST', `${path}download/`, { json: {} })).url).toContain(`/ipfs/${small.id}`)
    expect(expectOk(await user.rest('POST', `${path}links/`, { json: {} })).url).toContain(`/assets/${small.id}?`)
    expect((await app.rest('GET', `${path}c2pa/`)).status).toBe(200)
  })

  it('an asset ID in an alternative form replays the same idempotent request', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const first = await user.rest('PATCH', `assets/${small.id}/`, { json: { caption: 'Once' }, headers })
    const second = await user.rest('PATCH', `assets/${small.id.toUpperCase()}/`, { json: { caption: 'Once' }, headers })
    expect([first.status, second.status, second.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true'])
  })

  it('signed links accept an asset ID in an alternative form', async () => {
    const { id } = await user.register({ asset_file: await newPicture({ width: 40, height: 30 }) })
    const { search } = new URL(expectOk(await user.rest('GET', `assets/${id}/`)).asset_file)
    for (const address of [`/ipfs/${id.toUpperCase()}${search}`, `assets/${id.toUpperCase()}/c2pa/${search}`])
      expect((await app.rest('GET', address)).status).toBe(200)
    const link = new URL(expectOk(await user.rest('POST', `assets/${id}/links/`, { json: {} })).url)
    expect((await app.rest('GET', `/assets/${id.toUpperCase()}${link.search}`)).status).toBe(200)
  })
})

it.each([
  (nid: string) => `https://ipfs.io/ipfs/${nid}?filename=a.png`,
  (nid: string) => `https://${nid}.ipfs.dweb.link/`,
  (nid: string) => `${app.url}/ipfs/${encode(nid, 'base58btc')}`,
])('a lookup finds a file by its gateway URL (case %#)', async (urlOf) => {
  const url = encodeURIComponent(urlOf(small.id))
  expect(expectOk(await app.rest('GET', `lookup/?cid=${url}`)).results).toMatchObject([{ id: small.id }])
  const { status, text } = await app.rest('GET', `/lookup?file=${url}`)
  expect([status, text.includes(`href="/assets/${small.id}"`)]).toEqual([200, true])
})

it('a REST path accepts an ipfs:// asset ID without encoded slashes', async () => {
  for (const address of [
    `/api/v3/assets/ipfs://${small.id}/`,
    `/api/v3/assets/ipfs://${small.id}/history/?limit=1`,
    `/ipfs/ipfs://${small.id}`,
  ])
    expect([address, (await fetch(`${app.url}${address}`)).status]).toEqual([address, 200])
})

it.each([
  ['a path below a CID', `ipfs://${small.id}/a.png`],
  ['a damaged CID', `${small.id.slice(0, -1)}1`],
  ['a CID with an additional letter', `${small.id}a`],
  ['the CID of other bytes', encode('bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy', 'base36')],
  ['a CID with another codec', CID.createV1(0x71, CID.parse(small.id).multihash).toString()],
  ['a very long string', 'z'.repeat(4_000)],
  ['another identifier', user.id],
])('does not find an asset by %s', async (_, text) => {
  expectError(await app.rest('GET', `assets/${encodeURIComponent(text)}/`), 'NOT_FOUND')
  expectError(await app.graphql('query ($id: ID!) { asset(id: $id) { id } }', { id: text }), 'NOT_FOUND')
})
