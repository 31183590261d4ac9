/**
 * Tests `/ipfs` against the specifications of the path gateway and the trustless gateway
 * (https://specs.ipfs.tech/http-gateways/trustless-gateway/), with the cases of `gateway-conformance`.
 */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { CarReader } from '@ipld/car'
import * as dagPb from '@ipld/dag-pb'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'
import { beforeAll, describe, expect, it } from 'vitest'
import { blockName } from '../../../src/files/cids.ts'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const CHUNK = 262_144

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const cidOf = async (bytes: Uint8Array) => CID.createV1(raw.code, await sha256.digest(bytes)).toString()
const chunksOf = (bytes: Uint8Array) =>
  Promise.all(
    Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, index) =>
      cidOf(bytes.subarray(index * CHUNK, (index + 1) * CHUNK)),
    ),
  )
const register = async (bytes: Uint8Array<ArrayBuffer>, publicAccess: boolean, name = 'film.mp4', type = 'video/mp4') =>
  (await user.register({ asset_file: new File([bytes], name, { type }), public_access: String(publicAccess) })).id

const part = randomBytes(CHUNK)
const bytes = Buffer.concat([randomBytes(CHUNK), part, randomBytes(CHUNK), part, randomBytes(1_000)])
const [one, twin, three, , last] = (await chunksOf(bytes)) as [string, string, string, string, string]
const several: string = await register(bytes, true)
const text = Buffer.from(`one block ${randomBytes(8).toString('hex')}`)
const single: string = await register(text, true, 'note.txt', 'text/plain')
const secret = Buffer.concat([randomBytes(CHUNK), part, randomBytes(10)])
const [secretOne, , secretLast] = (await chunksOf(secret)) as [string, string, string]
const hidden: string = await register(secret, false)

const CAR = 'application/vnd.ipld.car'
const RAW = 'application/vnd.ipld.raw'

const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const response = await fetch(app.url + path, { method, headers })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}
const car = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await get(path, headers)
  expect(answer.status, answer.bytes.toString().slice(0, 300)).toBe(200)
  const reader = await CarReader.fromBytes(answer.bytes)
  const blocks: string[] = []
  for await (const block of reader.blocks()) {
    expect(createHash('sha256').update(block.bytes).digest()).toEqual(Buffer.from(block.cid.multihash.digest))
    blocks.push(block.cid.toString())
  }
  return { ...answer, roots: (await reader.getRoots()).map(String), blocks }
}

