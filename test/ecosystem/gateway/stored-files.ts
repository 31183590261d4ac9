/** The tests of every external file store, through the gateway's APIs and the operator's commands. */
import { describe, expect, it } from 'vitest'
import { annalHere } from '../../support/annal-command.ts'
import { eventually } from '../../support/eventually.ts'
import { expectOk } from '../../support/expect-error.ts'
import { newFile, type TestApp } from '../../support/test-app.ts'
import { bytesOf } from '../../unit/files/stored-bytes.ts'
import { publish, sha256Of } from './fixture.ts'

export async function openStoredFiles(app: TestApp) {
  const published = await publish(app)
  const { user } = published
  const annal = (...args: string[]) => annalHere(app.env, args)
  const annalJson = async (command: string) => {
    const { stdout, stderr } = await annal(command, '--json')
    expect(stdout, stderr).not.toBe('')
    return JSON.parse(stdout)
  }
  const readiness = async () => (await app.rest('GET', '/readyz')).body
  return {
    ...{ app, published, user, annal, readiness },
    async read(cid: string, headers: Record<string, string> = {}, query = '') {
      const answer = await fetch(`${app.url}/ipfs/${cid}${query}`, { headers })
      return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
    },
    ready: () => eventually(readiness, ({ status }) => status === 'ok', 120_000),
    upload: (file: File) => user.rest('POST', 'assets/', { multipart: { asset_file: file, public_access: 'true' } }),
    isWhole: async (): Promise<boolean> =>
      (await annalJson('check')).find(({ id }: { id: string }) => id === 'B1').holds,
    collect: async (): Promise<number> => (await annalJson('gc')).removedBlocks,
    async expectNothingCharged(work: () => Promise<unknown>) {
      const state = async () => [await app.wallet(user), await app.sql('select count(*)::int as n from assets')]
      const before = await state()
      await work()
      expect(await state()).toEqual(before)
    },
  }
}

interface Store {
  start(): Promise<void>
  kill(): Promise<void>
  freeze(): void
  thaw(): void
  blockCount(): Promise<number>
  /** Makes all stored files older than the grace period. */
  age(): Promise<void>
  /** Deletes the only block of a document. */
  lose(cid: string): Promise<unknown>
  /** Deletes blocks that the store only marks as unneeded. */
  purge?(): Promise<unknown>
}

export const DEGRADED = { status: 'degraded', missing: ['file store'] }

export function testStoredFiles(
  files: Awaited<ReturnType<typeof openStoredFiles>>,
  store: Store,
  healthy: RegExp,
): void {
  const { app, published, user, annal, readiness, read, ready, upload, isWhole, collect, expectNothingCharged } = files
  const { small, large, tree, hidden } = published

  describe('stored files', () => {
    it('the gateway serves stored files whole, in ranges, as blocks and as CARs', async () => {
      for (const { cid, bytes } of [small, large, tree]) {
        const found = await read(cid)
        expect([found.status, sha256Of(found.bytes)]).toEqual([200, sha256Of(bytes)])
      }
      const part = await read(large.cid, { Range: 'bytes=262100-786500' })
      expect([part.status, sha256Of(part.bytes)]).toEqual([206, sha256Of(large.bytes.subarray(262_100, 786_501))])
      expect((await read(large.cid, {}, '?format=raw')).status).toBe(200)
      expect((await read(large.cid, {}, '?format=car')).bytes.length).toBeGreaterThan(large.bytes.length)
      expect((await read(hidden)).status).toBe(404)
    })

    it('the doctor, check and repair commands cover stored files', async () => {
      expect((await annal('doctor')).stdout).toMatch(healthy)
      expect(await isWhole()).toBe(true)
      await store.lose(tree.cid)
      const found = await annal('check')
      expect([found.code, found.stdout]).toEqual([1, expect.stringContaining(tree.cid)])
      expect((await annal('repair')).code).toBe(0)
      expect(sha256Of((await read(tree.cid)).bytes)).toBe(sha256Of(tree.bytes))
    })

    it('the files of a deleted asset are deleted after the grace period, and other files stay', async () => {
      const gone = await user.register({ asset_file: new File([new Uint8Array(2_000_000).fill(7)], 'gone.bin') })
      expectOk(await user.rest('DELETE', `assets/${gone.id}/`))
      expect(await collect()).toBe(0)
      await store.age()
      expect(await collect()).toBeGreaterThan(0)
      await store.purge?.()
      expect(await app.installation.contentStore.isWhole(gone.id)).toBe(false)
      expect(sha256Of((await read(large.cid)).bytes)).toBe(sha256Of(large.bytes))
      expect(await isWhole()).toBe(true)
    })
  })

  describe('failing file stores', () => {
    it('rejects an upload if the file store is killed, and accepts uploads afterwards', async () => {
      // Large enough that slow machines see its first blocks before its end.
      const bytes = bytesOf(200_000_000)
      const file = new File([bytes], 'film.mp4', { type: 'video/mp4' })
      const before = await store.blockCount()
      await expectNothingCharged(async () => {
        const uploading = upload(file)
        await eventually(store.blockCount, (count) => count > before + 3, 120_000)
        await store.kill()
        expect((await uploading).status).toBe(503)
        expect(await readiness()).toEqual(DEGRADED)
        expectOk(await user.rest('GET', 'auth/users/me/'))
        expect((await read(small.cid)).status).toBe(503)
      })
      await store.start()
      await ready()
      const { id } = expectOk(await upload(file))
      expect(sha256Of((await read(id)).bytes)).toBe(sha256Of(bytes))
    })

    it('rejects uploads after a timeout while the file store hangs, and accepts uploads afterwards', async () => {
      await expectNothingCharged(async () => {
        store.freeze()
        try {
          expect((await upload(newFile())).status).toBe(503)
          expect(await eventually(readiness, ({ status }) => status === 'degraded', 120_000)).toEqual(DEGRADED)
        } finally {
          store.thaw()
        }
      })
      await ready()
      expectOk(await upload(newFile()))
    })
  })
}
