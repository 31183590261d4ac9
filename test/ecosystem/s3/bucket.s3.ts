/** Files on a real server for S3, through the front doors of a gateway. */
import { execFile } from 'node:child_process'
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { CID } from 'multiformats/cid'
import { afterAll, describe, expect, it } from 'vitest'
import { blockName } from '../../../src/files/cids.ts'
import { eventually } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { npmEnvironment } from '../../support/npm-environment.ts'
import { newPicture } from '../../support/pictures.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'
import { sha256Of } from '../gateway/fixture.ts'
import { openStoredFiles } from '../gateway/stored-files.ts'
import { BUCKET, KEY_ID, SECRET, startS3Server } from './server.ts'

const FOLDER = join(import.meta.dirname, 'blockstore')
const GRACE_SECONDS = 3_600
const inFolder = {
  cwd: FOLDER,
  env: { ...npmEnvironment, NODE_DISABLE_COMPILE_CACHE: '1', AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET },
}
const carryOut = promisify(execFile)

const s3 = await startS3Server()
const app = await createTestApp({ withChain: true, env: s3.env })
const {
  published,
  user,
  annal,
  read,
  readiness,
  ready,
  upload,
  isWhole,
  collect,
  expectNothingTaken,
  expectReadInEveryForm,
} = await openStoredFiles(app)
afterAll(s3.stop)

