import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'
import { startKuboCounterpart } from '../../unit/files/kubo-counterpart.ts'

const dir = await mkdtemp(join(tmpdir(), 'annal-kubo-'))
const kubo = await startKuboCounterpart(dir)
const app = await createTestApp({ env: { IPFS_API_URL: kubo.url } })
afterAll(async () => {
  await kubo.stop()
  await rm(dir, { recursive: true, force: true })
})

const readiness = async () => {
  const { status, body } = await app.rest('GET', '/readyz')
  return { status, body }
}

it('readiness reports an unavailable file store as degraded with 200, and other requests still succeed', async () => {
  const user = await app.newUser()
  expect(await readiness()).toEqual({ status: 200, body: { status: 'ok' } })
  kubo.intercept = (_, __, res) => !!res.destroy()
  expect(await readiness()).toEqual({ status: 200, body: { status: 'degraded', missing: ['file store'] } })
  expectOk(await user.rest('GET', 'auth/users/me/'))
  expect((await user.rest('POST', 'assets/', { multipart: { asset_file: newFile() } })).status).toBe(503)
  expect(await app.wallet(user)).toEqual({ num: '0', points: '12' })
  kubo.intercept = () => false
  expect(await readiness()).toEqual({ status: 200, body: { status: 'ok' } })
  await user.register()
})
