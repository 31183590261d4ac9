/** The folder of blocks belongs to one installation: what that one does not need is removed, and another one may need it. */
import { randomUUID } from 'node:crypto'
import { link, open, readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { giveToOwner } from '../shared/private-files.ts'
import { blockPlace } from './block-name.ts'
import { OWNER_NAME, type OwnedStore } from './store-owner.ts'

const hasCode = (error: unknown, code: string) => (error as NodeJS.ErrnoException).code === code

async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The folder `dir` as a store with an owner. */
export function ownedBlocks(dir: string): OwnedStore {
  const file = join(dir, OWNER_NAME)
  return {
    title: `The folder ${dir}`,
    mark: `the file ${file}`,
    fix: `Mount or restore the folder of this installation as ${dir}.`,
    async readOwner() {
      try {
        return (await readFile(file, 'utf8')).trim()
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined
        throw error
      }
    },
    async writeOwner(owner) {
      const part = `${file}.${randomUUID()}`
      await writeFile(part, `${owner}\n`, { flag: 'wx', flush: true })
      try {
        giveToOwner(part)
        await link(part, file)
        await syncFolder(dir)
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error
      } finally {
        await unlink(part)
      }
    },
    async has(cid) {
      const { dir: shard, file: name } = blockPlace(cid)
      return stat(join(dir, shard, name)).then(
        () => true,
        (error: unknown) => {
          if (hasCode(error, 'ENOENT')) return false
          throw error
        },
      )
    },
  }
}
