import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from './error-code.ts'

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** Returns the folder when it was made, and nothing when it was there. */
async function makeFolder(folder: string): Promise<string[]> {
  try {
    await mkdir(folder, { mode: 0o700 })
    return [folder]
  } catch (error) {
    if (await isFolder(folder)) return []
    throw error
  }
}

/**
 * Makes a folder, and those above it that are not there; nobody else enters them. Returns those that were made, the innermost first. Node's
 * own `recursive` tries for ever where a folder is there and takes none, as /proc.
 */
export async function makeFolders(folder: string): Promise<string[]> {
  try {
    return await makeFolder(folder)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(folder) === folder) throw error
    const above = await makeFolders(dirname(folder))
    return [...(await makeFolder(folder)), ...above]
  }
}
