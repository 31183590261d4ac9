import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createContentStore } from '../../../src/files/content-store.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

it('does not recreate the blocks folder when it disappears during an upload', async () => {
  const dir = await createTemporaryFolder()
  const [blocks, aside] = [join(dir, 'blocks'), join(dir, 'aside')]
  await mkdir(blocks)
  await writeFile(join(blocks, 'installation'), 'mine\n')
  const store = createContentStore({ dir: blocks, owner: 'mine' })
  async function* file() {
    yield new Uint8Array(300_000)
  }
  async function* interrupted() {
    yield new Uint8Array(300_000)
    await rename(blocks, aside)
    yield new Uint8Array(300_000).fill(1)
  }
  await expect(store.importFile(interrupted())).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await expect(store.putDocument(new Uint8Array(10))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(existsSync(blocks)).toBe(false)

  await rename(aside, blocks)
  const { cid } = await store.importFile(file())
  expect(await store.isWhole(cid)).toBe(true)
})
