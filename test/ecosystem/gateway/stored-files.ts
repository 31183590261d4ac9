/** What is tried alike wherever files are stored: through the front doors of a gateway, and by an operator's commands. */
import { expect } from 'vitest'
import { annalHere } from '../../support/annal-command.ts'
import { eventually } from '../../support/eventually.ts'
import type { SignedIn, TestApp } from '../../support/test-app.ts'
import { type Published, publish, sha256Of } from './fixture.ts'

export async function openStoredFiles(app: TestApp) {
  const published: Published = await publish(app)
  const user: SignedIn = published.user
  const annal = (...args: string[]) => annalHere(app.env, args)
  const readiness = async () => (await app.rest('GET', '/readyz')).body

  const read = async (cid: string, headers: Record<string, string> = {}, query = '') => {
    const answer = await fetch(`${app.url}/ipfs/${cid}${query}`, { headers })
    return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
  }

  return {
    published,
    user,
    annal,
    read,
    readiness,
    ready: () => eventually(readiness, ({ status }) => status === 'ok', 120_000),
    upload: (file: File) => user.rest('POST', 'assets/', { multipart: { asset_file: file, public_access: 'true' } }),
    async isWhole(): Promise<boolean> {
      const { stdout, stderr } = await annal('check', '--json')
      expect(stdout, stderr).not.toBe('')
      return JSON.parse(stdout).find(({ id }: { id: string }) => id === 'B1').holds
    },
    async collect(): Promise<number> {
      const { stdout, stderr } = await annal('gc', '--json')
      expect(stdout, stderr).not.toBe('')
      return JSON.parse(stdout).removedBlocks
    },
    async expectNothingTaken(work: () => Promise<unknown>) {
      const assets = 'select count(*)::int as n from assets'
      const before = [await app.wallet(user), await app.sql(assets)]
      await work()
      expect([await app.wallet(user), await app.sql(assets)]).toEqual(before)
    },
    async expectReadInEveryForm() {
      const { small, large, tree } = published
      for (const { cid, bytes } of [small, large, tree]) {
        const found = await read(cid)
        expect([found.status, sha256Of(found.bytes)]).toEqual([200, sha256Of(bytes)])
      }
      const part = await read(large.cid, { Range: 'bytes=262100-786500' })
      expect([part.status, sha256Of(part.bytes)]).toEqual([206, sha256Of(large.bytes.subarray(262_100, 786_501))])
      expect((await read(large.cid, {}, '?format=raw')).status).toBe(200)
      expect((await read(large.cid, {}, '?format=car')).bytes.length).toBeGreaterThan(large.bytes.length)
      expect((await read(published.hidden)).status).toBe(404)
    },
  }
}
