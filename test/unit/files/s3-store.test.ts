import { createHash } from 'node:crypto'
import { CID } from 'multiformats/cid'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { identifyFile } from '../../../src/files/cids.ts'
import type { ContentStore } from '../../../src/files/file-types.ts'
import { createS3Bucket } from '../../../src/files/s3-bucket.ts'
import { createS3ContentStore } from '../../../src/files/s3-store.ts'
import { claimStore, ownedBucket } from '../../../src/files/store-owner.ts'
import { until } from '../../support/eventually.ts'
import { refuse, type S3Counterpart, startS3Counterpart } from './s3-counterpart.ts'
import { bytesOf, collect, expectError, listOf, stream } from './stored-bytes.ts'

const GRACE_SECONDS = 3_600
let s3: S3Counterpart
let store: ContentStore

const optionsOf = () => ({ bucket: 'files', prefix: 'ours/', region: 'us-east-1', endpoint: s3.url, isPathStyle: true })
const open = (more: { timeoutMs?: number; settleMs?: number; prefix?: string; bucket?: string; owner?: string } = {}) =>
  createS3ContentStore({ ...optionsOf(), graceSeconds: GRACE_SECONDS, settleMs: 0, timeoutMs: 60_000, ...more })

beforeEach(async () => {
  s3 = await startS3Counterpart()
  store = open()
})
afterEach(() => s3.stop())

const age = (seconds: number) => {
  for (const object of s3.objects.values()) object.changedAt -= seconds * 1_000
}
/** Imports a file whose blocks are older than the grace period. */
const importOld = async (bytes: Uint8Array) => {
  const file = await store.importFile(stream(bytes))
  age(GRACE_SECONDS + 10)
  return file
}
const blocks = () => [...s3.objects.keys()].filter((key) => key.endsWith('.data'))
const small = bytesOf(1_000)
const large = bytesOf(1_000_000)

describe('files in a bucket', () => {
  it('a file in a bucket has the same CID as on disk, and is readable whole, in ranges and by block', async () => {
    const file = await store.importFile(stream(large))
    expect(file).toMatchObject(await identifyFile(stream(large)))
    expect(await store.size(file.cid)).toBe(large.length)
    expect(Buffer.compare(await collect(store.read(file.cid)), large)).toBe(0)
    const range = { offset: 262_100, length: 300_000 }
    expect(Buffer.compare(await collect(store.read(file.cid, range)), large.subarray(262_100, 562_100))).toBe(0)
    expect(await store.isWhole(file.cid)).toBe(true)
    expect((await collect(store.exportCar(file.cid))).length).toBeGreaterThan(large.length)
    expect(blocks()).toHaveLength(5)
  })

  it('stores the blocks of a file under the keys that blockstore-s3 uses', async () => {
    const { cid } = await store.importFile(stream(small))
    const [key] = blocks()
    expect(key).toMatch(/^ours\/([A-Z2-7]{2})\/B[A-Z2-7]+\.data$/)
    expect(s3.objects.get(key!)!.bytes).toEqual(Buffer.from(await store.readBlock(cid)))
  })

  it('sends a checksum with each block, and the storage verifies it', async () => {
    const bucket = createS3Bucket(optionsOf())
    const sha256 = createHash('sha256').update('something else').digest('base64')
    await expectError(bucket.put('x', small, { sha256 }), 'UNAVAILABLE')
    expect(s3.objects.size).toBe(0)
  })

  it('a file in a bucket is incomplete if a block is missing, and a file that was never stored is not found', async () => {
    const { cid } = await store.importFile(stream(large))
    const leaf = [...s3.objects].find(([, { bytes }]) => bytes.length === 262_144)![0]
    s3.objects.delete(leaf)
    expect(await store.isWhole(cid)).toBe(false)
    await expectError(collect(store.read(cid)), 'NOT_FOUND')
    await expectError(store.size((await identifyFile(stream(small))).cid), 'NOT_FOUND')
  })

  it('replaces a damaged block when the file is stored again', async () => {
    const { cid } = await store.importFile(stream(small))
    s3.objects.get(blocks()[0]!)!.bytes = Buffer.alloc(10)
    await store.importFile(stream(small))
    expect(Buffer.compare(await collect(store.read(cid)), small)).toBe(0)
  })
})

