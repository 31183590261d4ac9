/** Files that commands make. */
import { randomUUID } from 'node:crypto'
import { type FileHandle, link, lstat, open, rm } from 'node:fs/promises'
import { systemReason } from '../shared/operator-errors.ts'

const unwritable = (path: string, reason: string, cause?: unknown) =>
  new Error(`${path} cannot be written: ${reason}. Name a place where nothing is yet by --out.`, { cause })

const refuse = (path: string) => (cause: unknown) => {
  // What it is made of has errors of its own.
  const { syscall = '' } = cause as NodeJS.ErrnoException
  if (!['open', 'write', 'writev', 'fsync', 'link'].includes(syscall)) throw cause
  throw unwritable(path, systemReason(cause), cause)
}

/** Has a file written where nothing is yet, and returns its size. One that was not written to its end is taken away. */
export async function writeNewFile(path: string, write: (file: FileHandle) => Promise<void>): Promise<number> {
  const file = await open(path, 'wx').catch(refuse(path))
  try {
    await write(file).catch(refuse(path))
    return (await file.stat()).size
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/**
 * Has a file written that only its owner reads, and returns its size. It has its name once all of it is on the disk, and never takes another one's
 * place; until then it is called `<path>.part-…`, which is taken away when something goes wrong, and stays when the process is killed.
 */
export async function writePrivateFile(path: string, write: (file: FileHandle) => Promise<void>): Promise<number> {
  const there = await lstat(path).catch(() => undefined)
  if (there) throw unwritable(path, 'there is something already')
  const part = `${path}.part-${randomUUID()}`
  const file = await open(part, 'wx', 0o600).catch(refuse(path))
  try {
    await write(file).catch(refuse(path))
    await file.sync().catch(refuse(path))
    await link(part, path).catch(refuse(path))
    return (await file.stat()).size
  } finally {
    await file.close()
    await rm(part, { force: true })
  }
}
