/** A garbage collection that stalls between the check and the removal of a block, while other processes continue. */
import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createContentStore } from '../../../src/files/content-store.ts'
import { beforeFiles } from '../../support/before-files.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const before = beforeFiles()
afterAll(before.stop)

async function* bytes() {
  yield Buffer.from('a file')
}
async function* listOf(...cids: string[]) {
  yield* cids
}

it('a stalled garbage collection does not delete a block that was renewed during the stall', async () => {
  const dir = await createTemporaryFolder()
  const store = createContentStore({ dir })
  const { cid } = await store.importFile(bytes())
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), 1, 1)
  const looked = Promise.withResolvers<void>()
  const wakes = Promise.withResolvers<void>()
  before.rm = (path) => {
    if (!path.endsWith('.aside')) return Promise.resolve()
    looked.resolve()
    return wakes.promise
  }
  const frozen = store.collectGarbage(listOf(), 60)
  await looked.promise
  before.rm = async () => {}
  // The file is needed again, and another process restores its block.
  await store.collectGarbage(listOf(cid), 60)

  // A second collection is about to move the block when the file is imported again, and restores the block.
  before.rename = async (path) => {
    expect(path.endsWith('.data')).toBe(true)
    await store.importFile(bytes())
    before.link = async () => {
      wakes.resolve()
      await frozen
    }
  }
  await store.collectGarbage(listOf(), 60)
  expect(await store.isWhole(cid)).toBe(true)
})
