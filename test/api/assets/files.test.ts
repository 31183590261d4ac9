import { createHash, randomBytes } from 'node:crypto'
import { CID } from 'multiformats/cid'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const other = await app.newUser()
const bytes = randomBytes(700_000)
const shown = await user.register({
  asset_file: new File([bytes], 'Größe.png', { type: 'image/png' }),
  public_access: 'true',
})
const hidden = await user.register({ asset_file: new File(['hidden bytes'], 'hidden.txt', { type: 'text/plain' }) })

const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const response = await fetch(app.url + path, { method, headers })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

describe('files of public assets', () => {
  it('anyone can download the file of a public asset at the URL in its record', async () => {
    const answer = await get(new URL(shown.asset_file).pathname)
    expect(answer.status).toBe(200)
    expect(answer.bytes.equals(bytes)).toBe(true)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '700000',
      'accept-ranges': 'bytes',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=300, must-revalidate',
      etag: `"${shown.id}"`,
      'content-disposition': `inline; filename="Gr__e.png"; filename*=UTF-8''${encodeURIComponent('Größe.png')}`,
    })
    expect(createHash('sha256').update(answer.bytes).digest('hex')).toBe(shown.proof_hash)
  })

  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=262100-262200', 262_100, 262_201],
    ['bytes=699990-', 699_990, 700_000],
    ['bytes=-10', 699_990, 700_000],
    ['bytes=699990-9999999', 699_990, 700_000],
  ])('serves a part of a file for the range %s', async (range, start, end) => {
    const answer = await get(`/ipfs/${shown.id}`, { Range: range })
    expect([answer.status, answer.headers.get('content-range'), answer.headers.get('content-length')]).toEqual([
      206,
      `bytes ${start}-${end - 1}/700000`,
      String(end - start),
    ])
    expect(answer.bytes.equals(bytes.subarray(start, end))).toBe(true)
  })

  it.each(['items=0-5', 'bytes=a-b', 'bytes=-'])('serves a whole file for the malformed range %s', async (range) => {
    expect((await get(`/ipfs/${shown.id}`, { Range: range })).status).toBe(200)
  })

  it('does not send a file for a matching ETag, nor for HEAD', async () => {
    expect((await get(`/ipfs/${shown.id}`, { 'If-None-Match': `"${shown.id}"` })).status).toBe(304)
    const head = await get(`/ipfs/${shown.id}`, {}, 'HEAD')
    expect([head.status, head.bytes.length, head.headers.get('content-length')]).toEqual([200, 0, '700000'])
  })

  it.each([(etag: string) => `W/${etag}`, (etag: string) => `"a", ${etag}`, () => '*'])(
    'does not send a file for a matching ETag in any form (%s)',
    async (write) => {
      expect((await get(`/ipfs/${shown.id}`, { 'If-None-Match': write(`"${shown.id}"`) })).status).toBe(304)
    },
  )

  it('serves a whole file if If-Range does not match', async () => {
    const ranged = { Range: 'bytes=0-9' }
    expect((await get(`/ipfs/${shown.id}`, { ...ranged, 'If-Range': `"${shown.id}"` })).status).toBe(206)
    expect((await get(`/ipfs/${shown.id}`, { ...ranged, 'If-Range': '"other"' })).status).toBe(200)
  })
})

const changed = (name: string, change: (value: string) => string | undefined) => (link: URL) => {
  const query = new URLSearchParams(link.search)
  const value = change(query.get(name)!)
  query.delete(name)
  if (value !== undefined) query.set(name, value)
  return `${link.pathname}?${query}`
}

describe('files of private assets', () => {
  it.each(['', '?format=raw', '?format=car'])(
    'returns the same 404 for a private file as for a missing file ("%s")',
    async (query) => {
      const answers = await Promise.all(
        [hidden.id, `bafkrei${'a'.repeat(52)}`].flatMap((cid) => [
          app.rest('GET', `/ipfs/${cid}${query}`),
          other.rest('GET', `/ipfs/${cid}${query}`),
        ]),
      )
      for (const answer of answers) expectError(answer, 'NOT_FOUND')
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    },
  )

  it('the owner can download the file of a private asset, with private caching', async () => {
    const answer = await user.rest('GET', `/ipfs/${hidden.id}`)
    expect([answer.status, answer.text]).toEqual([200, 'hidden bytes'])
    expect(answer.headers.get('cache-control')).toMatch(/^private/)
  })

  it('the signed URL of a private file is valid for one to two hours', async () => {
    const before = Date.now() / 1000
    const record = expectOk(await user.rest('GET', `assets/${hidden.id}/`))
    const after = Date.now() / 1000
    const link = new URL(record.asset_file)
    const answer = await get(link.pathname + link.search)
    expect([answer.status, answer.bytes.toString(), answer.headers.get('cache-control')]).toEqual([
      200,
      'hidden bytes',
      expect.stringMatching(/^private/),
    ])
    const expires = Number(link.searchParams.get('expires'))
    expect(expires).toBeGreaterThan(before + 3_600)
    expect(expires).toBeLessThanOrEqual(after + 7_200)
  })

  it.each([
    [
      'another file',
      (link: URL) =>
        link.pathname.replace(hidden.id, shown.id === hidden.id ? '' : hidden.id.replace(/.$/, 'a')) + link.search,
    ],
    ['an extended expiry time', changed('expires', (value) => String(Number(value) + 1))],
    ['an expired time', changed('expires', () => '1')],
    ['no signature', changed('signature', () => undefined)],
    ['another signature', changed('signature', () => 'AAAA')],
    ['another asset', changed('asset', () => shown.uuid)],
  ])('rejects a signed URL of a private file with %s', async (_, change) => {
    expectError(await app.rest('GET', change(new URL(hidden.asset_file))), 'NOT_FOUND')
  })
})

