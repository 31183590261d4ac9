import { readdir, rm, stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createContentStore } from '../../../src/files/content-store.ts'
import type { ContentStore } from '../../../src/files/file-types.ts'
import { countServed, createDeadline, createKuboContentStore } from '../../../src/files/kubo-store.ts'
import { DomainError } from '../../../src/shared/errors.ts'
import { until } from '../../support/eventually.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'
import { type KuboCounterpart, startKuboCounterpart } from './kubo-counterpart.ts'
import { bytesOf, collect, expectError, listOf, stream } from './stored-bytes.ts'

let dir: string
let kubo: KuboCounterpart
let store: ContentStore

beforeEach(async () => {
  dir = await createTemporaryFolder()
  kubo = await startKuboCounterpart(join(dir, 'kubo'))
  store = createKuboContentStore({ url: kubo.url })
})
afterEach(() => kubo.stop())

const json = { 'Content-Type': 'application/json' }

const age = (seconds: number) => {
  for (const [cid] of kubo.pins) kubo.pins.set(cid, `annal ${Math.floor(Date.now() / 1000) - seconds}`)
}
const loseLeaf = async (folder: string) => {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.data'))
  const sizes = await Promise.all(names.map(async (name) => ({ name, size: (await stat(join(folder, name))).size })))
  await rm(join(folder, sizes.sort((a, b) => b.size - a.size)[0]!.name))
}
const rawCid = async (bytes: Uint8Array) => CID.createV1(raw.code, await sha256.digest(bytes)).toString()

describe('import of a file into Kubo', () => {
  it('a file in Kubo has the same CID as in other stores, with any import profile of the node', async () => {
    const bytes = bytesOf(175 * 262_144 + 1)
    const file = await store.importFile(stream(bytes))
    const { discard: _, ...facts } = await createContentStore({ dir: join(dir, 'own') }).importFile(stream(bytes))
    expect(file).toMatchObject(facts)
    const { query } = kubo.requests.find(({ path }) => path === 'add')!
    expect(Object.fromEntries(query)).toMatchObject({
      'cid-version': '1',
      hash: 'sha2-256',
      'raw-leaves': 'true',
      chunker: 'size-262144',
      'max-file-links': '174',
      trickle: 'false',
      inline: 'false',
    })
    expect((await collect(store.read(file.cid))).equals(bytes)).toBe(true)
    expect(await store.size(file.cid)).toBe(bytes.length)
  })

  it("adds and pins a file in Kubo under Annal's name in one request", async () => {
    const { cid } = await store.importFile(stream(bytesOf(1000)))
    expect(kubo.pins.get(cid)).toMatch(/^annal \d+$/)
    expect(kubo.requests.map(({ path }) => path)).toEqual(['add'])
  })

  it('stores a document in Kubo as one block, and pins it in the same request', async () => {
    for (const size of [1, 100, 900_000]) {
      kubo.requests.length = 0
      const cid = await store.putDocument(bytesOf(size))
      expect(cid).toBe(await rawCid(bytesOf(size)))
      expect(kubo.pins.get(cid)).toMatch(/^annal \d+$/)
      // Between two requests, Kubo's own garbage collection could delete a block that is not pinned yet.
      expect(kubo.requests.map(({ path }) => path)).toEqual(['add'])
    }
  })

  it.each([
    ['rejects', (res: ServerResponse) => res.writeHead(500, json).end('{"Message":"no","Code":0}')],
    ['aborts', (res: ServerResponse) => res.destroy()],
  ])('closes the source of a file when the Kubo node %s the import', async (_, answer) => {
    kubo.intercept = (path, _query, res) => {
      if (path === 'add') answer(res)
      return path === 'add'
    }
    let isClosed = false
    async function* source() {
      try {
        yield* stream(bytesOf(20_000_000))
      } finally {
        isClosed = true
      }
    }
    await expectError(store.importFile(source()), 'UNAVAILABLE')
    await until('the source is closed', () => isClosed)
  })

  it('reports the error of a file source that fails during an import into Kubo', async () => {
    const refusal = new DomainError('PAYLOAD_TOO_LARGE', 'Too large.')
    async function* broken() {
      yield bytesOf(300_000)
      throw refusal
    }
    await expect(store.importFile(broken())).rejects.toBe(refusal)
  })
})

it('a file in Kubo is complete only if the node has all of its blocks', async () => {
  const { cid } = await store.importFile(stream(bytesOf(3 * 262_144)))
  expect(await store.isWhole(cid)).toBe(true)
  expect(await store.isWhole(await rawCid(bytesOf(10)))).toBe(false)
  await loseLeaf(join(dir, 'kubo'))
  expect(await store.isWhole(cid)).toBe(false)
})