describe('blocks of the IPFS gateway', () => {
  it.each([
    ['format', () => get(`/ipfs/${several}?format=raw`)],
    ['Accept', () => get(`/ipfs/${several}`, { Accept: RAW })],
    ['an Accept header that prefers it', () => get(`/ipfs/${several}`, { Accept: `text/html;q=0.1, ${RAW};q=0.9` })],
    [
      'the format parameter despite a different Accept header',
      () => get(`/ipfs/${several}?format=raw`, { Accept: CAR }),
    ],
  ])('the IPFS gateway serves a raw block requested by %s, with headers for browsers and caches', async (_, ask) => {
    const answer = await ask()
    expect(answer.status).toBe(200)
    expect(dagPb.decode(answer.bytes).Links.map(({ Hash }) => Hash.toString())).toEqual([one, twin, three, twin, last])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': RAW,
      'content-length': String(answer.bytes.length),
      'content-disposition': expect.stringMatching(new RegExp(`^attachment; filename="${several}.bin"`)),
      'content-location': `/ipfs/${several}?format=raw`,
      'x-content-type-options': 'nosniff',
      'x-ipfs-path': `/ipfs/${several}`,
      'x-ipfs-roots': several,
      'cache-control': 'public, max-age=300, must-revalidate',
      'accept-ranges': 'bytes',
      etag: `"${several}.raw"`,
      vary: 'Accept, Authorization',
    })
  })

  it('the IPFS gateway supports byte ranges, and returns the first of several ranges', async () => {
    for (const [range, found] of [
      ['bytes=6-16', text.subarray(6, 17)],
      ['bytes=-3', text.subarray(-3)],
      ['bytes=6-16,0-4', text.subarray(6, 17)],
    ] as const) {
      for (const accept of [RAW, '*/*']) {
        const answer = await get(`/ipfs/${single}`, { Accept: accept, Range: range })
        expect([answer.status, answer.bytes]).toEqual([206, Buffer.from(found)])
      }
    }
    expect((await get(`/ipfs/${single}?format=raw`, { Range: 'bytes=900-' })).status).toBe(416)
  })

  it('the IPFS gateway uses the requested file name, with any characters', async () => {
    const { headers } = await get(`/ipfs/${single}?format=raw&filename=${encodeURIComponent('te"stтест.bin')}`)
    expect(headers.get('content-disposition')).toBe(
      `attachment; filename="te_st____.bin"; filename*=UTF-8''te%22st%D1%82%D0%B5%D1%81%D1%82.bin`,
    )
  })

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\autostart\\a.bat', 'a.bat'],
    ['photo\u202egpj.exe', 'photogpj.exe'],
    ['a\r\nb\0.bin', 'ab.bin'],
    ['n'.repeat(9_000), 'n'.repeat(255)],
    ['../../', `${single}.bin`],
  ])('the IPFS gateway removes path and control characters from a file name (case %#)', async (wanted, name) => {
    const { headers } = await get(`/ipfs/${single}?format=raw&filename=${encodeURIComponent(wanted)}`)
    expect(headers.get('content-disposition')).toMatch(`attachment; filename="${name}"`)
  })

  it('the IPFS gateway serves a block by its CID without a previous request for the root block', async () => {
    const file = await register(Buffer.concat([randomBytes(CHUNK), Buffer.from('end')]), true)
    await app.maintenance.run()
    const links = dagPb.decode((await app.installation.contentStore.readBlock(file)) as Uint8Array).Links
    for (const { Hash } of links) expect((await get(`/ipfs/${Hash}?format=raw`)).status).toBe(200)
    expect((await get(`/ipfs/${links[1]!.Hash}`)).bytes.toString()).toBe('end')
  })

  it('the gateway serves a block of a private file only to the owner, unless a public file contains the block', async () => {
    const owner = { Authorization: `token ${user.token}` }
    expect((await get(`/ipfs/${hidden}?format=raw`, owner)).status).toBe(200)
    for (const block of [secretOne, secretLast]) {
      const mine = await get(`/ipfs/${block}?format=raw`, owner)
      expect([mine.status, mine.headers.get('cache-control')]).toEqual([200, 'private, max-age=300, must-revalidate'])
      for (const format of ['', '?format=raw', '?format=car'])
        expect((await get(`/ipfs/${block}${format}`)).status).toBe(404)
    }
    await get(`/ipfs/${several}?format=raw`)
    const shared = await get(`/ipfs/${twin}?format=raw`, owner)
    expect([shared.status, shared.headers.get('cache-control')]).toEqual([200, 'public, max-age=300, must-revalidate'])
    expect((await get(`/ipfs/${twin}?format=raw`)).status).toBe(200)
  })

  it('the gateway hides the blocks of a private file, and removes the blocks of a deleted file', async () => {
    const file = Buffer.concat([randomBytes(CHUNK), Buffer.from('gone')])
    const id = await register(file, true)
    const [block] = await chunksOf(file)
    expect((await get(`/ipfs/${id}?format=raw`)).status).toBe(200)
    expect((await get(`/ipfs/${block}?format=raw`)).status).toBe(200)
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { public_access: false } }))
    expect((await get(`/ipfs/${block}?format=raw`)).status).toBe(404)
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { public_access: true } }))
    expect((await get(`/ipfs/${block}?format=raw`)).status).toBe(200)
    expect((await user.rest('DELETE', `assets/${id}/`)).status).toBe(204)
    expect((await get(`/ipfs/${block}?format=raw`)).status).toBe(404)
    await app.maintenance.run()
    expect(await app.sql('select cid from asset_blocks where cid = any ($1)', [[id, block]])).toEqual([])
  })
})

