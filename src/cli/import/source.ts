/** Reads the source of an import, which is a list or a folder, and examines its files. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, extname, isAbsolute, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { usageError } from '../terminal.ts'

/** A file and its metadata. */
export interface SourceRow {
  /**
   * Row of a CSV file including the header, line of a JSON lines file, or position in the sorted folder. Starts at 1.
   */
  row: number
  /** Path as written in the source. */
  path: string
  /** Metadata by field name of the REST API. */
  fields: Record<string, string>
  /** Reason why the file cannot be registered. */
  problem?: string
}

export interface Source {
  rows: SourceRow[]
  /** Folder of the files. */
  folder: string
}

const FILE_COLUMN = 'file'

/** Replacement character for bytes that are not UTF-8. */
const UNDECODABLE = '\uFFFD'
const NOT_UTF8 = 'The name is not UTF-8. Rename the file or folder.'

/** Returns the permitted columns of a source except `file`. */
async function knownColumns(): Promise<string[]> {
  const { customField, metadataFields, registrationFields } = await import('../../modules/assets/metadata.ts')
  const columns = Object.values({ ...metadataFields, ...registrationFields }).map(({ column }) => column)
  return [...columns, customField.changeName, 'commit_message', 'asset_file_mime_type']
}

/** Throws a usage error for a missing `file` column and for unknown or repeated columns. */
async function assertColumns(columns: readonly string[]): Promise<void> {
  const known = await knownColumns()
  const rule = `Fields: ${FILE_COLUMN} (required), ${known.join(', ')}.`
  const unknown = columns.find((column) => column !== FILE_COLUMN && !known.includes(column))
  if (unknown !== undefined) throw usageError(`Unknown field '${unknown}'. ${rule}`)
  if (!columns.includes(FILE_COLUMN)) throw usageError(`The field 'file' is missing. ${rule}`)
  const twice = columns.find((column, index) => columns.indexOf(column) !== index)
  if (twice !== undefined) throw usageError(`The field '${twice}' is repeated.`)
}

/** Detects UTF-16, which Excel calls "Unicode Text". A list starts with a byte order mark or an ASCII character. */
function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === undefined || second === undefined) return 'utf-8'
  if ((first === 0xff && second === 0xfe) || second === 0) return 'utf-16le'
  return (first === 0xfe && second === 0xff) || first === 0 ? 'utf-16be' : 'utf-8'
}

const isValid = (text: string) => isUtf8(Buffer.from(text, 'latin1'))

/**
 * Reads a list and removes its byte order mark. `rowsOf` splits a text into rows, starting at 1. Throws a usage error
 * with the number of the first row that is not valid UTF-8.
 */
async function readText(path: string, rowsOf: (text: string) => string[][]): Promise<string> {
  const bytes = await readFile(path)
  const encoding = encodingOf(bytes)
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes).replace(/^\uFEFF/, '')
  } catch {
    if (encoding !== 'utf-8') throw usageError(`${path} is not valid UTF-16. Save it as "CSV UTF-8".`)
  }
  // Separators and quotes are ASCII, so Latin-1, which decodes every byte, gives the same rows.
  const text = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '')
  const row = rowsOf(text).findIndex((cells) => !cells.every(isValid)) + 1
  throw usageError(`${path} is not UTF-8 in row ${row}. Save it as "CSV UTF-8".`)
}

/** First line that tells Excel the separator. */
const SEPARATOR_LINE = /^sep=([,;\t])\r?\n/i

/**
 * Splits CSV into rows of cells. The first separator in the header applies to all lines, because field names contain
 * none.
 */
function csvRows(text: string, parse: typeof import('csv-parse/sync').parse): string[][] {
  const named = SEPARATOR_LINE.exec(text)
  const lines = named ? text.slice(named[0].length) : text
  const [header] = /^[^\r\n]*/.exec(lines)!
  const delimiter = named?.[1] ?? /[,;\t]/.exec(header)?.[0] ?? ','
  return parse(lines, { delimiter, relax_column_count: true })
}