describe('garbage in a bucket', () => {
  it('garbage collection deletes unpinned blocks older than the grace period, by the storage clock', async () => {
    const kept = await store.importFile(stream(large))
    await store.importFile(stream(bytesOf(2_000_000, 'garbage')))
    const count = blocks().length
    s3.page = 2
    expect(await store.collectGarbage(listOf(kept.cid), GRACE_SECONDS)).toBe(0)
    s3.now += GRACE_SECONDS * 1_000 + 2_000
    expect(await store.collectGarbage(listOf(kept.cid), GRACE_SECONDS)).toBe(count - 5)
    expect(await store.isWhole(kept.cid)).toBe(true)
  })

  it('garbage collection ignores objects under other prefixes and objects that are not blocks', async () => {
    const others = [
      'ours/theirs/QQ/BCIQABC.data',
      'theirs/QQ/BCIQABC.data',
      'ours/QQ/readme.txt',
      'ours/QQ/BCIQABC.data.bak',
    ]
    for (const key of others) s3.objects.set(key, { bytes: Buffer.from('x'), changedAt: 0 })
    s3.objects.set('ours/QQ/BCIQABC.data', { bytes: Buffer.from('x'), changedAt: 0 })
    expect(await store.collectGarbage(listOf(), GRACE_SECONDS)).toBe(1)
    for (const key of others) expect(s3.objects.has(key), key).toBe(true)
  })

  it('garbage collection reports a block that it cannot delete, and deletes the other blocks', async () => {
    await importOld(large)
    const stuck = blocks()[0]!
    s3.intercept = (method, key, res) => method === 'DELETE' && key === stuck && refuse(res, 403, 'AccessDenied')
    const reported: string[] = []
    const onError = (item: string) => reported.push(item)
    expect(await store.collectGarbage(listOf(), GRACE_SECONDS, { onError })).toBe(4)
    expect(reported).toEqual([stuck.slice('ours/'.length)])
  })

  it('garbage collection keeps blocks below an unreadable or damaged block', async () => {
    const { cid } = await importOld(large)
    const root = blocks().find((key) => s3.objects.get(key)!.bytes.length < 1_000)!
    const onError = () => undefined
    s3.intercept = (method, key, res) => method === 'GET' && key === root && refuse(res, 403, 'AccessDenied')
    expect(await store.collectGarbage(listOf(cid), GRACE_SECONDS, { onError })).toBe(0)
    s3.intercept = () => false
    s3.objects.get(root)!.bytes.fill(0)
    expect(await store.collectGarbage(listOf(cid), GRACE_SECONDS, { onError })).toBe(0)
    expect(blocks()).toHaveLength(5)
  })

  it('garbage collection fails while the storage is unavailable', async () => {
    await importOld(large)
    const reported: string[] = []
    s3.intercept = (method, _, res) => method !== 'GET' && !!res.destroy()
    const onError = (item: string) => reported.push(item)
    await expectError(store.collectGarbage(listOf(), GRACE_SECONDS, { onError }), 'UNAVAILABLE')
    expect(reported).toEqual([])
  })
})

describe('buckets of other installations', () => {
  const collectOf = (owner: string) => open({ owner }).collectGarbage(listOf(), GRACE_SECONDS)

  it('garbage collection keeps the blocks of another installation in the same bucket', async () => {
    await collectOf('the first')
    await importOld(large)
    await expect(collectOf('the second')).rejects.toThrow('belongs to another installation')
    expect(blocks()).toHaveLength(5)
    expect(await collectOf('the first')).toBe(5)
    await expect(collectOf('the second')).rejects.toThrow('belongs to another installation')
  })

  it('reports a bucket of another installation immediately, unlike a storage outage', async () => {
    const claim = (owner: string, timeoutMs = 60_000) =>
      claimStore(ownedBucket(createS3Bucket({ ...optionsOf(), timeoutMs })), owner)
    await claim('the first')
    await claim('the first')
    await expect(claim('the second')).rejects.toThrow('belongs to another installation')
    s3.intercept = (_, __, res) => refuse(res, 403, 'AccessDenied')
    await expectError(claim('the second', 300), 'UNAVAILABLE')
  })
})