describe('files in a bucket', () => {
  it('are read whole, in ranges, as blocks and as CARs', expectReadInEveryForm)

  it('include thumbnails and copies with Content Credentials', async () => {
    const asset = await user.register({
      asset_file: await newPicture({ width: 800, height: 600 }),
      public_access: 'true',
    })
    await app.jobs.thumbnail({ assetId: asset.uuid })
    const record = expectOk(await user.rest('GET', `assets/${asset.id}/`))
    expect(record.asset_file_thumbnail).not.toBe(record.asset_file)
    expect((await fetch(record.asset_file_thumbnail)).status).toBe(200)
    const signed = await eventually(
      () => user.rest('GET', `assets/${asset.id}/c2pa/`),
      ({ status }) => status === 200,
      60_000,
    )
    expect(signed.bytes.includes('c2pa')).toBe(true)
    const pins = await app.sql<{ cid: string }>(
      'select cid from pins p join assets a on a.id = p.asset_id where a.nid = $1',
      [asset.id],
    )
    expect(pins.length).toBeGreaterThanOrEqual(4)
    for (const { cid } of pins) expect(await app.installation.contentStore.isWhole(cid), cid).toBe(true)
  })

  it('can be read by blockstore-s3', async () => {
    await carryOut('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], inFolder)
    const { stdout } = await carryOut(
      process.execPath,
      [join(FOLDER, 'read.js'), s3.url, BUCKET, JSON.stringify([published.small.cid, published.tree.cid])],
      inFolder,
    )
    expect(JSON.parse(stdout)).toEqual([published.small, published.tree].map(({ bytes }) => sha256Of(bytes)))
  })

  it('are looked after by the commands: doctor, check and mend', async () => {
    const { stdout } = await annal('doctor')
    expect(stdout).toMatch(/^files +ok +Files can be written, read and deleted in the bucket files\./m)
    expect(stdout).not.toContain(SECRET)
    expect(await isWhole()).toBe(true)
    const [{ tree_cid: tree }] = (await app.sql(
      `select c.tree_cid from commits c join assets a on a.id = c.asset_id where a.nid = $1`,
      [published.small.cid],
    )) as [{ tree_cid: string }]
    const { bytes } = await read(tree)
    const lost = (await s3.blocks()).find((file) => file.endsWith(blockName(CID.parse(tree))))!
    await rm(lost)
    const found = await annal('check')
    expect([found.code, found.stdout]).toEqual([1, expect.stringContaining(tree)])
    expect((await annal('repair')).code).toBe(0)
    expect(sha256Of((await read(tree)).bytes)).toBe(sha256Of(bytes))
  })
})

describe('unneeded files in a bucket', () => {
  it('goes with a deleted asset, after the grace, and nothing else does', async () => {
    const gone = await user.register({ asset_file: new File([new Uint8Array(2_000_000).fill(7)], 'gone.bin') })
    const before = (await s3.blocks()).length
    expectOk(await user.rest('DELETE', `assets/${gone.id}/`))
    expect(await collect()).toBe(0)
    await s3.age(GRACE_SECONDS + 60)
    const removedBlocks = await collect()
    expect(removedBlocks).toBeGreaterThan(2)
    expect((await s3.blocks()).length).toBe(before - removedBlocks)
    expect(await app.installation.contentStore.isWhole(gone.id)).toBe(false)
    expect(sha256Of((await read(published.large.cid)).bytes)).toBe(sha256Of(published.large.bytes))
    expect(await isWhole()).toBe(true)
  })

  it('are deleted page by page', async () => {
    const blocks = await s3.blocks()
    const root = dirname(dirname(blocks[0]!))
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
    const names = letters.flatMap((a) => letters.flatMap((b) => ['AA', 'BB'].map((c) => `BCIQ${a}${b}${c}ZZ.data`)))
    await mkdir(join(root, 'ZZ'), { recursive: true })
    const then = new Date(Date.now() - 2 * GRACE_SECONDS * 1_000)
    for (const name of names) {
      const file = join(root, 'ZZ', name)
      await writeFile(file, name)
      await utimes(file, then, then)
    }
    expect(names.length).toBeGreaterThan(1_000)
    // What takes long on a busy machine is left to the next collection.
    const left = async () => {
      await app.maintenance.collectGarbage()
      return (await s3.blocks()).length
    }
    await eventually(left, (count) => count === blocks.length, 500_000)
    expect(await isWhole()).toBe(true)
  })
})

describe('a failing storage', () => {
  it('killed in the middle of an upload has it refused, and the upload is taken afterwards', async () => {
    const bytes = new Uint8Array(30_000_000)
    for (let at = 0; at < bytes.length; at += 1_000) bytes[at] = at / 1_000
    const file = new File([bytes], 'film.mp4', { type: 'video/mp4' })
    const before = (await s3.blocks()).length
    await expectNothingTaken(async () => {
      const uploading = upload(file)
      await eventually(s3.blocks, (blocks) => blocks.length > before + 3, 60_000)
      await s3.kill()
      expect((await uploading).status).toBe(503)
      expect(await readiness()).toEqual({ status: 'degraded', missing: ['file store'] })
      expectOk(await user.rest('GET', 'auth/users/me/'))
      expect((await read(published.small.cid)).status).toBe(503)
    })
    await s3.start()
    await ready()
    const { id } = expectOk(await upload(file))
    expect(sha256Of((await read(id)).bytes)).toBe(sha256Of(bytes))
  })

  it('that stands still has uploads refused within its patience, and takes them when it goes on', async () => {
    await expectNothingTaken(async () => {
      s3.freeze()
      try {
        const [refused, told] = await Promise.all([upload(newFile()), readiness()])
        expect(refused.status).toBe(503)
        expect(told).toEqual({ status: 'degraded', missing: ['file store'] })
      } finally {
        s3.thaw()
      }
    })
    await ready()
    expectOk(await upload(newFile()))
  })

  it('reports rejected credentials without printing them, and works when they are accepted', async () => {
    await s3.kill()
    await s3.start('another-secret-than-ours')
    await expectNothingTaken(async () => expect((await upload(newFile())).status).toBe(503))
    expect(await readiness()).toEqual({ status: 'degraded', missing: ['file store'] })
    const { stdout } = await annal('doctor')
    expect(stdout).toMatch(/^files +error +Cannot store files in the bucket files: S3: 403 SignatureDoesNotMatch/m)
    for (const text of [stdout, JSON.stringify(app.log)]) {
      expect(text).not.toContain(SECRET)
      expect(text).not.toMatch(/X-Amz-Signature|Credential=/)
    }
    await s3.kill()
    await s3.start()
    await ready()
    expectOk(await upload(newFile()))
  })

  it('loses nothing if its bucket is missing for a while', async () => {
    await s3.hide()
    await expectNothingTaken(async () => expect((await upload(newFile())).status).toBe(503))
    expect((await read(published.small.cid)).status).toBe(503)
    expect(await readiness()).toEqual({ status: 'degraded', missing: ['file store'] })
    await expect(app.maintenance.collectGarbage()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await s3.show()
    await ready()
    expect((await read(published.small.cid)).status).toBe(200)
    expectOk(await upload(newFile()))
  })
})
