/** The content store on a real Kubo, whatever profile it was set up with. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { identifyFile } from '../../../src/files/cids.ts'
import type { ContentStore } from '../../../src/files/file-types.ts'
import { createKuboContentStore } from '../../../src/files/kubo-store.ts'
import { bytesOf, collect, expectError, listOf, stream } from '../../unit/files/stored-bytes.ts'
import { type KuboNode, startKubo } from './node.ts'

const SIZES = [1, 262_144, 300_000, 50_000_000]
const old = () => `annal ${Math.floor(Date.now() / 1000) - 120}`

describe.each([undefined, 'legacy-cid-v0', 'unixfs-v0-2015', 'unixfs-v1-2025'])(
  'Kubo node with the profile %s',
  (profile) => {
    let node: KuboNode
    let store: ContentStore
    beforeAll(async () => {
      node = await startKubo({ ...(profile && { profile }) })
      store = createKuboContentStore({ url: node.url })
    })
    afterAll(() => node?.stop())

    it.each(SIZES)('a Kubo node returns the same CID and bytes for a file of %i bytes', async (size) => {
      const bytes = bytesOf(size)
      const { cid, size: stored } = await store.importFile(stream(bytes))
      expect([cid, stored]).toEqual([(await identifyFile(stream(bytes))).cid, size])
      expect(await store.size(cid)).toBe(size)
      expect(await store.isWhole(cid)).toBe(true)
      expect((await collect(store.read(cid))).equals(bytes)).toBe(true)
      const [offset, length] = [Math.floor(size / 3), Math.ceil(size / 3)]
      expect((await collect(store.read(cid, { offset, length }))).equals(bytes.subarray(offset, offset + length))).toBe(
        true,
      )
      expect(await node.ipfs('pin', 'ls', '--type=recursive', '--names', cid)).toMatch(/ recursive annal \d+\n/)
    })

    it.each([10, 200_000, 1_000_000])('a Kubo node keeps a document of %i bytes as one block', async (size) => {
      const bytes = bytesOf(size, 'a document')
      const cid = await store.putDocument(bytes)
      expect(cid).toBe(store.identify(bytes).cid)
      expect(Buffer.from(await store.readBlock(cid)).equals(bytes)).toBe(true)
      expect(await node.ipfs('pin', 'ls', '--type=recursive', '--names', cid)).toMatch(/ recursive annal \d+\n/)
    })

    it('garbage collection in a Kubo node deletes only old unpinned files of Annal', async () => {
      const cids: string[] = []
      for (const seed of ['needed', 'lost', 'young', 'foreign', 'old'])
        cids.push((await store.importFile(stream(bytesOf(600_000, seed)))).cid)
      const [needed, lost, young, foreign, gone] = cids as [string, string, string, string, string]
      await node.ipfs('pin', 'add', '--name', old(), needed)
      await node.ipfs('pin', 'rm', lost)
      await node.ipfs('pin', 'add', '--name', 'somebody else’s', foreign)
      await node.ipfs('pin', 'add', '--name', old(), gone)
      expect(await store.collectGarbage(listOf(needed, lost), 60)).toBe(1)
      await node.ipfs('repo', 'gc')
      for (const cid of [needed, lost, young, foreign]) expect(await store.isWhole(cid), cid).toBe(true)
      expect(await store.isWhole(gone)).toBe(false)
      await expectError(collect(store.read(gone)), 'NOT_FOUND')
      await expectError(store.size(gone), 'NOT_FOUND')
      await expectError(store.readBlock(gone), 'NOT_FOUND')
    })

    it('a Kubo node keeps files that are added during its own garbage collection', async () => {
      let isOver = false
      const collecting = (async () => {
        while (!isOver) await node.ipfs('repo', 'gc', '--quiet')
      })()
      try {
        const cids: string[] = []
        for (let turn = 0; turn < 60; turn += 1) {
          cids.push(await store.putDocument(bytesOf(2_000, `document ${turn}`)))
          if (turn % 10 === 0) cids.push((await store.importFile(stream(bytesOf(600_000, `file ${turn}`)))).cid)
        }
        for (const cid of cids) expect(await store.isWhole(cid), cid).toBe(true)
      } finally {
        isOver = true
        await collecting
      }
    })
  },
)
