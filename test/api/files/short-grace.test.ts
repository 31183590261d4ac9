/** Garbage collection with a grace period of one minute deletes only unused files. */
import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, expect, it, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp({
  configure: (config) => ({ ...config, files: { ...config.files, garbageGraceSeconds: 60 } }),
})
const user = await app.newUser({ num: '100' })
const { contentStore, config } = app.installation
afterEach(() => void vi.restoreAllMocks())

const newBytes = (() => {
  let count = 0
  return () => {
    count += 1
    return Buffer.from(`${count} ${performance.timeOrigin} `.repeat(30_000))
  }
})()
async function* stream(bytes: Uint8Array) {
  yield bytes
}
const age = async (seconds: number) => {
  const then = new Date(Date.now() - seconds * 1_000)
  const entries = await readdir(join(config.dir, 'blocks'), { recursive: true, withFileTypes: true })
  for (const entry of entries) if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), then, then)
}
const register = (bytes: Uint8Array<ArrayBuffer>) =>
  user.register({ asset_file: new File([bytes], 'a.bin'), public_access: 'true' })

it('garbage collection removes unused files after one minute, and not before', async () => {
  const kept = await register(newBytes())
  const orphan = await contentStore.importFile(stream(newBytes()))
  await age(50)
  expect(await app.maintenance.collectGarbage()).toBe(0)
  await age(70)
  const young = await contentStore.importFile(stream(newBytes()))
  expect(await app.maintenance.collectGarbage()).toBeGreaterThan(0)
  const whole = [kept.id, orphan.cid, young.cid].map((cid) => contentStore.isWhole(cid))
  expect(await Promise.all(whole)).toEqual([true, false, true])
})

it('a file survives garbage collection that runs between its import and its pin', async () => {
  const bytes = newBytes()
  const { cid } = await contentStore.identifyFile(stream(bytes))
  const holder = new pg.Client({ connectionString: app.env.DATABASE_URL })
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query('select from wallets where user_id = $1 for update', [user.id])
    const registering = register(bytes)
    await eventually(() => contentStore.isWhole(cid), Boolean)
    await age(70)
    await app.maintenance.collectGarbage()
    expect(await contentStore.isWhole(cid)).toBe(false)
    // Simulates a pause of this length.
    const now = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 70_000)
    await holder.query('commit')
    await registering
  } finally {
    await holder.end()
  }
  const answer = await fetch(`${app.url}/ipfs/${cid}`)
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true)
})
