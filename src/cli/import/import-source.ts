/** Reads the source of an import, which is a list or a folder, and examines its files. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { forEachConcurrent } from '../../shared/async.ts'
import { usageError } from '../terminal.ts'

export interface SourceRow {
  /** Row of a CSV file including the header, line of a JSON Lines file, or position in the sorted folder, from 1. */
  row: number
  path: string
  /** Metadata by field name of the REST API. */
  fields: Record<string, string>
  problem?: string
}

/** A row with a file that can be registered. `file`: resolved path. `type`: MIME type. `sha256`: hexadecimal. */
export type ImportRow = Awaited<ReturnType<typeof examine>>

const FILE_COLUMN = 'file'
/** Replacement character for bytes that are not UTF-8. */
const UNDECODABLE = '\uFFFD'
const NOT_UTF8 = 'The name is not UTF-8. Rename the file or folder.'

async function assertColumns(columns: readonly string[]): Promise<void> {
  const { customField, metadataFields, registrationFields } = await import('../../modules/assets/metadata.ts')
  const fields = Object.values({ ...metadataFields, ...registrationFields }).map(({ column }) => column)
  const known = [FILE_COLUMN, ...fields, customField.changeName, 'commit_message', 'asset_file_mime_type']
  const rule = `Fields: ${known.join(', ')}; required: ${FILE_COLUMN}.`
  const unknown = columns.find((column) => !known.includes(column))
  if (unknown !== undefined) throw usageError(`Unknown field '${unknown}'. ${rule}`)
  if (!columns.includes(FILE_COLUMN)) throw usageError(`The field 'file' is missing. ${rule}`)
  const twice = columns.find((column, index) => columns.indexOf(column) !== index)
  if (twice !== undefined) throw usageError(`The field '${twice}' is repeated.`)
}

async function readText(path: string): Promise<string> {
  const bytes = await readFile(path)
  if (isUtf8(bytes)) return bytes.toString().replace(/^\uFEFF/, '')
  throw usageError(`${path} is not UTF-8. Save it as "CSV UTF-8".`)
}

async function readCsv(path: string): Promise<SourceRow[]> {
  const { CsvError, parse } = await import('csv-parse/sync')
  const text = await readText(path)
  // The first separator in the header applies to all lines, because field names contain none.
  const delimiter = /[,;\t]/.exec(text.split(/[\r\n]/, 1)[0]!)?.[0] ?? ','
  let rows: string[][]
  try {
    rows = parse(text, { delimiter, relax_column_count: true })
  } catch (error) {
    throw error instanceof CsvError ? usageError(`${path} is not CSV: ${error.message}.`) : error
  }
  const [names = [], ...records] = rows
  const header = names.map((name) => name.trim().toLowerCase().replaceAll(/\s+/g, '_'))
  await assertColumns(header)
  return records.flatMap((cells, index): SourceRow[] => {
    // An empty line is a row with one empty cell, because spreadsheets count it too.
    if (cells.every((cell) => cell === '')) return []
    const filled = header.flatMap((name, column) => (cells[column] ? [[name, cells[column]] as const] : []))
    const { [FILE_COLUMN]: path = '', ...fields } = Object.fromEntries(filled)
    const problem = `The row has ${cells.length} cells, but the header has ${header.length}.`
    return [{ row: index + 2, path, fields, ...(cells.length !== header.length && { problem }) }]
  })
}

function rowOfLine(line: string, row: number): SourceRow {
  try {
    const { [FILE_COLUMN]: path, ...fields } = z.record(z.string(), z.unknown()).parse(JSON.parse(line))
    const texts = Object.entries(fields).flatMap(([name, value]) =>
      value === null ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
    )
    return { row, path: typeof path === 'string' ? path : '', fields: Object.fromEntries(texts) }
  } catch {
    return { row, path: '', fields: {}, problem: 'The line is not a JSON object.' }
  }
}

async function readJsonLines(path: string): Promise<SourceRow[]> {
  const lines = (await readText(path)).split('\n')
  const rows = lines.flatMap((line, index) => (line.trim() === '' ? [] : [rowOfLine(line, index + 1)]))
  await assertColumns([FILE_COLUMN, ...new Set(rows.flatMap(({ fields }) => Object.keys(fields)))])
  return rows
}

const readers: Record<string, (path: string) => Promise<SourceRow[]>> = {
  ...{ '.csv': readCsv, '.tsv': readCsv, '.txt': readCsv, '.jsonl': readJsonLines, '.ndjson': readJsonLines },
}

