import { randomUUID } from 'node:crypto'
import { readdir, utimes } from 'node:fs/promises'
import sharp from 'sharp'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Jobs, startJobs } from '../../src/jobs/jobs.ts'
import { requestThumbnails } from '../../src/modules/assets/thumbnails.ts'
import { eventually } from '../support/eventually.ts'
import { expectError, expectOk } from '../support/expect-error.ts'
import { newPicture } from '../support/pictures.ts'
import { createTestApp, newFile } from '../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const other = await app.newUser({ num: '100' })
let jobs: Jobs | undefined
afterAll(() => jobs?.stop())

const fetchFile = async (url: string) => {
  const response = await fetch(url)
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}
const recordOf = async (id: string) => expectOk(await user.rest('GET', `assets/${id}/`))
const thumbnailUrlOf = async (id: string) =>
  expectOk(await user.graphql(`{ asset(id: "${id}") { thumbnailUrl } }`)).asset.thumbnailUrl
const waiting = async () => (await app.sql(`select from jobs.job where name = 'thumbnail' and state < 'active'`)).length

async function processed(file: File, fields: Record<string, string> = {}) {
  const asset = await user.register({ asset_file: file, ...fields })
  await app.jobs.thumbnail({ assetId: asset.uuid })
  return { before: asset, after: await recordOf(asset.id) }
}

describe('thumbnails of pictures', () => {
  it('the thumbnail is the picture itself at first, then a small upright copy without metadata', async () => {
    const { before, after } = await processed(await newPicture({ width: 1600, height: 1000, orientation: 6 }))
    expect(before.asset_file_thumbnail).toBe(before.asset_file)
    expect(after.asset_file_thumbnail).not.toBe(after.asset_file)
    expect(await thumbnailUrlOf(after.id)).toBe(after.asset_file_thumbnail)
    const { status, headers, bytes } = await fetchFile(after.asset_file_thumbnail)
    expect(status).toBe(200)
    expect([headers.get('content-type'), headers.get('access-control-allow-origin')]).toEqual(['image/webp', '*'])
    const { format, width, height, exif, orientation } = await sharp(bytes).metadata()
    expect({ format, width, height, exif, orientation }).toEqual({ format: 'webp', width: 320, height: 512 })
    expect(expectOk(await user.rest('GET', 'assets/?limit=1')).results[0].asset_file_thumbnail).toBe(
      after.asset_file_thumbnail,
    )
  })

  it.each(['png', 'webp', 'gif', 'avif', 'tiff'] as const)(
    'creates a thumbnail for %s, without enlarging small pictures',
    async (format) => {
      const { after } = await processed(await newPicture({ width: 60, height: 40, format }))
      const { width, height } = await sharp((await fetchFile(after.asset_file_thumbnail)).bytes).metadata()
      expect([width, height]).toEqual([60, 40])
    },
  )

  it('decodes a file for a thumbnail only if it starts like a picture, whatever its type', async () => {
    const make = vi.spyOn(app.installation.pictures, 'make')
    onTestFinished(() => make.mockRestore())
    const kinds = ['image/png', 'application/octet-stream']
    for (const type of kinds) await processed(new File([`no picture but ${randomUUID()}`], 'any', { type }))
    await processed(new File(['short'], 'short', { type: kinds[0]! }))
    expect(make).not.toHaveBeenCalled()
    await processed(new File([await newPicture()], 'any', { type: kinds[1]! }))
    expect(make).toHaveBeenCalledOnce()
  })

  it('the thumbnail of a picture can be downloaded', async () => {
    const { after } = await processed(await newPicture())
    const download = (field: string) => user.rest('POST', `assets/${after.id}/download/`, { multipart: { field } })
    expect(expectOk(await download('asset_file_thumbnail')).url).toBe(after.asset_file_thumbnail)
    expect(expectOk(await download('asset_file')).url).toBe(after.asset_file)
  })

  it('a thumbnail is as private as its picture', async () => {
    const { after } = await processed(await newPicture())
    const link = new URL(after.asset_file_thumbnail)
    expect(link.searchParams.get('signature')).toBeTruthy()
    const bare = link.origin + link.pathname
    for (const rest of [app.rest, other.rest]) expectError(await rest('GET', link.pathname), 'NOT_FOUND')
    expect((await user.rest('GET', link.pathname)).status).toBe(200)
    expectError(await app.rest('GET', `${link.pathname}?expires=${link.searchParams.get('expires')}`), 'NOT_FOUND')

    const publish = (public_access: boolean) => user.rest('PATCH', `assets/${after.id}/`, { json: { public_access } })
    expect(expectOk(await publish(true)).asset_file_thumbnail).toBe(bare)
    expect((await fetchFile(bare)).status).toBe(200)
    expect(expectOk(await publish(false)).asset_file_thumbnail).toContain('signature=')
    expect((await fetchFile(bare)).status).toBe(404)
  })

  it('the creation of a thumbnail does not change the version that writers compare', async () => {
    const { id, uuid } = await user.register({ asset_file: await newPicture() })
    const first = await user.rest('GET', `assets/${id}/`)
    const headers = { 'If-None-Match': first.headers.get('etag')! }
    expect((await user.rest('GET', `assets/${id}/`, { headers })).status).toBe(304)
    await app.jobs.thumbnail({ assetId: uuid })
    const second = await user.rest('GET', `assets/${id}/`, { headers })
    expect(second.status).toBe(200)
    for (const [caption, answer] of Object.entries({ one: first })) {
      const ifMatch = { 'If-Match': answer.headers.get('etag')! }
      expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption }, headers: ifMatch }))
    }
    const third = await user.rest('GET', `assets/${id}/`)
    const ifMatch = { 'If-Match': third.headers.get('etag')! }
    expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'two' }, headers: ifMatch }))
    expectError(await user.rest('PATCH', `assets/${id}/`, { json: { caption: 'x' }, headers: ifMatch }), 'CONFLICT')
  })

  it('garbage collection deletes the thumbnail with the asset, and a new registration creates it again', async () => {
    const file = await newPicture()
    const { after } = await processed(file)
    const cid = new URL(after.asset_file_thumbnail).pathname.split('/').at(-1)!
    const link = after.asset_file_thumbnail
    expect((await fetchFile(link)).status).toBe(200)
    expect((await user.rest('DELETE', `assets/${after.id}/`)).status).toBe(204)
    expect((await fetchFile(link)).status).toBe(404)
    expect(await app.sql('select 1 from pins where cid = $1', [cid])).toEqual([])
    await app.jobs.thumbnail({ assetId: after.uuid })
    expect(await app.sql('select 1 from pins where cid = $1', [cid])).toEqual([])
    const again = await other.register({ asset_file: file })
    await app.jobs.thumbnail({ assetId: again.uuid })
    expect(await app.sql('select kind::text from pins where cid = $1', [cid])).toEqual([{ kind: 'THUMBNAIL' }])
  })
})