describe('CAR files of the IPFS gateway', () => {
  const all = [several, one, twin, three, last]
  const entity = '&dag-scope=entity'
  it.each<[string, string, string[]]>([
    ['has every block once', '', all],
    ['has every block once with explicit default parameters', '&car-dups=n&car-order=dfs&car-version=1', all],
    ['repeats blocks with car-dups=y', '&car-dups=y', [several, one, twin, three, twin, last]],
    ['is ordered depth-first if any order is accepted', '&car-order=unk', all],
    ['contains only the root block for the scope "block"', '&dag-scope=block', [several]],
    ['contains the whole file for the scope "entity"', entity, all],
    ['contains the whole file for the scope "all"', '&dag-scope=all', all],
    ['contains the whole file for all bytes', '&entity-bytes=0:*', all],
    ['contains only the first block for the first byte', '&entity-bytes=0:0', [several, one]],
    ['contains the blocks of bytes in the middle', `&entity-bytes=${CHUNK}:${2 * CHUNK}`, [several, twin, three]],
    ['contains the last block for the last bytes', '&entity-bytes=-5:*', [several, last]],
    ['accepts a negative end', `&entity-bytes=${2 * CHUNK}:-1001`, [several, three, twin]],
    ['contains the whole file for a suffix longer than the file', '&entity-bytes=-9999999999:*', all],
    ['accepts a start before the file', '&entity-bytes=-9999999999:-1001', [several, one, twin, three]],
    ['contains the blocks from the middle', `&entity-bytes=${2 * CHUNK}:*`, [several, three, twin, last]],
    ['accepts an end after the file', `${entity}&entity-bytes=${4 * CHUNK}:99999999`, [several, last]],
    ['has each block of a range once', `&entity-bytes=${CHUNK}:${4 * CHUNK - 1}`, [several, twin, three]],
    ['contains only the root block for an empty range', '&entity-bytes=1000:-9999999999', [several]],
  ])('a CAR file of the gateway %s (%s)', async (_, query, blocks) => {
    const found = await car(`/ipfs/${several}?format=car${query}`)
    expect([found.roots, found.blocks]).toEqual([[several], blocks])
    const duplicates = query.includes('car-dups=y') ? 'y' : 'n'
    expect(found.headers.get('content-type')).toBe(`${CAR}; version=1; order=dfs; dups=${duplicates}`)
  })

  it('a CAR file of the gateway has descriptive headers, also for HEAD', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await get(`/ipfs/${several}`, { Accept: `${CAR}; version=1; order=dfs; dups=y` }, method)
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': `${CAR}; version=1; order=dfs; dups=y`,
        'content-disposition': expect.stringMatching(`^attachment; filename="${several}.car"`),
        'content-location': `/ipfs/${several}?format=car&car-version=1&car-order=dfs&car-dups=y`,
        'x-content-type-options': 'nosniff',
        'accept-ranges': 'none',
        'cache-control': 'public, max-age=300, must-revalidate',
        etag: `W/"${several}.dups.car"`,
      })
    }
  })

  it('a CAR request uses the parameters of the Accept header unless the query overrides the parameters', async () => {
    const type = async (path: string, accept: string) =>
      (await car(path, { Accept: accept })).headers.get('content-type')
    expect(await type(`/ipfs/${several}?format=car`, `${CAR}; dups=y`)).toMatch('dups=y')
    expect(await type(`/ipfs/${several}?format=car&car-dups=n`, `${CAR}; dups=y`)).toMatch('dups=n')
    expect(await type(`/ipfs/${several}`, `${CAR};order=foo, ${CAR};order=dfs;dups=y;q=0.5`)).toMatch('dups=y')
  })

  it('each part of a CAR file has its own ETag, and a matching ETag returns 304', async () => {
    const queries = [
      '',
      '&dag-scope=block',
      '&dag-scope=entity',
      '&entity-bytes=0:9',
      '&entity-bytes=0:*',
      '&car-dups=y',
    ]
    const tags = await Promise.all(
      queries.map(async (query) => (await get(`/ipfs/${several}?format=car${query}`)).headers.get('etag')!),
    )
    expect(new Set(tags).size).toBe(queries.length)
    for (const [index, query] of queries.entries()) {
      const asked = { 'If-None-Match': `"x", ${tags[index]}` }
      expect((await get(`/ipfs/${several}?format=car${query}`, asked)).status).toBe(304)
    }
  })

  it('the CAR file of a single-block file contains that block for any requested part', async () => {
    for (const query of ['', '&dag-scope=block', '&entity-bytes=3:4'])
      expect((await car(`/ipfs/${single}?format=car${query}`)).blocks).toEqual([single])
  })

  it.each(['', '&dag-scope=block', '&entity-bytes=0:1'])(
    'the gateway hides the CAR file of a private file ("%s")',
    async (query) => {
      expectError(await app.rest('GET', `/ipfs/${hidden}?format=car${query}`), 'NOT_FOUND')
      const { commits } = expectOk(await user.rest('GET', `assets/${hidden}/history/`))
      expectError(await app.rest('GET', `/ipfs/${commits[0].assetTreeCid}?format=car${query}`), 'NOT_FOUND')
    },
  )
})