describe('a Kubo node that does not respond', () => {
  const questions: [string, (store: ContentStore, cid: string) => Promise<unknown>][] = [
    ['an import', (impatient) => impatient.importFile(stream(bytesOf(500_000)))],
    ['storing a document', (impatient) => impatient.putDocument(bytesOf(10))],
    ['reading a block', (impatient, cid) => impatient.readBlock(cid)],
    ['reading a file', (impatient, cid) => collect(impatient.read(cid))],
    ['reading a size', (impatient, cid) => impatient.size(cid)],
    ['checking that a file is complete', (impatient, cid) => impatient.isWhole(cid)],
    ['a garbage collection', (impatient) => impatient.collectGarbage(listOf(), 0)],
  ]
  it.each(questions)('%s fails with UNAVAILABLE after a timeout if the Kubo node does not respond', async (_, ask) => {
    const { cid } = await store.importFile(stream(bytesOf(10)))
    const impatient = createKuboContentStore({ url: kubo.url, timeoutMs: 100 })
    kubo.intercept = () => true
    await expectError(ask(impatient, cid), 'UNAVAILABLE')
    expect(await impatient.isReachable()).toBe(false)
    kubo.intercept = () => false
    await until('it is reachable', () => impatient.isReachable())
  })

  it('aborts a file download if the Kubo node stops responding', async () => {
    kubo.intercept = (path, _, res) => path === 'cat' && res.writeHead(200).write('the first piece')
    const { cid } = await store.importFile(stream(bytesOf(10)))
    await expectError(collect(createKuboContentStore({ url: kubo.url, timeoutMs: 100 }).read(cid)), 'UNAVAILABLE')
  })

  it('aborts a request to the Kubo node when the caller aborts', async () => {
    kubo.intercept = () => true
    const stopping = new AbortController()
    const waiting = store.putDocument(bytesOf(10), stopping.signal)
    stopping.abort()
    await expectError(waiting, 'UNAVAILABLE')
  })

  it('a request to the Kubo node does not time out while the reader is slow', () => {
    vi.useFakeTimers()
    const patience = createDeadline(500)
    for (let turn = 0; turn < 3; turn += 1) {
      patience.start()
      vi.advanceTimersByTime(400)
      patience.stop()
      vi.advanceTimersByTime(10_000)
    }
    expect(patience.signal.aborted).toBe(false)
    patience.start()
    vi.advanceTimersByTime(500)
    expect(patience.signal.aborted).toBe(true)
    vi.useRealTimers()
  })
})

