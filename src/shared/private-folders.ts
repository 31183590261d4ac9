/** The folders of an installation, which hold people's files, mails and keys: nobody else on the machine reads them. */
import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolders } from './make-folders.ts'
import { systemReason } from './system-reason.ts'

const folders = ['keys', 'uploads', 'blocks', 'chain', 'mail', 'postgres']
/** Whose own server makes them. */
const madeElsewhere = new Set(['postgres'])
/** Folders of which every file is a secret. */
const secrets = ['keys', 'mail']

const statIfThere = (path: string) =>
  stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** Takes away what `mode` does not give. A path of somebody else's, or one that many share as `/tmp`, is left as it is. */
const restrict = async (path: string, mode: number) => {
  const found = await statIfThere(path)
  const uid = process.getuid?.()
  if (!found || (uid !== 0 && uid !== found.uid) || (found.mode & 0o1000) !== 0) return
  const narrowed = found.mode & mode
  if (narrowed !== (found.mode & 0o7777)) await chmod(path, narrowed)
}

const makeAndClose = async (dir: string) => {
  await makeFolders(dir)
  // As root PostgreSQL runs as a user of its own, who must come through to its data, but sees nothing on the way.
  const isRoot = process.getuid?.() === 0
  await restrict(dir, isRoot ? 0o711 : 0o700)
  for (const name of folders) {
    const folder = join(dir, name)
    if (!madeElsewhere.has(name)) await makeFolders(folder)
    await restrict(folder, 0o700)
  }
  for (const name of await readdir(dir)) if (name.startsWith('postgres.log')) await restrict(join(dir, name), 0o600)
  for (const name of secrets) {
    const entries = await readdir(join(dir, name), { withFileTypes: true })
    for (const entry of entries) if (entry.isFile()) await restrict(join(dir, name, entry.name), 0o600)
  }
}

/** Makes the folders under `dir` that are not there, and closes those that are. Raises an Error that says why that cannot be done. */
export const closeFolders = async (dir: string): Promise<void> => {
  try {
    await makeAndClose(dir)
  } catch (cause) {
    const { path = dir } = cause as NodeJS.ErrnoException
    const where = path === dir ? dir : `${dir}: ${path}`
    throw new Error(
      `ANNAL_DIR cannot be used (${where}: ${systemReason(cause)}). Set it to a folder that this user may write to, or to a place for one.`,
      { cause },
    )
  }
}

/** Whether others than the owner get at it. */
const isOpen = async (path: string, mode: number): Promise<boolean> => {
  const found = await statIfThere(path)
  return found !== undefined && (found.mode & 0o777 & ~mode) !== 0
}

/**
 * Paths of the installation under `dir` that others on this machine get at; undefined when the folder is not there. Of what nobody
 * else comes through to, nothing is said.
 */
export const findOpenPaths = async (dir: string): Promise<string[] | undefined> => {
  if (!(await statIfThere(dir))) return undefined
  // A folder that nobody enters hides what is in it.
  if (!(await isOpen(dir, 0o700))) return []
  const open = (await isOpen(dir, 0o711)) ? [dir] : []
  for (const name of folders) if (await isOpen(join(dir, name), 0o700)) open.push(join(dir, name))
  return open
}
