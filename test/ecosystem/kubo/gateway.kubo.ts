/** Files on a real Kubo, through the front doors of a gateway. */
import { afterAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'
import { bytesOf } from '../../unit/files/stored-bytes.ts'
import { sha256Of } from '../gateway/fixture.ts'
import { openStoredFiles } from '../gateway/stored-files.ts'
import { startKubo } from './node.ts'

const GRACE_MINUTES = 1
const kubo = await startKubo()
const app = await createTestApp({
  withChain: true,
  env: { IPFS_API_URL: kubo.url },
  configure: (config) => ({ ...config, files: { ...config.files, garbageGraceSeconds: GRACE_MINUTES * 60 } }),
})
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
afterAll(kubo.stop)
const age = async () => {
  const then = `annal ${Math.floor(Date.now() / 1000) - 2 * GRACE_MINUTES * 60}`
  const pins = await kubo.ipfs('pin', 'ls', '--type=recursive', '--names')
  for (const line of pins.trim().split('\n')) {
    const [cid, , ...name] = line.split(' ')
    if (name[0] === 'annal') await kubo.ipfs('pin', 'add', '--name', then, cid!)
  }
}

describe('files in Kubo', () => {
  it('are read whole, in ranges, as blocks and as CARs', expectReadInEveryForm)

  it('are covered by the doctor and check commands', async () => {
    const { stdout } = await annal('doctor')
    expect(stdout).toMatch(/^files +ok +Kubo answers at IPFS_API_URL\./m)
    // As Kubo is set up unless somebody says otherwise.
    expect(stdout).toMatch(/ warning +Kubo at 127\.0\.0\.1:\d+ acknowledges blocks before they are on its disk/)
    expect(await isWhole()).toBe(true)
    const { cid, bytes } = published.tree
    await kubo.ipfs('pin', 'rm', cid)
    await kubo.ipfs('block', 'rm', cid)
    const found = await annal('check')
    expect([found.code, found.stdout]).toEqual([1, expect.stringContaining(cid)])
    expect((await annal('repair')).code).toBe(0)
    expect(sha256Of((await read(cid)).bytes)).toBe(sha256Of(bytes))
  })
})

describe('unneeded files in Kubo', () => {
  it('are deleted with their asset after the grace period; others stay', async () => {
    const gone = await user.register({ asset_file: new File([new Uint8Array(2_000_000).fill(7)], 'gone.bin') })
    expectOk(await user.rest('DELETE', `assets/${gone.id}/`))
    expect(await collect()).toBe(0)
    await age()
    expect(await collect()).toBeGreaterThan(0)
    await kubo.ipfs('repo', 'gc')
    expect(await app.installation.contentStore.isWhole(gone.id)).toBe(false)
    expect(sha256Of((await read(published.large.cid)).bytes)).toBe(sha256Of(published.large.bytes))
    expect(await isWhole()).toBe(true)
  })

  it('are deleted during uploads, and acknowledged files stay', async () => {
    const files = Array.from({ length: 8 }, (_, n) => [n, newFile(`file-${n}.txt`, 'text/plain')] as const)
    const kept = new Map<string, number>()
    // Each was there, was deleted, and is old: the collection is about to remove what comes back.
    for (const [, file] of files) {
      const { id } = expectOk(await upload(file))
      expectOk(await user.rest('DELETE', `assets/${id}/`))
    }
    await age()
    const register = async () => {
      for (const [n, file] of files) kept.set(expectOk(await upload(file)).id, n)
    }
    await Promise.all([
      register(),
      app.maintenance.collectGarbage(),
      (async () => {
        for (let turn = 0; turn < 5; turn += 1) await kubo.ipfs('repo', 'gc', '--quiet')
      })(),
    ])
    await app.maintenance.collectGarbage()
    await kubo.ipfs('repo', 'gc')
    expect(kept.size).toBe(files.length)
    for (const [cid, n] of kept) expect((await read(cid)).bytes.toString()).toBe(await files[n]![1].text())
    expect(await isWhole()).toBe(true)
  })
})

describe('a failing Kubo node', () => {
  it('rejects an upload if it is killed, and accepts it afterwards', async () => {
    // So large that it is still under way when its first blocks have been seen, also where the machine is busy.
    const bytes = bytesOf(200_000_000)
    const file = new File([bytes], 'film.mp4', { type: 'video/mp4' })
    const before = await kubo.blockCount()
    await expectNothingTaken(async () => {
      const uploading = upload(file)
      await eventually(kubo.blockCount, (count) => count > before + 3, 120_000)
      await kubo.kill()
      const refused = await uploading
      expect([refused.status, refused.body.error.type]).toEqual([503, expect.any(String)])
      expect(await readiness()).toEqual({ status: 'degraded', missing: ['file store'] })
      expectOk(await user.rest('GET', 'auth/users/me/'))
      expect((await read(published.small.cid)).status).toBe(503)
    })
    await kubo.start()
    await ready()
    const { id } = expectOk(await upload(file))
    expect(sha256Of((await read(id)).bytes)).toBe(sha256Of(bytes))
  })

  it('rejects uploads after a timeout while it hangs, and accepts them afterwards', async () => {
    await expectNothingTaken(async () => {
      kubo.freeze()
      try {
        expect((await upload(newFile())).status).toBe(503)
        await eventually(readiness, ({ status }) => status === 'degraded', 120_000)
        expect(await readiness()).toEqual({ status: 'degraded', missing: ['file store'] })
      } finally {
        kubo.thaw()
      }
    })
    await ready()
    expectOk(await upload(newFile()))
  })

  it('receives files that were committed during its outage', async () => {
    await kubo.kill()
    const asset = published.small.cid
    const changed = await user.rest('PATCH', `assets/${asset}/`, { json: { caption: 'while Kubo was away' } })
    await kubo.start()
    await ready()
    expectOk(changed)
    const treeOfChange = async () => {
      const { commits } = expectOk(await user.rest('GET', `assets/${asset}/history/`))
      const trees: string[] = commits.map(({ assetTreeCid }: { assetTreeCid: string }) => assetTreeCid)
      const newest = trees.find((tree) => tree !== published.tree.cid)
      return newest && (await read(newest)).status
    }
    await eventually(treeOfChange, (status) => status === 200, 120_000)
    expect(await isWhole()).toBe(true)
  })
})
