/** Kubo's own gateway reads public assets from ours alone, block by block. A delegated router names our gateway as a trustless gateway. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectOk } from '../../support/expect-error.ts'
import { createTestApp } from '../../support/test-app.ts'
import { type Published, publish, sha256Of } from '../gateway/fixture.ts'
import { startRouter } from '../gateway/router.ts'
import { startBalancer } from './balancer.ts'
import { type KuboNode, startKubo } from './node.ts'

const app = await createTestApp({ withChain: true })
let router: string
let reader: KuboNode
let published: Published

beforeAll(async () => {
  router = await startRouter(`/ip4/127.0.0.1/tcp/${new URL(app.url).port}/http`)
  reader = await startKubo({ router })
  published = await publish(app)
})
afterAll(() => reader?.stop())

const readFrom = async (node: KuboNode, cid: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${node.gatewayUrl}/ipfs/${cid}`, { headers })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

it('a Kubo node reads a file of one block, a file of many blocks, and a tree from Annal', async () => {
  for (const { cid, bytes } of [published.small, published.large, published.tree]) {
    const found = await readFrom(reader, cid)
    expect([found.status, found.bytes.length, sha256Of(found.bytes)]).toEqual([200, bytes.length, sha256Of(bytes)])
  }
})

it('a Kubo node reads a byte range of a file from Annal', async () => {
  const other = await startKubo({ router })
  try {
    const { cid, bytes } = published.large
    const found = await readFrom(other, cid, { Range: 'bytes=20000000-20500000' })
    expect([found.status, sha256Of(found.bytes)]).toEqual([206, sha256Of(bytes.subarray(20_000_000, 20_500_001))])
    expect(await other.blockCount()).toBeLessThan(20)
  } finally {
    await other.stop()
  }
})

it('a Kubo node pins a public file, and does not find private or deleted files', async () => {
  const { user, small, hidden } = published
  await reader.ipfs('pin', 'add', small.cid)
  const note = new File([`withdrawn ${performance.timeOrigin}`], 'note.txt', { type: 'text/plain' })
  const { id } = await user.register({ asset_file: note, public_access: 'true' })
  expectOk(await user.rest('PATCH', `assets/${id}/`, { json: { public_access: false } }))
  const links = await reader.ipfs('ls', published.large.cid).catch(String)
  expect(links).not.toContain(hidden)
  const secretBlocks: string[] = []
  for await (const block of app.installation.contentStore.blocksBelow(hidden)) secretBlocks.push(block)
  for (const cid of [hidden, id, secretBlocks[0]!])
    await expect(reader.ipfs('cat', '--timeout=10s', cid), cid).rejects.toThrow(/deadline exceeded|timeout|timed out/i)
})

describe('load balancers that terminate TLS', () => {
  it('Annal is readable over HTTP/2 behind a load balancer that terminates TLS', async () => {
    const router = await startRouter(`/ip4/127.0.0.1/tcp/${await startBalancer(app.url)}/tls/http`)
    const node = await startKubo({ router })
    try {
      for (const { cid, bytes } of [published.small, published.tree, published.large]) {
        const found = await readFrom(node, cid)
        expect([found.status, sha256Of(found.bytes)]).toEqual([200, sha256Of(bytes)])
      }
    } finally {
      await node.stop()
    }
  })
})
