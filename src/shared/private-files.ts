/** Private files and folders. Files are written atomically and survive a power failure. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { chmod, link, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { errorCode, FixableError, ifMissing, systemReason } from './operator-errors.ts'

const isRoot = () => process.geteuid?.() === 0

/** Gives a file that root created to the owner of its folder. */
export function giveToOwner(path: string): void {
  if (!isRoot()) return
  const { uid, gid } = statSync(dirname(path))
  if (lstatSync(path).uid !== uid) lchownSync(path, uid, gid)
}

/** Root must not run embedded servers for another user, who could no longer read the data. Throws a FixableError. */
export function assertOwnFolder(dir: string): void {
  if (!isRoot()) return
  const owners = [dir, join(dir, 'keys')].map((path) => statSync(path, { throwIfNoEntry: false })?.uid ?? 0)
  if (owners.includes(0)) return
  throw new FixableError(
    `The embedded servers in ${dir} belong to user ${owners[0]}, not to root.`,
    `Run the command as that user (sudo -u '#${owners[0]}'), or stop Annal and give the folder to root: chown -R root ${dir}`,
  )
}

async function makeFolder(folder: string): Promise<string[]> {
  try {
    await mkdir(folder, { mode: 0o700 })
    return [folder]
  } catch (error) {
    if ((await stat(folder).catch(() => undefined))?.isDirectory()) return []
    throw error
  }
}

/** Returns the created folders, the innermost first. Node's option `recursive` loops forever in folders such as /proc. */
export async function makeFolders(folder: string): Promise<string[]> {
  try {
    return await makeFolder(folder)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(folder) === folder) throw error
    const parents = await makeFolders(dirname(folder))
    return [...(await makeFolder(folder)), ...parents]
  }
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}

const temporaryName = (file: string) => `${file}.${randomBytes(6).toString('hex')}`
const TEMPORARY = /^\.[0-9a-f]{12}$/

type Content = string | Uint8Array | AsyncIterable<Uint8Array>

/** Readers never see a partial file, also after a crash. */
async function writeTemporary(file: string, content: Content): Promise<string> {
  const made = await makeFolders(dirname(file))
  made.toReversed().forEach(giveToOwner)
  for (const each of made) await syncFolder(dirname(each))
  const temporary = temporaryName(file)
  try {
    await writeFile(temporary, content, { mode: 0o600, flag: 'wx', flush: true })
    giveToOwner(temporary)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  return temporary
}

export async function createFile(file: string, content: Content): Promise<boolean> {
  const temporary = await writeTemporary(file, content)
  try {
    await link(temporary, file)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(temporary)
    await syncFolder(dirname(file))
  }
}

/** Returns the trimmed content of a file. Creates the file if it does not exist. Concurrent processes get the same content. */
export function readOrCreate(file: string, makeContent: () => string): string {
  if (!existsSync(file)) {
    const temporary = temporaryName(file)
    writeFileSync(temporary, makeContent(), { mode: 0o600, flag: 'wx', flush: true })
    try {
      giveToOwner(temporary)
      linkSync(temporary, file)
      const folder = openSync(dirname(file), 'r')
      fsyncSync(folder)
      closeSync(folder)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    } finally {
      rmSync(temporary)
    }
  }
  return readFileSync(file, 'utf8').trim()
}

/** Writes a file atomically. It is on the disk when the promise resolves. */
export async function replaceFile(file: string, content: Content): Promise<void> {
  const temporary = await writeTemporary(file, content)
  try {
    await rename(temporary, file)
    await syncFolder(dirname(file))
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Returns the names of a file and of its temporary files. */
async function namesOf(file: string): Promise<string[]> {
  const names = (await readdir(dirname(file)).catch(ifMissing)) ?? []
  return names.filter((name) => name === basename(file) || name.startsWith(`${basename(file)}.`))
}

async function remove(names: readonly string[], folder: string): Promise<void> {
  if (names.length === 0) return
  await Promise.all(names.map((name) => rm(join(folder, name), { force: true })))
  await syncFolder(folder)
}

/** Also removes temporary files that a crash may have left. */
export const removeFile = async (file: string): Promise<void> => remove(await namesOf(file), dirname(file))

/** `before`: milliseconds. Newer temporary files may be in use. */
export async function removeTemporaryFiles(file: string, before: number): Promise<void> {
  const folder = dirname(file)
  const names: string[] = []
  for (const name of await namesOf(file)) {
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found && found.mtimeMs < before && TEMPORARY.test(name.slice(basename(file).length))) names.push(name)
  }
  await remove(names, folder)
}

const folders = ['keys', 'uploads', 'blocks', 'chain', 'mail', 'postgres']

/** Removes permissions that are not in `mode`. Skips paths of other users and shared folders (sticky bit). */
const restrict = async (path: string, mode: number) => {
  const found = await stat(path).catch(ifMissing)
  const uid = process.getuid?.()
  if (!found || (uid !== 0 && uid !== found.uid) || (found.mode & 0o1000) !== 0) return
  const narrowed = found.mode & mode
  if (narrowed !== (found.mode & 0o7777)) await chmod(path, narrowed)
}

/** Creates missing folders, and removes the access of other users. Throws an Error with the reason. */
export const makePrivateFolders = async (dir: string): Promise<void> => {
  try {
    await makeFolders(dir)
    // Under root, PostgreSQL runs as another user, which must reach its data folder.
    await restrict(dir, process.getuid?.() === 0 ? 0o711 : 0o700)
    for (const name of folders) {
      const folder = join(dir, name)
      if (name !== 'postgres') await makeFolders(folder)
      await restrict(folder, 0o700)
    }
    for (const name of await readdir(dir)) if (name.startsWith('postgres.log')) await restrict(join(dir, name), 0o600)
    for (const name of ['keys', 'mail']) {
      const entries = await readdir(join(dir, name), { withFileTypes: true })
      for (const entry of entries) if (entry.isFile()) await restrict(join(dir, name, entry.name), 0o600)
    }
  } catch (cause) {
    const { path = dir } = cause as NodeJS.ErrnoException
    const where = path === dir ? dir : `${dir}: ${path}`
    throw new Error(
      `ANNAL_DIR cannot be used (${where}: ${systemReason(cause)}). Set it to a folder that this user may write to.`,
      { cause },
    )
  }
}

const isOpen = async (path: string, mode: number): Promise<boolean> => {
  const found = await stat(path).catch(ifMissing)
  return found !== undefined && (found.mode & 0o777 & ~mode) !== 0
}

/** Returns folders that other users can reach, or undefined if the installation does not exist. */
export const findOpenFolders = async (dir: string): Promise<string[] | undefined> => {
  if (!(await stat(dir).catch(ifMissing))) return undefined
  // If the parent is 0700, its children need no check.
  if (!(await isOpen(dir, 0o700))) return []
  const open = (await isOpen(dir, 0o711)) ? [dir] : []
  for (const name of folders) if (await isOpen(join(dir, name), 0o700)) open.push(join(dir, name))
  return open
}