describe('blocks that are renewed during a collection', () => {
  const once = (wanted: string, work: () => Promise<unknown>) => {
    let isDone = false
    s3.intercept = async (method, key) => {
      if (isDone || method !== wanted || !key.endsWith('.data')) return false
      isDone = true
      await work()
      return false
    }
  }

  it('garbage collection keeps a block that is renewed before the last check', async () => {
    const { cid } = await importOld(small)
    once('HEAD', () => open().importFile(stream(small)))
    expect(await store.collectGarbage(listOf(), GRACE_SECONDS)).toBe(0)
    expect(await store.isWhole(cid)).toBe(true)
  })

  it('a block that is renewed during a stall between check and deletion is kept', async () => {
    const { cid } = await importOld(small)
    once('DELETE', async () => {
      await open().importFile(stream(small))
      s3.now += 10_000
    })
    expect(await store.collectGarbage(listOf(), GRACE_SECONDS)).toBe(0)
    expect(await store.isWhole(cid)).toBe(true)
  })

  it('storing a block fails during its deletion, and a retry stores the block again', async () => {
    const { cid } = await importOld(small)
    let removed = () => {}
    const isRemoved = new Promise<void>((resolve) => {
      removed = resolve
    })
    let renewal: Promise<unknown> | undefined
    let written = () => {}
    const isWritten = new Promise<void>((resolve) => {
      written = resolve
    })
    s3.intercept = async (method, key) => {
      // After writing, the renewing process checks for a running collection, and waits for the removal.
      if (method === 'HEAD' && key === 'ours/collection' && renewal) {
        written()
        await isRemoved
      }
      if (method === 'DELETE') {
        renewal = open().importFile(stream(small))
        renewal.catch(() => undefined)
        await isWritten
      }
      return false
    }
    expect(await store.collectGarbage(listOf(), GRACE_SECONDS)).toBe(1)
    removed()
    await expectError(renewal!, 'UNAVAILABLE')
    s3.intercept = () => false
    await store.importFile(stream(small))
    expect(await store.isWhole(cid)).toBe(true)
  })

  it('renews a block without waiting while no garbage collection runs', async () => {
    const patient = open({ settleMs: 1e9 })
    await patient.importFile(stream(large))
    age(GRACE_SECONDS / 2)
    await patient.importFile(stream(large))
    expect([...s3.objects.values()].every(({ changedAt }) => changedAt > s3.now - 60_000)).toBe(true)
  })

  it('only one garbage collection at a time deletes blocks', async () => {
    await importOld(large)
    const others: number[] = []
    once('DELETE', async () => {
      others.push(await open().collectGarbage(listOf(), GRACE_SECONDS))
    })
    expect(await store.collectGarbage(listOf(), GRACE_SECONDS)).toBe(5)
    expect(others).toEqual([0])
  })

  it('a killed garbage collection blocks the next one for two minutes', async () => {
    await importOld(large)
    s3.objects.set('ours/collection', { bytes: Buffer.from('of one that was killed'), changedAt: s3.now })
    expect(await store.collectGarbage(listOf(), GRACE_SECONDS)).toBe(0)
    s3.now += 121_000
    expect(await store.collectGarbage(listOf(), GRACE_SECONDS)).toBe(5)
    expect(await store.collectGarbage(listOf(), GRACE_SECONDS)).toBe(0)
  })

  it('a garbage collection that stalls after acquiring its lock deletes nothing', async () => {
    await importOld(small)
    once('HEAD', async () => {
      s3.now += 4_000
    })
    expect(await store.collectGarbage(listOf(), GRACE_SECONDS)).toBe(0)
    expect(blocks()).toHaveLength(1)
  })
})

