/** Files on a real Kubo node. */
import { afterAll, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'
import { openStoredFiles, testStoredFiles } from '../gateway/stored-files.ts'
import { startKubo } from './node.ts'

const GRACE_MINUTES = 1
const kubo = await startKubo()
const app = await createTestApp({
  withChain: true,
  env: { IPFS_API_URL: kubo.url },
  configure: (config) => ({ ...config, files: { ...config.files, garbageGraceSeconds: GRACE_MINUTES * 60 } }),
})
const files = await openStoredFiles(app)
const { published, user, annal, read, ready, upload, isWhole } = files
afterAll(kubo.stop)
const age = async () => {
  const then = `annal ${Math.floor(Date.now() / 1000) - 2 * GRACE_MINUTES * 60}`
  const pins = await kubo.ipfs('pin', 'ls', '--type=recursive', '--names')
  for (const line of pins.trim().split('\n')) {
    const [cid, , ...name] = line.split(' ')
    if (name[0] === 'annal') await kubo.ipfs('pin', 'add', '--name', then, cid!)
  }
}
const lose = async (cid: string) => {
  await kubo.ipfs('pin', 'rm', cid)
  await kubo.ipfs('block', 'rm', cid)
}

const purge = () => kubo.ipfs('repo', 'gc')
testStoredFiles(files, { ...kubo, age, lose, purge }, /^files +ok +Kubo answers at IPFS_API_URL\./m)

it("`annal doctor` warns about Kubo's default settings, which acknowledge blocks before they are on disk", async () => {
  const warning = / warning +Kubo at 127\.0\.0\.1:\d+ acknowledges blocks before they are on its disk/
  expect((await annal('doctor')).stdout).toMatch(warning)
})

it('a Kubo node keeps acknowledged files if garbage is collected during uploads', async () => {
  const files = Array.from({ length: 8 }, (_, n) => [n, newFile(`file-${n}.txt`, 'text/plain')] as const)
  const kept = new Map<string, number>()
  // Each file was deleted before and is old, so the collection may delete it while it is uploaded again.
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
  await purge()
  expect(kept.size).toBe(files.length)
  for (const [cid, n] of kept) expect((await read(cid)).bytes.toString()).toBe(await files[n]![1].text())
  expect(await isWhole()).toBe(true)
})

it('a Kubo node receives files that were committed during its outage', async () => {
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
