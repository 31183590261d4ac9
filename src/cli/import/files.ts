/** The files that a source names: where they are, whether they can be sent, and what tells them apart. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, isAbsolute, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { NOT_UTF8, type SourceRow, UNDECODABLE } from './source.ts'

/** A row whose file can be sent. */
export interface ImportRow extends Omit<SourceRow, 'problem'> {
  /** Where it is. */
  file: string
  /** Without folders. */
  fileName: string
  /** MIME type, by its name. */
  type: string
  /** In bytes. */
  size: number
  /** Of the content, in hex. */
  sha256: string
}

/** A row that cannot be sent. */
export interface BadRow extends Pick<SourceRow, 'row' | 'path'> {
  problem: string
}

/** Carries out `work` for each item, so many at once. Raises what `work` raises first, once all that is under way has ended. */
export async function forEach<Item>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  let isOver = false
  const worker = async () => {
    for (let next = queue.next(); !next.done && !isOver; next = queue.next()) {
      await work(next.value).catch((error: unknown) => {
        isOver = true
        throw error
      })
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

const isWithin = (folder: string, path: string) => {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

const reasons: Record<string, string> = {
  ENOENT: 'There is no such file.',
  ENOTDIR: 'There is no such file.',
  EACCES: 'The file may not be read.',
  ELOOP: 'The link leads nowhere.',
}
const reasonOf = (path: string, error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' && path.includes(UNDECODABLE)) return NOT_UTF8
  return (typeof code === 'string' ? reasons[code] : undefined) ?? `The file cannot be read: ${message}.`
}

/** Returns a row's path with slashes. A backslash separates folders, as on Windows, unless a file has it in its name. */
async function withSlashes(path: string, folder: string): Promise<string> {
  const isName = !path.includes('\\') || (await lstat(resolve(folder, path)).catch(() => undefined)) !== undefined
  return isName ? path : path.replaceAll('\\', '/')
}

/**
 * Returns the file at a path, or its problem. The file must be in the folder after links are resolved: an untrusted list must not
 * choose among everything that the user of the command can read.
 */
async function locate(path: string, folder: string): Promise<{ file: string; size: number } | { problem: string }> {
  const { MAX_FILE_BYTES } = await import('../../modules/assets/asset-input.ts')
  const outside = { problem: `The file lies outside of ${folder}.` }
  const named = resolve(folder, path)
  if (!isWithin(folder, named)) return outside
  const file = await realpath(named)
  if (!isWithin(folder, file)) return outside
  const found = await stat(file)
  if (found.isDirectory()) return { problem: 'It is a folder.' }
  if (!found.isFile()) return { problem: 'It is not a file.' }
  if (found.size === 0) return { problem: 'The file is empty.' }
  if (found.size > MAX_FILE_BYTES) return { problem: `The file is larger than ${MAX_FILE_BYTES} bytes.` }
  return { file, size: found.size }
}

async function look(row: SourceRow, folder: string): Promise<ImportRow | BadRow> {
  const { row: number, path, fields } = row
  if (row.problem !== undefined) return { row: number, path, problem: row.problem }
  if (path === '') return { row: number, path, problem: 'The row names no file: its field `file` is empty.' }
  try {
    const named = await withSlashes(path, folder)
    const located = await locate(named, folder)
    if ('problem' in located) return { row: number, path, problem: located.problem }
    const { default: mime } = await import('mime')
    // The name in the source decides: a link may lead to a name without an extension.
    const type = mime.getType(named) ?? 'application/octet-stream'
    return {
      row: number,
      path,
      fields,
      ...located,
      fileName: basename(named),
      type,
      sha256: await digestOf(located.file),
    }
  } catch (error) {
    return { row: number, path, problem: reasonOf(path, error) }
  }
}

/** How many are looked at at once: there is little to win, for all of it is reading and hashing. */
const LOOKED_AT_AT_ONCE = 4

/**
 * Looks at every file. `done`: told how many were looked at. Raises the reason of `interrupted`, and what `realpath` raises for a folder that is
 * not there.
 */
export async function lookAtFiles(
  rows: readonly SourceRow[],
  folder: string,
  { done, interrupted }: { done: (count: number) => void; interrupted: AbortSignal },
): Promise<{ good: ImportRow[]; bad: BadRow[] }> {
  const base = await realpath(folder)
  const looks: (ImportRow | BadRow)[] = []
  await forEach(rows, LOOKED_AT_AT_ONCE, async (row) => {
    interrupted.throwIfAborted()
    looks.push(await look(row, base))
    done(looks.length)
  })
  looks.sort((a, b) => a.row - b.row)
  return { good: looks.filter((each) => 'sha256' in each), bad: looks.filter((each) => 'problem' in each) }
}