async function readCsv(path: string): Promise<SourceRow[]> {
  const { CsvError, parse } = await import('csv-parse/sync')
  const rowsOf = (text: string) => csvRows(text, parse)
  let rows: string[][]
  try {
    // An empty line is a row with one empty cell, because spreadsheets count it too.
    rows = rowsOf(await readText(path, rowsOf))
  } catch (error) {
    throw error instanceof CsvError ? usageError(`${path} is not CSV: ${error.message}.`) : error
  }
  const [names = [], ...records] = rows
  const header = names.map((name) => name.trim().toLowerCase().replaceAll(/\s+/g, '_'))
  await assertColumns(header)
  return records.flatMap((cells, index) =>
    cells.every((cell) => cell === '') ? [] : [rowOfCells(header, cells, index + 2)],
  )
}

function rowOfCells(header: readonly string[], cells: readonly string[], row: number): SourceRow {
  const filled = header.flatMap((name, column) => (cells[column] ? [[name, cells[column]] as const] : []))
  const { [FILE_COLUMN]: path = '', ...fields } = Object.fromEntries(filled)
  if (cells.length === header.length) return { row, path, fields }
  return { row, path, fields, problem: `The row has ${cells.length} cells, but the header has ${header.length}.` }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function rowOfLine(line: string, row: number): SourceRow {
  const empty = { row, path: '', fields: {} }
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { ...empty, problem: 'The line is not JSON.' }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ...empty, problem: 'The line is not a JSON object.' }
  }
  const { [FILE_COLUMN]: file, ...fields } = value as Record<string, unknown>
  const given = Object.entries(fields).filter(([, field]) => field !== null)
  return {
    row,
    path: typeof file === 'string' ? file : '',
    fields: Object.fromEntries(given.map(([name, field]) => [name, textOf(field)])),
  }
}

async function readJsonLines(path: string): Promise<SourceRow[]> {
  const linesOf = (text: string) => text.split('\n')
  const lines = linesOf(await readText(path, (text) => linesOf(text).map((line) => [line])))
  const rows = lines.flatMap((line, index) => (line.trim() === '' ? [] : [rowOfLine(line, index + 1)]))
  await assertColumns([FILE_COLUMN, ...new Set(rows.flatMap(({ fields }) => Object.keys(fields)))])
  return rows
}

const SEPARATOR = Buffer.from(sep)
const DOT = 0x2e

/**
 * Returns the relative paths of all files in a folder and its subfolders, except hidden ones. Paths are bytes,
 * because a name may not be valid UTF-8.
 */
async function filesIn(folder: Buffer): Promise<Buffer[]> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  const files: Buffer[] = []
  for (const entry of entries.filter(({ name }) => name[0] !== DOT)) {
    if (!entry.isDirectory()) files.push(entry.name)
    else
      for (const path of await filesIn(Buffer.concat([folder, SEPARATOR, entry.name])))
        files.push(Buffer.concat([entry.name, SEPARATOR, path]))
  }
  return files
}

/** Returns the files of a folder, sorted by name. Symbolic links are resolved later. */
async function readFolder(folder: string): Promise<SourceRow[]> {
  const files = await filesIn(Buffer.from(folder))
  const rows = files.map((path) => ({ path: path.toString(), ...(!isUtf8(path) && { problem: NOT_UTF8 }) }))
  rows.sort((one, other) => (one.path < other.path ? -1 : 1))
  return rows.map((each, index) => ({ row: index + 1, fields: {}, ...each }))
}

const readers: Record<string, (path: string) => Promise<SourceRow[]>> = {
  '.csv': readCsv,
  '.tsv': readCsv,
  '.txt': readCsv,
  '.jsonl': readJsonLines,
  '.ndjson': readJsonLines,
}

/**
 * Reads a folder or a list (`.csv`, `.tsv`, `.txt`, `.jsonl` or `.ndjson`). `files`: folder of the listed files.
 * Default: the folder of the list. Throws a usage error for other kinds of sources, unreadable text and unknown
 * columns.
 */
export async function readSource(source: string, files?: string): Promise<Source> {
  const found = await stat(source).catch(() => undefined)
  if (!found) throw usageError(`There is no ${source}.${source.includes(UNDECODABLE) ? ` ${NOT_UTF8}` : ''}`)
  if (found.isDirectory()) {
    if (files !== undefined) throw usageError('--files is for lists only.')
    return { rows: await readFolder(source), folder: source }
  }
  const read = readers[extname(source).toLowerCase()]
  if (!read) throw usageError(`${basename(source)} is neither a folder nor a .csv, .tsv, .txt, .jsonl or .ndjson file.`)
  const folder = files ?? dirname(source)
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) throw usageError(`There is no folder ${folder}.`)
  return { rows: await read(source), folder }
}

