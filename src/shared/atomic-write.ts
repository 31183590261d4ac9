/** Small files that must outlast a power failure, readable by this account only. */
import { randomBytes } from 'node:crypto'
import { link, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { giveToOwner } from './folder-owner.ts'
import { makeFolders } from './make-folders.ts'

const hasCode = (error: unknown, code: string) => error instanceof Error && 'code' in error && error.code === code

/** What a folder lists is on the disk once this resolves. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function makeFolder(folder: string): Promise<void> {
  const made = await makeFolders(folder)
  made.toReversed().forEach(giveToOwner)
  for (const each of made) await syncFolder(dirname(each))
}

/** What a file is to hold; what comes by and by is written as it comes. */
type Content = string | Uint8Array | AsyncIterable<Uint8Array>

/** Written aside, so that no reader and no crash ever meets half a file. The name starts with that of the file. */
async function writeAside(file: string, content: Content): Promise<string> {
  await makeFolder(dirname(file))
  const aside = `${file}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(aside, content, { mode: 0o600, flag: 'wx', flush: true })
    giveToOwner(aside)
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
  return aside
}

/** Writes a file that is not there yet; returns false and leaves it alone when it is. */
export async function createFile(file: string, content: Content): Promise<boolean> {
  const aside = await writeAside(file, content)
  try {
    await link(aside, file)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  } finally {
    await rm(aside)
    await syncFolder(dirname(file))
  }
}

/** Writes a file in one step. The file is on the disk when this resolves. */
export async function replaceFile(file: string, content: Content): Promise<void> {
  const aside = await writeAside(file, content)
  try {
    await rename(aside, file)
    await syncFolder(dirname(file))
  } finally {
    await rm(aside, { force: true })
  }
}

/** Names in the folder of a file that are its own or begin with it. */
async function namesOf(file: string): Promise<string[]> {
  const names = await readdir(dirname(file)).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
  return names.filter((name) => name === basename(file) || name.startsWith(`${basename(file)}.`))
}

async function remove(names: readonly string[], folder: string): Promise<void> {
  if (names.length === 0) return
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })))
  await syncFolder(folder)
}

/** Removes a file, and what a crash may have left beside it. Nothing happens when there is none. */
export const removeFile = async (file: string): Promise<void> => remove(await namesOf(file), dirname(file))

/** How `writeAside` ends its names. */
const ASIDE = /^\.[0-9a-f]{12}$/

/** Removes what crashes have left beside a file, last written before `before` (milliseconds): somebody may still write what is younger. */
export async function removeAsides(file: string, before: number): Promise<void> {
  const folder = dirname(file)
  const isLeft = async (name: string) => {
    if (!ASIDE.test(name.slice(basename(file).length))) return false
    const found = await stat(join(folder, name)).catch(() => undefined)
    return found !== undefined && found.mtimeMs < before
  }
  const names = await namesOf(file)
  const left = await Promise.all(names.map(isLeft))
  await remove(
    names.filter((_, index) => left[index]),
    folder,
  )
}
