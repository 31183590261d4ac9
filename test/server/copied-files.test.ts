/** Files move from a folder to a bucket: `annal files copy`. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { refuse, startS3Counterpart } from '../files/s3-counterpart.ts'
import { annalHere } from '../support/annal-command.ts'
import { atEnd } from '../support/at-end.ts'
import { startAnother } from '../support/start-another.ts'
import { createTestApp } from '../support/test-app.ts'

const s3 = await startS3Counterpart()
const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const folder = join(app.env.ANNAL_DIR!, 'blocks')
const moved = { ...app.env, ...s3.env, S3_PREFIX: 'moved' }
afterAll(s3.stop)

const large = new Uint8Array(1_500_000).map((_, at) => at >> 8)
const assets = [
  await user.register({ asset_file: new File(['a small file'], 'small.txt'), public_access: 'true' }),
  await user.register({ asset_file: new File([large], 'large.bin'), public_access: 'true' }),
]
beforeEach(() => {
  s3.objects.clear()
  s3.intercept = () => false
})

const copy = async (...args: string[]) => {
  const { code, stdout, stderr } = await annalHere(moved, ['files', 'copy', '--from-dir', folder, '--json', ...args])
  return { code, stderr, found: stdout === '' ? undefined : JSON.parse(stdout) }
}

it('every file has its identifier there, and a gateway reads it; the second time nothing is copied', async () => {
  const first = await copy()
  expect(first).toMatchObject({ code: 0, found: { present: 0, missing: [] } })
  expect(first.found.copied).toBeGreaterThanOrEqual(assets.length)
  expect([...s3.objects.keys()].every((key) => key.startsWith('moved/'))).toBe(true)
  expect(await copy()).toMatchObject({ code: 0, found: { copied: 0, present: first.found.copied, missing: [] } })

  const another = await startAnother({ ...app, installation: { ...app.installation, config: readConfig(moved) } })
  atEnd(another.stop)
  const answer = await fetch(`${another.url}/ipfs/${assets[1]!.id}`)
  expect(Buffer.compare(Buffer.from(await answer.arrayBuffer()), large)).toBe(0)
  const { stdout } = await annalHere(moved, ['check', '--json'])
  expect(JSON.parse(stdout).find(({ id }: { id: string }) => id === 'B1')).toMatchObject({ holds: true })
})

it('goes on where it was broken off', async () => {
  let writes = 0
  s3.intercept = (method, _, res) => method === 'PUT' && ++writes > 3 && refuse(res, 403, 'AccessDenied')
  const broken = await copy()
  expect(broken.code).toBe(1)
  expect(broken.stderr).toContain('The file store is not available right now')
  s3.intercept = () => false
  const { found } = await copy()
  expect(found.missing).toEqual([])
  expect(found.copied).toBeGreaterThan(0)
  expect(await copy()).toMatchObject({ code: 0, found: { copied: 0 } })
})

it('names what is not whole where it comes from, and copies all else', async () => {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.data'))
  const sizes = await Promise.all(names.map(async (name) => ({ name, size: (await stat(join(folder, name))).size })))
  const { name } = sizes.find(({ size }) => size === 262_144)!
  await rm(join(folder, name))
  const { code, found } = await copy()
  expect([code, found.missing]).toEqual([1, [assets[1]!.id]])
  expect(found.copied).toBeGreaterThan(0)
})

it('wants to know where files come from', async () => {
  expect((await annalHere(moved, ['files', 'copy'])).code).toBe(2)
  expect((await annalHere(moved, ['files', 'copy', '--from-dir', '/nowhere/at/all'])).code).toBe(1)
})
