/** Files on two Kubo nodes, of which one goes away. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { startKuboCounterpart } from '../files/kubo-counterpart.ts'
import { expectOk } from '../support/expect-error.ts'
import { createTestApp, newFile } from '../support/test-app.ts'

const dir = await mkdtemp(join(tmpdir(), 'annal-kubo-'))
const [one, two] = [await startKuboCounterpart(join(dir, 'one')), await startKuboCounterpart(join(dir, 'two'))]
const urls = `${one.url}, ${two.url}`
const careful = await createTestApp({ env: { IPFS_API_URL: urls } })
const eager = await createTestApp({ env: { IPFS_API_URL: urls, IPFS_COPIES: '1' } })
afterAll(async () => {
  await one.stop()
  await two.stop()
  await rm(dir, { recursive: true, force: true })
})

const takeAway = (node: typeof one) => {
  node.intercept = (_, __, res) => !!res.destroy()
}
const bringBack = (node: typeof one) => {
  node.intercept = () => false
}
const missing = `file store ${new URL(one.url).host}`

describe('two Kubo nodes of which one is away', () => {
  it('serve every file; where both are to have it, registrations are refused and nothing is charged', async () => {
    const user = await careful.newUser()
    const text = `on both, ${performance.timeOrigin}`
    const { id } = await user.register({ asset_file: new File([text], 'note.txt'), public_access: 'true' })
    expect([one, two].every(({ pins }) => pins.has(id))).toBe(true)
    for (const away of [one, two]) {
      takeAway(away)
      const name = `file store ${new URL(away.url).host}`
      expect((await careful.rest('GET', '/readyz')).body).toEqual({ status: 'degraded', missing: ['file store', name] })
      expect((await careful.rest('GET', `/ipfs/${id}`)).bytes.toString()).toBe(text)
      const before = await careful.wallet(user)
      const refused = await user.rest('POST', 'assets/', { multipart: { asset_file: newFile() } })
      expect(refused.status).toBe(503)
      expect(await careful.wallet(user)).toEqual(before)
      bringBack(away)
      expect((await careful.rest('GET', '/readyz')).body).toEqual({ status: 'ok' })
    }
    await user.register()
  })

  it('take registrations where one copy is enough, and the other one is given what it missed', async () => {
    const user = await eager.newUser()
    takeAway(one)
    expect((await eager.rest('GET', '/readyz')).body).toEqual({ status: 'degraded', missing: [missing] })
    const { id } = await user.register({ asset_file: newFile(), public_access: 'true' })
    expect((await eager.rest('GET', `/ipfs/${id}`)).status).toBe(200)
    bringBack(one)
    expect(one.pins.has(id)).toBe(false)
    await eager.maintenance.collectGarbage()
    expect([one, two].every(({ pins }) => pins.has(id))).toBe(true)
    takeAway(two)
    expect((await eager.rest('GET', `/ipfs/${id}`)).status).toBe(200)
    bringBack(two)
    expectOk(await user.rest('DELETE', `assets/${id}/`))
  })
})