describe('garbage collection in Kubo', () => {
  it('garbage collection keeps a Kubo pin that is renewed between listing and removal', async () => {
    const { cid } = await store.importFile(stream(bytesOf(1000)))
    const other = createKuboContentStore({ url: kubo.url })
    age(120)
    let looks = 0
    kubo.intercept = async (path) => {
      // The first request lists the pins. Before the second, another process registers the file again.
      if (path === 'pin/ls' && ++looks === 2) await other.importFile(stream(bytesOf(1000)))
      return false
    }
    expect(await store.collectGarbage(listOf(), 60)).toBe(0)
    expect(kubo.pins.has(cid)).toBe(true)
  })

  it('garbage collection restores a Kubo pin that this process renews during the removal', async () => {
    const { cid } = await store.importFile(stream(bytesOf(1000)))
    age(120)
    kubo.intercept = async (path) => {
      if (path !== 'pin/rm') return false
      kubo.intercept = () => false
      await store.importFile(stream(bytesOf(1000)))
      return false
    }
    expect(await store.collectGarbage(listOf(), 60)).toBe(0)
    expect(kubo.pins.get(cid)).toMatch(/^annal \d+$/)
  })

  it('garbage collection keeps a Kubo file that another process registers during the removal', async () => {
    const { cid } = await store.importFile(stream(bytesOf(1000)))
    const other = createKuboContentStore({ url: kubo.url })
    const registered = new Set<string>()
    age(120)
    kubo.intercept = async (path) => {
      if (path === 'pin/rm') registered.add((await other.importFile(stream(bytesOf(1000)))).cid)
      return false
    }
    const isPinned = async (asked: string) => registered.has(asked)
    expect(await store.collectGarbage(listOf(), 60, { isPinned })).toBe(0)
    expect(kubo.pins.get(cid)).toMatch(/^annal \d+$/)
  })

  it.each([
    ['if this process was suspended during the removal', { maxRemovalMs: -1 }, async () => false],
    ['if the database is unavailable', {}, async () => Promise.reject(new Error('away'))],
  ] as [string, { maxRemovalMs?: number }, () => Promise<boolean>][])(
    'garbage collection pins a Kubo file again after its removal %s',
    async (_, options, isPinned) => {
      const { cid } = await store.importFile(stream(bytesOf(1000)))
      age(120)
      const onError = () => undefined
      const slow = createKuboContentStore({ url: kubo.url, ...options })
      expect(await slow.collectGarbage(listOf(), 60, { isPinned, onError })).toBe(0)
      expect(kubo.requests.some(({ path }) => path === 'pin/rm')).toBe(true)
      expect(kubo.pins.get(cid)).toMatch(/^annal \d+$/)
    },
  )

  it('garbage collection reports a Kubo pin that it cannot remove, and continues with other pins', async () => {
    const cids: string[] = []
    for (const seed of ['a', 'b', 'c', 'd']) cids.push((await store.importFile(stream(bytesOf(1000, seed)))).cid)
    const [stuck, gone, unpinnable, lost] = cids as [string, string, string, string]
    age(120)
    kubo.pins.delete(unpinnable)
    kubo.pins.delete(lost)
    kubo.intercept = (path, query, res) => {
      const refused = path === 'pin/rm' ? stuck : path === 'pin/add' ? unpinnable : undefined
      return refused !== undefined && query.get('arg')?.includes(refused) === true && !!res.writeHead(500).end('{}')
    }
    const troubles: string[] = []
    const onError = (item: string) => void troubles.push(item)
    expect(await store.collectGarbage(listOf(unpinnable, lost), 60, { onError })).toBe(1)
    expect(troubles).toEqual([unpinnable, stuck])
    expect([gone, lost].map((cid) => kubo.pins.has(cid))).toEqual([false, true])
  })

  it('garbage collection fails with UNAVAILABLE when the Kubo node becomes unavailable', async () => {
    for (const seed of ['a', 'b']) await store.importFile(stream(bytesOf(1000, seed)))
    age(120)
    kubo.intercept = (path, _, res) => path !== 'pin/ls' && !!res.destroy()
    const onError = () => expect.fail('it is nobody’s')
    await expectError(store.collectGarbage(listOf(), 60, { onError }), 'UNAVAILABLE')
  })

  it('garbage collection in Kubo keeps the files of assets, and restores a missing pin', async () => {
    const { cid } = await store.importFile(stream(bytesOf(1000)))
    const never = await rawCid(bytesOf(7))
    kubo.pins.delete(cid)
    expect(await store.collectGarbage(listOf(cid, never), 60)).toBe(0)
    expect([...kubo.pins.keys()]).toEqual([cid])
  })

  it("garbage collection in Kubo removes only old pins with Annal's name", async () => {
    const { cid } = await store.importFile(stream(bytesOf(1000)))
    expect(await store.collectGarbage(listOf(), 60)).toBe(0)
    kubo.pins.set(cid, 'of another program')
    expect(await store.collectGarbage(listOf(), 0)).toBe(0)
    expect(kubo.pins.has(cid)).toBe(true)
  })
})

describe('Kubo nodes with peers', () => {
  const peers = [
    '12D3KooWGjMCwxoyRbWa2VVGfYAGEqvJbbDRuZ2a4pA6zEBXEyWp',
    '12D3KooWBmwkafWE2fqfzS96VoTZgpGp6aJsF4N6eAR5D3uXxGZy',
  ]
  const serve = (isServer?: boolean) => {
    kubo.intercept = (path, query, res) => {
      if (path === 'swarm/peers') {
        res.end(JSON.stringify({ Peers: peers.map((Peer) => ({ Addr: '/ip4/192.0.2.1/tcp/4001', Peer })) }))
        return true
      }
      if (isServer === undefined || query.get('arg') !== 'Bitswap.ServerEnabled') return false
      res.end(JSON.stringify({ Key: 'Bitswap.ServerEnabled', Value: isServer }))
      return true
    }
  }

  it('counts all peers of a Kubo node as served by default, and if Bitswap serving is enabled', async () => {
    serve()
    expect(await countServed(kubo.url)).toBe(2)
    serve(true)
    expect(await countServed(kubo.url)).toBe(2)
  })

  it('counts no peers of a Kubo node as served if Bitswap serving is disabled or the peer list is unavailable', async () => {
    serve(false)
    expect(await countServed(kubo.url)).toBe(0)
    kubo.intercept = () => false
    expect(await countServed(kubo.url)).toBe(0)
  })
})
