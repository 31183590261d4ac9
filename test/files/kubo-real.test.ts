/** The same on a real Kubo, where there is one: `ipfs` on the PATH, 0.37 or later. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createCipheriv } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { identifyFile } from '../../src/files/file-layout.ts'
import { createKuboContentStore } from '../../src/files/kubo-store.ts'
import { eventually } from '../support/eventually.ts'

const isThere = spawnSync('ipfs', ['version']).status === 0

/** More than one level of 174 links, so that a wider tree would show. */
const bytes = createCipheriv('aes-256-ctr', new Uint8Array(32), new Uint8Array(16)).update(new Uint8Array(46_000_000))
async function* stream() {
  for (let at = 0; at < bytes.length; at += 1_000_003) yield bytes.subarray(at, at + 1_000_003)
}
async function* listOf(...cids: string[]) {
  yield* cids
}

describe.runIf(isThere)('a Kubo of the profile', () => {
  it.each(['default', 'test-cid-v1', 'test-cid-v1-wide'])('%s gives a file our identifier', async (profile) => {
    const dir = await mkdtemp(join(tmpdir(), 'annal-ipfs-'))
    const env = { ...process.env, IPFS_PATH: dir }
    const ipfs = (...args: string[]) => String(execFileSync('ipfs', args, { env, stdio: 'pipe' }))
    ipfs('init', ...(profile === 'default' ? [] : [`--profile=${profile}`]))
    for (const address of ['API', 'Gateway']) ipfs('config', `Addresses.${address}`, '/ip4/127.0.0.1/tcp/0')
    ipfs('config', '--json', 'Addresses.Swarm', '[]')
    const daemon = spawn('ipfs', ['daemon', '--offline'], { env, stdio: 'ignore' })
    const ended = once(daemon, 'exit')
    try {
      const api = await eventually(() => readFile(join(dir, 'api'), 'utf8').catch(() => ''), Boolean, 60_000)
      const store = createKuboContentStore({ url: `http://127.0.0.1:${/tcp\/(\d+)/.exec(api)?.[1]}` })
      await eventually(() => store.isReachable(), Boolean, 60_000)
      const file = await store.importFile(stream())
      expect(file.cid).toBe((await identifyFile(stream())).cid)
      expect(await store.size(file.cid)).toBe(bytes.length)
      expect(ipfs('pin', 'ls', '--type=recursive', '--names')).toMatch(new RegExp(`${file.cid} recursive annal \\d+`))
      ipfs('pin', 'add', '--name', 'annal 1', file.cid)
      expect(await store.collectGarbage(listOf(file.cid), 60)).toBe(0)
      expect(await store.collectGarbage(listOf(), 60)).toBe(1)
    } finally {
      daemon.kill('SIGTERM')
      await ended
      await rm(dir, { recursive: true, force: true })
    }
  })
})
