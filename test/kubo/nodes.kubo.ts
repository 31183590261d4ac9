/** Files on two real Kubo nodes, through the front doors of a gateway. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Published, publish, sha256Of } from '../gateway/fixture.ts'
import { annalHere } from '../support/annal-command.ts'
import { eventually } from '../support/eventually.ts'
import { expectOk } from '../support/expect-error.ts'
import { createTestApp, newFile, type SignedIn } from '../support/test-app.ts'
import { type KuboNode, startKubo } from './node.ts'

// Set up differently, and each on its own: they do not know each other.
const one = await startKubo({ isSynced: true })
const two = await startKubo({ isSynced: true, profile: 'unixfs-v1-2025' })
const app = await createTestApp({
  withChain: true,
  env: { IPFS_API_URL: `${one.url},${two.url}`, IPFS_COPIES: '1', GARBAGE_GRACE_MINUTES: '1' },
})
let published: Published
let user: SignedIn

beforeAll(async () => {
  published = await publish(app)
  user = published.user
})
afterAll(async () => {
  await one.stop()
  await two.stop()
})

const read = async (cid: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${app.url}/ipfs/${cid}`, { headers })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}
const readiness = async () => (await app.rest('GET', '/readyz')).body
const nameOf = (node: KuboNode) => new URL(node.url).host
const upload = (file: File) => user.rest('POST', 'assets/', { multipart: { asset_file: file, public_access: 'true' } })
const has = (node: KuboNode, cid: string) =>
  node.ipfs('pin', 'ls', '--type=recursive', cid).then(
    () => true,
    () => false,
  )
const expectAll = async () => {
  for (const { cid, bytes } of [published.small, published.large, published.tree]) {
    const found = await read(cid)
    expect([found.status, sha256Of(found.bytes)]).toEqual([200, sha256Of(bytes)])
  }
}

describe('files on two Kubo nodes', () => {
  it('are on both under one identifier, and are served when either of them was killed', async () => {
    expect((await annalHere(app.env, ['doctor'])).stdout).toMatch(/^files +right +Kubo answers at IPFS_API_URL\./m)
    for (const node of [one, two]) {
      for (const { cid } of [published.small, published.large, published.tree]) expect(await has(node, cid)).toBe(true)
      await node.kill()
      await expectAll()
      expect(await readiness()).toEqual({ status: 'degraded', missing: [`file store ${nameOf(node)}`] })
      const { stdout } = await annalHere(app.env, ['doctor'])
      expect(stdout).toContain(`Kubo does not answer at ${nameOf(node)}`)
      await node.start()
      await eventually(readiness, ({ status }) => status === 'ok', 60_000)
    }
  })

  it('are read to their end when the node that sends them is killed meanwhile', async () => {
    const { cid, bytes } = published.large
    const answer = await fetch(`${app.url}/ipfs/${cid}`)
    const reader = answer.body!.getReader()
    const parts = [(await reader.read()).value!]
    await one.kill()
    for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value)
    expect(sha256Of(Buffer.concat(parts))).toBe(sha256Of(bytes))
    await one.start()
    await eventually(readiness, ({ status }) => status === 'ok', 60_000)
  })

  it('are taken by the other node when one is killed in the middle of an upload, and given to it afterwards', async () => {
    const bytes = new Uint8Array(60_000_000)
    for (let at = 0; at < bytes.length; at += 1_000) bytes[at] = at / 1_000
    const before = await one.blockCount()
    const uploading = upload(new File([bytes], 'film.mp4', { type: 'video/mp4' }))
    await eventually(one.blockCount, (count) => count > before + 3, 120_000)
    await one.kill()
    const { id } = expectOk(await uploading)
    expect(sha256Of((await read(id)).bytes)).toBe(sha256Of(bytes))
    const meanwhile = expectOk(await upload(newFile('note.txt', 'text/plain')))
    await one.start()
    await eventually(readiness, ({ status }) => status === 'ok', 60_000)
    await app.maintenance.collectGarbage()
    for (const cid of [id, meanwhile.id]) expect(await has(one, cid), cid).toBe(true)
    await two.kill()
    expect(sha256Of((await read(id)).bytes)).toBe(sha256Of(bytes))
    await expectAll()
    await two.start()
  })

  it('come back to a node that lost its disk', async () => {
    await two.empty()
    await eventually(readiness, ({ status }) => status === 'ok', 60_000)
    await expectAll()
    await app.maintenance.collectGarbage()
    await one.kill()
    await expectAll()
    const { stdout } = await annalHere(app.env, ['check', '--json'])
    expect(JSON.parse(stdout).find(({ id }: { id: string }) => id === 'B1').holds).toBe(true)
    await one.start()
  })
})