it('garbage collection keeps a thumbnail exactly as long as its asset', async () => {
  const { after } = await processed(await newPicture())
  const cid = new URL(after.asset_file_thumbnail).pathname.split('/').at(-1)!
  const { contentStore, config } = app.installation
  /** Makes all blocks old, because garbage collection keeps blocks that are younger than an hour. */
  const ageAll = async () => {
    for (const path of await readdir(`${config.dir}/blocks`, { recursive: true }))
      await utimes(`${config.dir}/blocks/${path}`, 0, 0)
  }
  await ageAll()
  await app.maintenance.collectGarbage()
  expect((await fetchFile(after.asset_file_thumbnail)).status).toBe(200)
  expect((await user.rest('DELETE', `assets/${after.id}/`)).status).toBe(204)
  await app.maintenance.collectGarbage()
  await expect(contentStore.readBlock(cid)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

describe('files without a thumbnail', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10"/></svg>'
  /** A file with this content, unique to the test, that claims to be a PNG picture. */
  const png = (content: string | Blob) =>
    new File([content, `<!-- ${performance.now()} -->`], 'a.png', { type: 'image/png' })
  const cases: [string, () => Promise<File> | File][] = [
    ['an SVG drawing with the type PNG', () => png(svg)],
    ['a PDF document with the type PNG', () => png('%PDF-1.4')],
    ['random bytes', () => newFile()],
    ['a truncated picture', async () => png((await newPicture({ format: 'png' })).slice(0, 400))],
    ['a picture above the pixel limit', () => newPicture({ width: 8_000, height: 6_251, format: 'png' })],
  ]

  it.each(cases)('creates no thumbnail for %s, and the job completes', async (_, file) => {
    const { after } = await processed(await file())
    expect(after.asset_file_thumbnail).toBe(after.asset_file)
    expect(await thumbnailUrlOf(after.id)).toBeNull()
  })

  it('creates no thumbnail for other files, and queues no job', async () => {
    const before = await waiting()
    const text = new File([`words ${performance.now()}`], 'a.txt', { type: 'text/plain' })
    expect((await user.register({ asset_file: text })).asset_file_thumbnail).toBeNull()
    const drawing = new File([svg, String(performance.now())], 'a.svg', { type: 'image/svg+xml' })
    await user.register({ asset_file: drawing })
    expect(await waiting()).toBe(before)
  })
})

it('assets without a thumbnail get a thumbnail once, in batches', async () => {
  const old = []
  for (let n = 0; n < 3; n++) old.push((await user.register({ asset_file: await newPicture() })).uuid)
  await app.sql('update assets set thumbnail_requested = id <> all ($1::uuid[])', [old])
  const before = await waiting()
  await Promise.all([requestThumbnails(app.context), requestThumbnails(app.context)])
  expect(await waiting()).toBe(before + 3)
  await requestThumbnails(app.context)
  expect(await waiting()).toBe(before + 3)
})

it('the queue creates thumbnails, and an unreadable picture delays no other picture', async () => {
  await app.sql(`delete from jobs.job where name = 'thumbnail'`)
  // The job of the lost file fails and is retried later.
  const lost = await user.register({ asset_file: await newPicture() })
  await app.sql(`update assets set nid = $2 where nid = $1`, [lost.id, `bafkrei${'q'.repeat(52)}`])
  const { id } = await user.register({ asset_file: await newPicture() })
  jobs = await startJobs(app.installation)
  await jobs.work('thumbnail', { concurrency: 1 }, app.jobs.thumbnail)
  await eventually(async () => (await thumbnailUrlOf(id)) !== null)
  const states = await app.sql(
    `select state::text, retry_limit from jobs.job where name = 'thumbnail' and data->>'assetId' = $1`,
    [lost.uuid],
  )
  expect(states).toEqual([{ state: 'retry', retry_limit: 5 }])
  await app.sql(`update assets set nid = $1 where id = $2::uuid`, [lost.id, lost.uuid])
})
