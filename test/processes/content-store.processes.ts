import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import * as dagPb from '@ipld/dag-pb'
import { base32upper } from 'multiformats/bases/base32'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import * as digests from 'multiformats/hashes/digest'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createContentStore } from '../../src/files/content-store.ts'
import type { ContentStore } from '../../src/files/file-types.ts'
import { DomainError } from '../../src/shared/errors.ts'
import { bytesOf, collect, expectError, listOf, stream } from '../unit/files/stored-bytes.ts'

let dir: string
let store: ContentStore

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-content-store-'))
  store = createContentStore({ dir })
})

afterEach(() => rm(dir, { recursive: true, force: true }))

const chunkSize = 262_144

/** Compares bytes faster than `toEqual`, which takes seconds for megabytes. */
const expectBytes = (found: Uint8Array, expected: Uint8Array, message?: string) => {
  expect(found.length, message).toBe(expected.length)
  expect(Buffer.compare(found, expected), message).toBe(0)
}

const rawCid = async (bytes: Uint8Array) => CID.createV1(raw.code, await sha256.digest(bytes)).toString()

const filesOnDisk = async () =>
  (await readdir(dir, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const ageFiles = async (files: string[], seconds: number) => {
  const then = new Date(Date.now() - seconds * 1000)
  for (const file of files) await utimes(file, then, then)
}
const age = async (seconds: number) => ageFiles(await filesOnDisk(), seconds)

const expectBlocksWhole = async () => {
  const files = (await filesOnDisk()).filter((file) => file.endsWith('.data'))
  for (const file of files) {
    const promised = digests.decode(base32upper.decoder.decode(file.slice(file.lastIndexOf('/') + 1, -'.data'.length)))
    const found = await sha256.digest(await readFile(file))
    expect(found.bytes, file).toEqual(promised.bytes)
  }
  return files.length
}

test('the content store returns the same CIDs as Kubo', async () => {
  expect(await store.importFile(stream(new TextEncoder().encode('hello world\n')))).toMatchObject({
    cid: 'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4',
    sha256: 'a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447',
    size: 12,
  })
  expect((await store.importFile(stream(new Uint8Array()))).cid).toBe(
    'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku',
  )
})

test('stores a file of one chunk as a raw leaf, and a larger file as a tree', async () => {
  const whole = bytesOf(chunkSize)
  expect((await store.importFile(stream(whole))).cid).toBe(await rawCid(whole))
  const { cid } = await store.importFile(stream(bytesOf(chunkSize + 1)))
  expect(cid).toBe('bafybeid5uybgghs7ruigpioziwsjgqx4gt3ggc2m3ljnjcnawa7i55seau')
})

test.each([
  [3, 'bafybeigucbj2lzsj5rioohnjhnpne54qaesfqrmujxk4s7zi5dj56mhh3e'],
  [174, 'bafybeigk2xr543iummvvn37n7vrigrkx44o66zipw5cqnenf2ejpvogsrq'],
  [175, 'bafybeieu3vtpjvpteshoqrjlyclvcis2k7mytf2cowhrb5j7sjedor2ksa'],
])('builds the same tree as Kubo for %i chunks, and hashes the whole file', async (chunks, cid) => {
  const bytes = bytesOf(chunks * chunkSize - 1000)
  const file = await store.importFile(stream(bytes, 1_000_003))
  const hash = createHash('sha256').update(bytes).digest('hex')
  expect(file).toMatchObject({ cid, sha256: hash, size: bytes.length })
  const visit = async (cid: CID): Promise<void> => {
    const block = await store.readBlock(cid.toString())
    expect((await sha256.digest(block)).bytes).toEqual(cid.multihash.bytes)
    if (cid.code === dagPb.code) for (const link of dagPb.decode(block).Links) await visit(link.Hash)
  }
  await visit(CID.parse(file.cid))
  expect(await store.size(file.cid)).toBe(bytes.length)
  expectBytes(await collect(store.read(file.cid)), bytes)
})

test('computes the CID of a document without storing the document', async () => {
  const bytes = bytesOf(5000)
  const { cid, sha256: hash } = store.identify(bytes)
  expect(cid).toBe(await rawCid(bytes))
  expect(hash).toBe(createHash('sha256').update(bytes).digest('hex'))
  await expectError(store.readBlock(cid), 'NOT_FOUND')
  expect(await store.putDocument(bytes)).toBe(cid)
  expectBytes(await store.readBlock(cid), bytes)
})

test('reads any byte range of a stored file', async () => {
  const size = 20 * chunkSize + 17
  const bytes = bytesOf(size)
  const { cid } = await store.importFile(stream(bytes))
  for (const offset of [0, 1, chunkSize - 1, chunkSize, 16 * chunkSize - 5, size - 1, size, size + 10]) {
    for (const length of [0, 1, 10, chunkSize, size]) {
      const part = await collect(store.read(cid, { offset, length }))
      expectBytes(part, bytes.slice(offset, offset + length), `${offset}+${length}`)
    }
  }
  const small = bytesOf(100)
  const one = await store.importFile(stream(small))
  expectBytes(await collect(store.read(one.cid, { offset: 90, length: 50 })), small.slice(90))
})

test('returns not found for a missing, malformed or non-file CID', async () => {
  const missing = await rawCid(bytesOf(9))
  const identity = CID.createV1(raw.code, digests.create(0, new Uint8Array([1, 2, 3]))).toString()
  for (const cid of [missing, identity, 'no-cid', '', '../../etc/passwd', missing.replace('bafkrei', 'bafybei')]) {
    await expectError(collect(store.read(cid)), 'NOT_FOUND')
    await expectError(store.size(cid), 'NOT_FOUND')
    await expectError(store.readBlock(cid), 'NOT_FOUND')
    await expectError(collect(store.exportCar(cid)), 'NOT_FOUND')
  }
})

test('aborts a CAR export if a block is missing', async () => {
  const bytes = bytesOf(4 * chunkSize)
  const { cid } = await store.importFile(stream(bytes))
  const leaf = await rawCid(bytes.slice(2 * chunkSize, 3 * chunkSize))
  const name = base32upper.encoder.encode(CID.parse(leaf).multihash.bytes)
  const file = (await filesOnDisk()).find((path) => path.includes(name)) as string
  await rm(file)
  await expectError(collect(store.exportCar(cid)), 'NOT_FOUND')
  await expectError(collect(store.read(cid)), 'NOT_FOUND')
})

test('garbage collection deletes unpinned blocks after the grace period', async () => {
  const kept = bytesOf(3 * chunkSize, 'kept')
  // Shares its first chunk with the kept file.
  const dropped = new Uint8Array(Buffer.concat([kept.slice(0, chunkSize), bytesOf(2 * chunkSize, 'dropped')]))
  const keptFile = await store.importFile(stream(kept))
  const droppedFile = await store.importFile(stream(dropped))
  const unstored = await rawCid(bytesOf(3, 'pinned before it is stored'))
  const pins = () => listOf(keptFile.cid, unstored)

  expect(await store.collectGarbage(pins(), 60)).toBe(0)
  await age(120)
  expect(await store.collectGarbage(pins(), 60)).toBe(3)
  expectBytes(await collect(store.read(keptFile.cid)), kept)
  await expectError(collect(store.read(droppedFile.cid)), 'NOT_FOUND')
  expect(await store.collectGarbage(pins(), 60)).toBe(0)
})

test('restores a block that a killed garbage collection moved, unless the block is old', async () => {
  const bytes = bytesOf(1000)
  const { cid } = await store.importFile(stream(bytes))
  const [file] = (await filesOnDisk()) as [string]
  await rename(file, `${file}.aside`)
  expect(await store.collectGarbage(listOf(cid), 60)).toBe(0)
  expectBytes(await collect(store.read(cid)), bytes)
  await rename(file, `${file}.aside`)
  await age(120)
  await store.collectGarbage(listOf(), 60)
  expect(await filesOnDisk()).toEqual([])
})

describe('unreadable inner blocks', () => {
  const since = async (before: string[], work: () => Promise<{ cid: string }>) => {
    const { cid } = await work()
    return { cid, files: (await filesOnDisk()).filter((file) => !before.includes(file)) }
  }
  const breakings: [string, (root: string) => Promise<unknown>][] = [
    ['that the disk cannot read', (root) => rm(root).then(() => mkdir(root))],
    ['that is damaged', async (root) => writeFile(root, Buffer.from(await readFile(root)).fill(0, 0, 9))],
    ['whose file contains another block', async (root) => writeFile(root, dagPb.encode(dagPb.prepare({ Links: [] })))],
  ]

  test.each(breakings)(
    'an unreadable inner block %s keeps its possible child blocks, and older garbage is deleted',
    async (_, breakRoot) => {
      const [older, pinned, newer] = [bytesOf(2 * chunkSize, 'older'), bytesOf(2 * chunkSize), bytesOf(9, 'newer')]
      const old = await since([], () => store.importFile(stream(older)))
      const kept = await since(await filesOnDisk(), () => store.importFile(stream(pinned)))
      const young = await since(await filesOnDisk(), () => store.importFile(stream(newer)))
      const sizes = await Promise.all(kept.files.map(async (file) => ({ file, size: (await stat(file)).size })))
      const root = sizes.sort((a, b) => a.size - b.size)[0]!.file
      await breakRoot(root)
      await ageFiles(old.files, 10_000)
      await ageFiles([...new Set([...kept.files, root])], 5_000)
      await ageFiles(young.files, 4_000)

      const troubles: string[] = []
      const onError = (item: string) => void troubles.push(item)
      expect(await store.collectGarbage(listOf(kept.cid), 60, { onError })).toBe(3)
      expect(troubles).toEqual([relative(dir, root)])
      await expectError(store.collectGarbage(listOf(kept.cid), 60), 'UNAVAILABLE')

      await rm(root, { recursive: true })
      await store.importFile(stream(pinned))
      expect(await store.collectGarbage(listOf(kept.cid), 60)).toBe(1)
      expectBytes(await collect(store.read(kept.cid)), pinned)
      await expectError(collect(store.read(young.cid)), 'NOT_FOUND')
    },
  )
})

test('a block that cannot be deleted, or an invalid pin, does not stop garbage collection', async () => {
  for (const seed of ['a', 'b', 'c']) await store.importFile(stream(bytesOf(1000, seed)))
  const [stuck] = (await filesOnDisk()) as [string]
  await rm(stuck)
  await mkdir(stuck)
  await age(120)
  await utimes(stuck, 1, 1)
  const troubles: string[] = []
  const onError = (item: string) => void troubles.push(item)
  expect(await store.collectGarbage(listOf('no identifier'), 60, { onError })).toBe(2)
  expect(troubles).toEqual(['no identifier', relative(dir, stuck)])
})

test('a file keeps its leaves if a killed garbage collection moved its inner block', async () => {
  const bytes = bytesOf(3 * chunkSize)
  const { cid } = await store.importFile(stream(bytes))
  const files = await Promise.all((await filesOnDisk()).map(async (file) => ({ file, size: (await stat(file)).size })))
  const root = files.sort((a, b) => a.size - b.size)[0]!.file
  await rename(root, `${root}.of-another-run.aside`)
  await age(120)
  expect(await store.collectGarbage(listOf(cid), 60)).toBe(0)
  expectBytes(await collect(store.read(cid)), bytes)
})

test('a moved block never replaces a rewritten block', async () => {
  const { cid } = await store.importFile(stream(bytesOf(1000)))
  const [file] = (await filesOnDisk()) as [string]
  await rename(file, `${file}.aside`)
  await age(120)
  await store.importFile(stream(bytesOf(1000)))
  expect(await store.collectGarbage(listOf(), 60)).toBe(0)
  expect(await filesOnDisk()).toEqual([file])
  expect(await store.isWhole(cid)).toBe(true)
})

test('an empty or missing blocks folder has no garbage', async () => {
  expect(await createContentStore({ dir: join(dir, 'absent') }).collectGarbage(listOf(), 0)).toBe(0)
})

test('concurrent imports of one file return the same CID and complete blocks', async () => {
  const bytes = bytesOf(12 * chunkSize)
  const files = await Promise.all(Array.from({ length: 6 }, () => store.importFile(stream(bytes))))
  expect(new Set(files.map((file) => file.cid)).size).toBe(1)
  expect(await expectBlocksWhole()).toBe(13)
  expectBytes(await collect(store.read(files[0]?.cid as string)), bytes)
})

test('the next import of a file replaces a block of the wrong length', async () => {
  const bytes = bytesOf(1000)
  const { cid } = await store.importFile(stream(bytes))
  const [file] = await filesOnDisk()
  await writeFile(file as string, bytes.slice(0, 10))
  await store.importFile(stream(bytes))
  expectBytes(await collect(store.read(cid)), bytes)
})

test('a killed import leaves only complete blocks and can be repeated', async () => {
  const child = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { createContentStore } from ${JSON.stringify(new URL('../../src/files/content-store.ts', import.meta.url))}
    import { randomBytes } from 'node:crypto'
    const store = createContentStore({ dir: ${JSON.stringify(dir)} })
    await store.importFile((async function* () { for (;;) yield randomBytes(300_000) })())`,
  ])
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)))
  await expect.poll(async () => (await filesOnDisk()).length, { timeout: 15_000, interval: 5 }).toBeGreaterThan(50)
  child.kill('SIGKILL')
  expect(await ended).toBe('SIGKILL')
  expect(await expectBlocksWhole()).toBeGreaterThan(40)

  const bytes = bytesOf(3 * chunkSize)
  const { cid } = await store.importFile(stream(bytes))
  await age(120)
  await store.collectGarbage(listOf(cid), 60)
  expect(await filesOnDisk()).toHaveLength(4)
  expectBytes(await collect(store.read(cid)), bytes)
})

test('an import reports the error of its source', async () => {
  const refusal = new DomainError('PAYLOAD_TOO_LARGE', 'Too large.')
  async function* broken() {
    yield bytesOf(3 * chunkSize)
    throw refusal
  }
  await expect(store.importFile(broken())).rejects.toBe(refusal)
})

test('an import reports a disk error as UNAVAILABLE', async () => {
  const file = join(dir, 'a-file')
  await writeFile(file, '')
  const broken = createContentStore({ dir: file })
  await expectError(broken.importFile(stream(bytesOf(10))), 'UNAVAILABLE')
  await expectError(broken.putDocument(bytesOf(10)), 'UNAVAILABLE')
  await expectError(broken.readBlock(await rawCid(bytesOf(10))), 'UNAVAILABLE')
  await expectError(broken.collectGarbage(listOf(), 0), 'UNAVAILABLE')
  expect((await stat(file)).size).toBe(0)
})

test('reports a file as complete only with all of its blocks', async () => {
  const { cid } = await store.importFile(stream(bytesOf(3 * chunkSize)))
  const small = await store.putDocument(bytesOf(10))
  expect([await store.isWhole(cid), await store.isWhole(small)]).toEqual([true, true])
  const names = (await readdir(dir, { recursive: true })).filter((name) => name.endsWith('.data'))
  for (const name of names) {
    const bytes = await readFile(join(dir, name))
    await rm(join(dir, name))
    expect([await store.isWhole(cid), await store.isWhole(small)], name).toEqual(
      bytes.length === 10 ? [true, false] : [false, true],
    )
    await writeFile(join(dir, name), bytes)
  }
})