describe('responses for files', () => {
  const authorization = { Authorization: `token ${user.token}` }
  const asks: [string, number, () => ReturnType<typeof get>][] = [
    ['bytes', 200, () => get(`/ipfs/${shown.id}`)],
    ['HEAD request', 200, () => get(`/ipfs/${shown.id}`, {}, 'HEAD')],
    ['range', 206, () => get(`/ipfs/${shown.id}`, { Range: 'bytes=0-1' })],
    ['range beyond the end', 416, () => get(`/ipfs/${shown.id}`, { Range: 'bytes=700000-' })],
    ['not modified', 304, () => get(`/ipfs/${shown.id}`, { 'If-None-Match': `"${shown.id}"` })],
    ['raw block', 200, () => get(`/ipfs/${shown.id}`, { Accept: 'application/vnd.ipld.raw' })],
    [
      'HEAD request for a CAR file',
      200,
      () => get(`/ipfs/${shown.id}`, { Accept: 'application/vnd.ipld.car' }, 'HEAD'),
    ],
    ['private bytes for the owner', 200, () => get(`/ipfs/${hidden.id}`, authorization)],
    ['private bytes for an anonymous caller', 404, () => get(`/ipfs/${hidden.id}`)],
  ]
  it.each(asks)(
    'a file response of the kind "%s" (%i) has a Vary header and is cached for five minutes',
    async (_, status, ask) => {
      const answer = await ask()
      expect(answer.status).toBe(status)
      expect(answer.headers.get('vary')).toBe('Accept, Authorization')
      const control = answer.headers.get('cache-control') ?? ''
      expect(control).toMatch(/^(public|private), max-age=300, must-revalidate$|no-cache|no-store/)
      expect(control).not.toContain('immutable')
      expect(answer.headers.has('etag')).toBe(status !== 404)
    },
  )

  it('revalidation of a cached file returns 404 after the asset becomes private', async () => {
    const { id } = await user.register({ public_access: 'true' })
    const etag = (await get(`/ipfs/${id}`)).headers.get('etag')!
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { public_access: false } }))
    expect((await get(`/ipfs/${id}`, { 'If-None-Match': etag })).status).toBe(404)
  })
})

describe('files with active content', () => {
  const headersOf = async (asset_file_mime_type: string) => {
    const asset_file = new File([`<script>${asset_file_mime_type}</script>`], 'page.html')
    const { id } = await user.register({ asset_file, asset_file_mime_type, public_access: 'true' })
    return (await get(`/ipfs/${id}`)).headers
  }

  it.each([
    'text/html',
    'image/svg+xml',
    'image/png+xml',
    'video/x+xml; charset=utf-8',
    'application/xhtml+xml',
    'text/html; charset=utf-8',
  ])('always serves a file of the type %s as a download', async (type) => {
    const headers = await headersOf(type)
    expect(headers.get('content-type')).toBe('application/octet-stream')
    expect(headers.get('content-disposition')).toMatch(/^attachment/)
    expect(headers.get('content-security-policy')).toContain('sandbox')
  })

  // Browsers use the last valid type of a list.
  it.each([
    ['image/png;,text/html', 'image/png'],
    ['text/plain; charset=utf-8, text/html', 'text/plain'],
    ['video/webm;codecs=vp8,opus', 'video/webm'],
    ['video/mp4; codecs="avc1.42E01E, mp4a.40.2"', 'video/mp4'],
    ['text/plain; charset=utf-8', 'text/plain; charset=utf-8'],
  ])('ignores everything after the first type in a list of media types: %s is served as %s', async (type, shown) => {
    const headers = await headersOf(type)
    expect(headers.get('content-type')).toBe(shown)
    expect(headers.get('content-disposition')).toMatch(/^inline/)
  })
})

it('anyone can read the action document of a commit under the CID in the commit', async () => {
  const { commits } = expectOk(await user.rest('GET', `assets/${shown.id}/history/`))
  const answer = await get(`/ipfs/${commits[0].action}`)
  expect(answer.headers.get('cache-control')).toBe('public, max-age=29030400, immutable')
  expect(JSON.parse(answer.bytes.toString())).toMatchObject({ name: 'action-initial-registration' })
  expect(createHash('sha256').update(answer.bytes).digest()).toEqual(
    Buffer.from(CID.parse(commits[0].action).multihash.digest),
  )
})