describe('invalid gateway requests', () => {
  it.each([
    ['format', '?format=tar', {}],
    ['format', '?format=', {}],
    ['format', '?format=dag-json', { Accept: RAW }],
    ['dag-scope', '?format=car&dag-scope=some', {}],
    ['entity-bytes', '?format=car&entity-bytes=1', {}],
    ['entity-bytes', '?format=car&entity-bytes=5:4', {}],
    ['entity-bytes', '?format=car&entity-bytes=-4:-5', {}],
    ['entity-bytes', '?format=car&entity-bytes=a:b', {}],
    ['entity-bytes', `?format=car&entity-bytes=${bytes.length}:*`, {}],
    ['car-version', '?format=car&car-version=2', {}],
    ['car-order', '?format=car&car-order=bfs', {}],
    ['car-dups', '?format=car&car-dups=maybe', {}],
    ['car-version', '', { Accept: `${CAR}; version=2` }],
    ['car-order', '', { Accept: `${CAR}; order=foo` }],
    ['service-worker', '', { 'Service-Worker': 'script' }],
  ])('an invalid gateway request is rejected with an error for %s (%s)', async (field, query, headers) => {
    const answer = await app.rest('GET', `/ipfs/${several}${query}`, { headers })
    expectError(answer, 'VALIDATION_FAILED')
    expect(Object.keys(answer.body.error.details)).toEqual([field])
  })

  it('the gateway returns 400 for an invalid CID, 404 for an unknown CID, and 412 for only-if-cached', async () => {
    const nobodys = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG'
    expectError(await app.rest('GET', '/ipfs/nonsense'), 'VALIDATION_FAILED')
    for (const method of ['GET', 'HEAD']) {
      for (const cid of [nobodys, hidden]) {
        expect((await get(`/ipfs/${cid}`, {}, method)).status).toBe(404)
        const uncached = await get(`/ipfs/${cid}`, { 'Cache-Control': 'only-if-cached' }, method)
        expect([uncached.status, uncached.bytes.length]).toEqual([412, 0])
      }
      expect((await get(`/ipfs/${several}`, { 'Cache-Control': 'only-if-cached' }, method)).status).toBe(200)
    }
    expect((await get(`/ipfs/${several}/a/path`)).status).toBe(404)
  })
})

it('the gateway answers the probe that clients use to detect gateways', async () => {
  for (const method of ['GET', 'HEAD']) {
    const block = await get('/ipfs/bafkqaaa?format=raw', {}, method)
    expect([block.status, block.bytes.length]).toEqual([200, 0])
    expect((await get('/ipfs/bafkqaaa', { Accept: RAW }, method)).status).toBe(200)
    expect((await get('/ipfs/bafkqaaa', {}, method)).status).toBe(200)
  }
  const found = await car('/ipfs/bafkqaaa?format=car')
  expect([found.roots, found.blocks]).toEqual([['bafkqaaa'], []])
})