/** A row with a file that can be registered. */
export interface ImportRow extends Omit<SourceRow, 'problem'> {
  /** Resolved path of the file. */
  file: string
  /** File name without folders. */
  fileName: string
  /** MIME type, derived from the file extension. */
  type: string
  /** Size in bytes. */
  size: number
  /** SHA-256 of the content, in hexadecimal. */
  sha256: string
}

/** A row with a file that cannot be registered. */
export interface InvalidRow extends Pick<SourceRow, 'row' | 'path'> {
  problem: string
}

/**
 * Calls `work` for each item with limited concurrency. Throws the first error, after the running calls have ended.
 */
export async function forEach<Item>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  let hasFailed = false
  const worker = async () => {
    for (let next = queue.next(); !next.done && !hasFailed; next = queue.next()) {
      await work(next.value).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  const results = await Promise.allSettled(Array.from({ length: concurrency }, worker))
  const failed = results.find((result) => result.status === 'rejected')
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
  ENOENT: 'The file does not exist.',
  ENOTDIR: 'The file does not exist.',
  EACCES: 'Permission to read the file is denied.',
  ELOOP: 'The link’s target is not a file.',
}
const reasonOf = (path: string, error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' && path.includes(UNDECODABLE)) return NOT_UTF8
  return (typeof code === 'string' ? reasons[code] : undefined) ?? `Cannot read the file: ${message}.`
}

/** Returns a path with slashes. A backslash separates folders, as on Windows, unless a file name contains it. */
async function withSlashes(path: string, folder: string): Promise<string> {
  const isName = !path.includes('\\') || (await lstat(resolve(folder, path)).catch(() => undefined)) !== undefined
  return isName ? path : path.replaceAll('\\', '/')
}

/**
 * Returns the file at a path, or its problem. The resolved file must be inside the folder. Otherwise, an untrusted
 * list could select any file that the user can read.
 */
async function locate(path: string, folder: string): Promise<{ file: string; size: number } | { problem: string }> {
  const { MAX_FILE_BYTES } = await import('../../modules/assets/register-asset.ts')
  const outside = { problem: `The file is outside ${folder}.` }
  const named = resolve(folder, path)
  if (!isWithin(folder, named)) return outside
  const file = await realpath(named)
  if (!isWithin(folder, file)) return outside
  const found = await stat(file)
  if (found.isDirectory()) return { problem: 'The path is a folder.' }
  if (!found.isFile()) return { problem: 'The path is not a file.' }
  if (found.size === 0) return { problem: 'The file is empty.' }
  if (found.size > MAX_FILE_BYTES) return { problem: `The file is larger than ${MAX_FILE_BYTES} bytes.` }
  return { file, size: found.size }
}

async function examine(row: SourceRow, folder: string): Promise<ImportRow | InvalidRow> {
  const { row: number, path, fields } = row
  if (row.problem !== undefined) return { row: number, path, problem: row.problem }
  if (path === '') return { row: number, path, problem: 'The field `file` is empty.' }
  try {
    const named = await withSlashes(path, folder)
    const located = await locate(named, folder)
    if ('problem' in located) return { row: number, path, problem: located.problem }
    const { default: mime } = await import('mime')
    // The type depends on the name in the source, because a link's target may have no extension.
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

const CONCURRENCY = 4

/**
 * Examines all files. `done` gets the number of examined files. Throws the reason of `interrupted`, and an Error for
 * a missing folder.
 */
export async function examineFiles(
  rows: readonly SourceRow[],
  folder: string,
  { done, interrupted }: { done: (count: number) => void; interrupted: AbortSignal },
): Promise<{ valid: ImportRow[]; invalid: InvalidRow[] }> {
  const base = await realpath(folder)
  const examined: (ImportRow | InvalidRow)[] = []
  await forEach(rows, CONCURRENCY, async (row) => {
    interrupted.throwIfAborted()
    examined.push(await examine(row, base))
    done(examined.length)
  })
  examined.sort((a, b) => a.row - b.row)
  return {
    valid: examined.filter((each) => 'sha256' in each),
    invalid: examined.filter((each) => 'problem' in each),
  }
}