/** Returns the relative paths of all files in a folder, except hidden ones. Names that are not UTF-8 contain a replacement character. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const visible = entries.filter(({ name }) => !name.startsWith('.'))
  const nested = visible.map(async (entry) => {
    // A folder with such a name cannot be opened.
    const inside = entry.isDirectory() ? await filesIn(join(folder, entry.name)).catch(() => ['']) : ['']
    return inside.map((path) => join(entry.name, path))
  })
  return (await Promise.all(nested)).flat()
}

/** Reads a folder or a list. `files`: folder of the listed files. Default: the folder of the list. Throws a usage error. */
export async function readSource(source: string, files?: string): Promise<{ rows: SourceRow[]; folder: string }> {
  const found = await stat(source).catch(() => undefined)
  if (!found) throw usageError(`There is no ${source}.${source.includes(UNDECODABLE) ? ` ${NOT_UTF8}` : ''}`)
  if (found.isDirectory()) {
    if (files !== undefined) throw usageError('--files is for lists only.')
    const paths = (await filesIn(source)).sort()
    return { rows: paths.map((path, index) => ({ row: index + 1, path, fields: {} })), folder: source }
  }
  const read = readers[extname(source).toLowerCase()]
  if (!read) throw usageError(`${basename(source)} is neither a folder nor a .csv, .tsv, .txt, .jsonl or .ndjson file.`)
  const folder = files ?? dirname(source)
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) throw usageError(`There is no folder ${folder}.`)
  return { rows: await read(source), folder }
}

const isWithin = (folder: string, path: string) => !/^\.\.([/\\]|$)/.test(relative(folder, path))

const reasons: Record<string, string> = {
  ENOENT: 'The file does not exist.',
  ENOTDIR: 'The file does not exist.',
  EACCES: 'Permission to read the file is denied.',
  ELOOP: 'The link’s target is not a file.',
}

const reasonOf = (path: string, { code = '', message }: NodeJS.ErrnoException) =>
  code === 'ENOENT' && path.includes(UNDECODABLE) ? NOT_UTF8 : (reasons[code] ?? `Cannot read the file: ${message}.`)

/** Returns a path with slashes. A backslash separates folders, as on Windows, unless a file name contains it. */
const withSlashes = (path: string, folder: string) =>
  existsSync(resolve(folder, path)) ? path : path.replaceAll('\\', '/')

/** Examines a file. Throws an Error if it cannot be registered. An untrusted list must not select files outside the folder. */
async function examine(row: SourceRow, folder: string) {
  if (row.problem !== undefined) throw new Error(row.problem)
  if (row.path === '') throw new Error('The field `file` is empty.')
  const { MAX_FILE_BYTES } = await import('../../modules/assets/register-asset.ts')
  const { default: mime } = await import('mime')
  const outside = `The file is outside ${folder}.`
  const path = withSlashes(row.path, folder)
  const named = resolve(folder, path)
  if (!isWithin(folder, named)) throw new Error(outside)
  const file = await realpath(named)
  if (!isWithin(folder, file)) throw new Error(outside)
  const found = await stat(file)
  const { size } = found
  if (found.isDirectory()) throw new Error('The path is a folder.')
  if (!found.isFile()) throw new Error('The path is not a file.')
  if (size === 0) throw new Error('The file is empty.')
  if (size > MAX_FILE_BYTES) throw new Error(`The file is larger than ${MAX_FILE_BYTES} bytes.`)
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  // The type depends on the name in the source, because a link's target may have no extension.
  const type = mime.getType(path) ?? 'application/octet-stream'
  return { ...row, file, size, fileName: basename(path), type, sha256: hash.digest('hex') }
}

const CONCURRENCY = 4

/** Examines all files. `onProgress` gets the number of examined files. */
export async function examineFiles(rows: readonly SourceRow[], folder: string, onProgress = (_count: number) => {}) {
  const base = await realpath(folder)
  const valid: ImportRow[] = []
  const invalid: (SourceRow & { problem: string })[] = []
  await forEachConcurrent(rows, CONCURRENCY, async (row) => {
    await examine(row, base).then(
      (examined) => valid.push(examined),
      (error: NodeJS.ErrnoException) =>
        invalid.push({ ...row, problem: error.code === undefined ? error.message : reasonOf(row.path, error) }),
    )
    onProgress(valid.length + invalid.length)
  })
  return { valid: valid.sort((a, b) => a.row - b.row), invalid }
}