describe('files with a missing block', () => {
  const [first, lost, third] = [randomBytes(CHUNK), randomBytes(CHUNK), randomBytes(1_000)]
  let cid: string
  let blocks: string[]
  beforeAll(async () => {
    cid = await register(Buffer.concat([first, lost, third]), true, 'notes.txt', 'text/plain')
    blocks = await chunksOf(Buffer.concat([first, lost, third]))
    const folder = join(app.env.ANNAL_DIR!, 'blocks')
    const names = await readdir(folder, { recursive: true })
    await rm(join(folder, names.find((name) => name.endsWith(blockName(CID.parse(blocks[1]!))))!))
  })

  it.each([
    ['before the missing block', '0:1000', () => [blocks[0]!]],
    ['after the missing block', `${2 * CHUNK + 10}:*`, () => [blocks[2]!]],
  ])('serves a CAR file of the bytes %s of a file', async (_, range, found) => {
    const query = `?format=car&dag-scope=entity&entity-bytes=${range}`
    expect((await car(`/ipfs/${cid}${query}`)).blocks).toEqual([cid, ...found()])
  })

  it('a CAR download with a missing block resets an HTTP/1.0 connection instead of closing it normally', async () => {
    const ends = await Promise.all(
      [single, cid].map(async (asked) => {
        const socket = connect({ port: Number(new URL(app.url).port), host: '127.0.0.1' })
        socket.resume().write(`GET /ipfs/${asked}?format=car HTTP/1.0\r\n\r\n`)
        return once(socket, 'end').then(
          () => 'end',
          ({ code }) => code,
        )
      }),
    )
    expect(ends).toEqual(['end', 'ECONNRESET'])
  })

  it.each([
    ['before the missing block', [997, 1000], first.subarray(997, 1001)],
    ['after the missing block', [2 * CHUNK + 10, 2 * CHUNK + 11], third.subarray(10, 12)],
  ] as const)('serves the bytes %s of a file', async (_, [from, to], found) => {
    const { status, headers, bytes } = await get(`/ipfs/${cid}`, { Range: `bytes=${from}-${to}` })
    expect([status, headers.get('content-range'), bytes.equals(found)]).toEqual([
      206,
      `bytes ${from}-${to}/${2 * CHUNK + 1_000}`,
      true,
    ])
    expect(headers.get('content-type')).toMatch('text/plain')
  })
})

it('each gateway response has its ipfs:// URI in a header', async () => {
  const uri = async (path: string, headers: Record<string, string> = {}) =>
    (await get(path, headers)).headers.get('ipfs-uri')
  const old = CID.parse(several).toV0().toString()
  for (const path of [several, `${several}?filename=a.bin&format=raw`, `${several}?format=car`, old])
    expect(await uri(`/ipfs/${path}`)).toBe(`ipfs://${several}`)
  expect(await uri(`/ipfs/${several}`, { 'If-None-Match': `"${several}"` })).toBe(`ipfs://${several}`)
})

it('gateway responses allow cross-origin requests and expose their headers', async () => {
  const { headers } = await get(`/ipfs/${several}?format=raw`, { Origin: 'https://example.org' })
  expect(headers.get('access-control-allow-origin')).toBe('*')
  expect(headers.get('access-control-expose-headers')).toMatch(
    /Content-Length.*Content-Location.*Content-Range.*Ipfs-Uri.*X-Ipfs-Roots/,
  )
  const preflight = await get(`/ipfs/${several}`, { Origin: 'https://example.org' }, 'OPTIONS')
  expect(preflight.headers.get('access-control-allow-methods')).toMatch(/GET, HEAD, OPTIONS/)
  expect(preflight.headers.get('access-control-allow-headers')!.split(', ')).toEqual(
    expect.arrayContaining(['Content-Type', 'If-Range', 'Range', 'User-Agent', 'X-Requested-With']),
  )
})
