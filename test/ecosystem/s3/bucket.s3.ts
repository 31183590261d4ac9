/** Files on a real S3 server. */
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
import { DEGRADED, openStoredFiles, testStoredFiles } from '../gateway/stored-files.ts'
import { BUCKET, KEY_ID, SECRET, startS3Server } from './server.ts'

const FOLDER = join(import.meta.dirname, 'blockstore')
const GRACE_SECONDS = 3_600
const inFolder = {
  cwd: FOLDER,
  env: { ...npmEnvironment, NODE_DISABLE_COMPILE_CACHE: '1', AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET },
}
const run = promisify(execFile)

const s3 = await startS3Server()
const app = await createTestApp({ withChain: true, env: s3.env })
const files = await openStoredFiles(app)
const { published, user, annal, read, readiness, ready, upload, isWhole, expectNothingCharged } = files
afterAll(s3.stop)

const lose = async (cid: string) => rm((await s3.blocks()).find((file) => file.endsWith(blockName(CID.parse(cid))))!)
const store = { ...s3, lose, age: () => s3.age(GRACE_SECONDS + 60), blockCount: async () => (await s3.blocks()).length }
testStoredFiles(files, store, /^files +ok +Files can be written, read and deleted in the bucket files\./m)

describe('files in a bucket', () => {
  it('the bucket contains thumbnails and copies with Content Credentials', async () => {
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

  it('blockstore-s3 can read files in a bucket', async () => {
    await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], inFolder)
    const { stdout } = await run(
      process.execPath,
      [join(FOLDER, 'read.js'), s3.url, BUCKET, JSON.stringify([published.small.cid, published.tree.cid])],
      inFolder,
    )
    expect(JSON.parse(stdout)).toEqual([published.small, published.tree].map(({ bytes }) => sha256Of(bytes)))
  })

  it('garbage collection deletes the files of a bucket page by page', async () => {
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
    // On a busy machine, one collection may not delete all files.
    const left = async () => {
      await app.maintenance.collectGarbage()
      return (await s3.blocks()).length
    }
    await eventually(left, (count) => count === blocks.length, 500_000)
    expect(await isWhole()).toBe(true)
  })
})

describe('failing storage', () => {
  it('reports rejected storage credentials without printing them, and works when the credentials are accepted', async () => {
    await s3.kill()
    await s3.start('another-secret-than-ours')
    await expectNothingCharged(async () => expect((await upload(newFile())).status).toBe(503))
    expect(await readiness()).toEqual(DEGRADED)
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

  it('loses no files if the bucket is missing for a while', async () => {
    await s3.hide()
    await expectNothingCharged(async () => expect((await upload(newFile())).status).toBe(503))
    expect((await read(published.small.cid)).status).toBe(503)
    expect(await readiness()).toEqual(DEGRADED)
    await expect(app.maintenance.collectGarbage()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await s3.show()
    await ready()
    expect((await read(published.small.cid)).status).toBe(200)
    expectOk(await upload(newFile()))
  })
})
