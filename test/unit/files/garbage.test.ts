/** What a collection of garbage must never take, on every store there is. */
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createContentStore } from '../../../src/files/content-store.ts'
import type { ContentStore } from '../../../src/files/file-types.ts'
import { createKuboContentStore } from '../../../src/files/kubo-store.ts'
import { startKuboCounterpart } from './kubo-counterpart.ts'

interface StoreUnderTest {
  store: ContentStore
  age(seconds: number): Promise<void>
  holds(cid: string): Promise<boolean>
  stop(): Promise<void>
}

const canRead = async (store: ContentStore, cid: string) => {
  try {
    for await (const _ of store.read(cid));
    return true
  } catch {
    return false
  }
}

const onDisk = async (dir: string): Promise<StoreUnderTest> => {
  const store = createContentStore({ dir })
  return {
    store,
    async age(seconds) {
      const then = new Date(Date.now() - seconds * 1000)
      for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
        if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), then, then)
      }
    },
    holds: (cid) => canRead(store, cid),
    stop: async () => {},
  }
}

const inKubo = async (dir: string): Promise<StoreUnderTest> => {
  const kubo = await startKuboCounterpart(dir)
  const store = createKuboContentStore({ url: kubo.url })
  return {
    store,
    async age(seconds) {
      for (const [cid] of kubo.pins) kubo.pins.set(cid, `annal ${Math.floor(Date.now() / 1000) - seconds}`)
    },
    holds: async (cid) => kubo.pins.has(cid) && (await canRead(store, cid)),
    stop: kubo.stop,
  }
}

const withStore = async (
  open: (dir: string) => Promise<StoreUnderTest>,
  work: (on: StoreUnderTest) => Promise<void>,
) => {
  const dir = await mkdtemp(join(tmpdir(), 'annal-garbage-'))
  const opened = await open(dir)
  try {
    await work(opened)
  } finally {
    await opened.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

async function* stream(text: string) {
  yield Buffer.from(text.repeat(50_000))
}
async function* listOf(...cids: string[]) {
  yield* cids
}

describe.each([
  ['on disk', onDisk],
  ['in Kubo', inKubo],
])('a garbage collection %s', (_, open) => {
  it('deletes only old unpinned blocks', () =>
    withStore(open, async ({ store, age, holds }) => {
      const [kept, old] = [await store.importFile(stream('kept')), await store.importFile(stream('old'))]
      expect(await store.collectGarbage(listOf(kept.cid), 60)).toBe(0)
      await age(120)
      const young = await store.importFile(stream('young'))
      expect(await store.collectGarbage(listOf(kept.cid), 60)).toBeGreaterThan(0)
      expect([await holds(kept.cid), await holds(old.cid), await holds(young.cid)]).toEqual([true, false, true])
    }))

  it('never deletes a file or document that is stored again meanwhile', () =>
    withStore(open, async ({ store, age, holds }) => {
      const document = Buffer.from('{"a": "document"}')
      for (let round = 0; round < 8; round += 1) {
        await store.importFile(stream('file'))
        await store.putDocument(document)
        await age(120)
        const [file, cid] = await Promise.all([
          store.importFile(stream('file')),
          store.putDocument(document),
          store.collectGarbage(listOf(), 60),
          store.collectGarbage(listOf(), 60),
        ])
        expect([await holds(file.cid), await holds(cid)]).toEqual([true, true])
      }
    }))
})