describe('unreliable storage', () => {
  test.each([
    { status: 403, code: 'AccessDenied', as: 'UNAVAILABLE' },
    { status: 404, code: 'NoSuchBucket', as: 'UNAVAILABLE' },
    { status: 500, code: 'InternalError', as: 'UNAVAILABLE' },
    { status: 503, code: 'SlowDown', as: 'UNAVAILABLE' },
    { status: 507, code: 'XMinioStorageFull', as: 'INSUFFICIENT_STORAGE' },
    { status: 403, code: 'QuotaExceeded', as: 'INSUFFICIENT_STORAGE' },
  ])(
    'rejects a file with $as if the storage returns $status $code, and accepts the next file',
    async ({ status, code, as }) => {
      s3.intercept = (method, _, res) => method === 'PUT' && refuse(res, status, code)
      await expectError(store.importFile(stream(large)), as)
      await expectError(store.putDocument(small), as)
      s3.intercept = () => false
      expect(await store.isWhole((await store.importFile(stream(large))).cid)).toBe(true)
    },
  )

  it('retries a write after a SlowDown response of the storage', async () => {
    let times = 0
    s3.intercept = (method, _, res) => method === 'PUT' && ++times === 1 && refuse(res, 503, 'SlowDown')
    const { cid } = await store.importFile(stream(small))
    expect(await store.isWhole(cid)).toBe(true)
  })

  it('retries a read after a truncated block', async () => {
    const { cid } = await store.importFile(stream(small))
    let times = 0
    s3.intercept = (method, _, res) => {
      if (method !== 'GET' || ++times > 2) return false
      res.writeHead(200, { 'Content-Length': 1_000 })
      return res.write('the first bytes', () => res.destroy())
    }
    expect(Buffer.compare(await collect(store.read(cid)), small)).toBe(0)
    expect(times).toBe(3)
  })

  it.each(['HEAD', 'PUT', 'GET'])('a storage request times out if the storage never responds to %s', async (wanted) => {
    const impatient = open({ timeoutMs: 300 })
    const { cid } = await store.importFile(stream(large))
    age(GRACE_SECONDS)
    s3.intercept = (method) => method === wanted
    const work = wanted === 'GET' ? collect(impatient.read(cid)) : impatient.importFile(stream(large))
    await expectError(work, 'UNAVAILABLE')
    if (wanted === 'HEAD') expect(await impatient.isReachable()).toBe(false)
  })

  it('retries a read after one wrong block, and fails after repeated wrong blocks', async () => {
    const { cid } = await store.importFile(stream(large))
    const page = Buffer.from('<html>This hotel welcomes you.</html>')
    let times = 0
    s3.intercept = (method, _, res) => {
      if (method !== 'GET' || ++times > 1) return false
      res.writeHead(200, { 'Content-Length': page.length }).end(page)
      return true
    }
    expect(Buffer.compare(await collect(store.read(cid)), large)).toBe(0)
    s3.intercept = () => false
    const leaf = s3.objects.get(blocks().find((key) => s3.objects.get(key)!.bytes.length === 262_144)!)!
    leaf.bytes = Buffer.from(leaf.bytes)
    leaf.bytes[1_000]! ^= 1
    await expectError(collect(store.read(cid)), 'UNAVAILABLE')
    await expectError(collect(store.exportCar(cid)), 'UNAVAILABLE')
  })

  it('a read times out if the storage stops sending in the middle of a block', async () => {
    const { cid } = await store.importFile(stream(small))
    s3.intercept = (method, _, res) => {
      if (method !== 'GET') return false
      res.writeHead(200, { 'Content-Length': 1_000 })
      return res.write('the first bytes')
    }
    await expectError(open({ timeoutMs: 300 }).readBlock(cid), 'UNAVAILABLE')
  })

  it('does not report files as lost if the bucket is missing', async () => {
    const { cid } = await store.importFile(stream(small))
    const elsewhere = open({ bucket: 'another' })
    await expectError(elsewhere.isWhole(cid), 'UNAVAILABLE')
    await expectError(elsewhere.size(cid), 'UNAVAILABLE')
    await expectError(elsewhere.readBlock(cid), 'UNAVAILABLE')
    await expectError(elsewhere.importFile(stream(small)), 'UNAVAILABLE')
    expect(await elsewhere.isReachable()).toBe(false)
  })

  it('reports storage errors without signatures and keys', async () => {
    s3.intercept = (_, __, res) => refuse(res, 403, 'SignatureDoesNotMatch')
    const error = await store.readBlock(CID.parse((await identifyFile(stream(small))).cid).toString()).catch((e) => e)
    const { cause } = error as Error
    expect((cause as Error).message).toContain('403 SignatureDoesNotMatch')
    expect(Object.keys(cause as Error)).toEqual([])
    expect((cause as Error).cause).toBeUndefined()
  })
})

it('stops waiting for a document when the caller disconnects', async () => {
  s3.intercept = (method) => method === 'PUT'
  const leave = new AbortController()
  const putting = store.putDocument(small, leave.signal)
  const left = expect(putting).rejects.toThrow('left')
  await until('the storage is asked', () => s3.requests.some(({ method }) => method === 'PUT'))
  leave.abort(new Error('left'))
  await left
})
