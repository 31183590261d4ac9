/** Reads what to import from a source: the rows of a CSV or JSON lines list, or the files of a folder. */
import { isUtf8 } from 'node:buffer'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, extname, sep } from 'node:path'
import { CommanderError } from 'commander'
import { WRONG_USAGE } from '../output.ts'

/** One file with what is said of it. */
export interface SourceRow {
  /** In a CSV as spreadsheets count (the header is 1), in JSON lines the line, in a folder the place in the order of names. */
  row: number
  /** The file, as the source names it. */
  path: string
  /** What is said of it, by the names of REST. */
  fields: Record<string, string>
  /** Why it cannot be sent. */
  problem?: string
}

/** What a source holds. */
export interface Source {
  rows: SourceRow[]
  /** Where the files are that it names. */
  folder: string
}

const FILE_COLUMN = 'file'

/** The character that replaces bytes of a name that are not UTF-8. */
export const UNDECODABLE = '\uFFFD'
/** The problem of a file with such a name. */
export const NOT_UTF8 = 'The name is not UTF-8. Rename the file or folder.'
const wrong = (message: string) => new CommanderError(WRONG_USAGE, 'annal.import', message)

/** The columns that a source may have besides `file`. */
async function knownColumns(): Promise<string[]> {
  const { customField, metadataFields, registrationFields } = await import('../../modules/assets/metadata.ts')
  const columns = Object.values({ ...metadataFields, ...registrationFields }).map(({ column }) => column)
  return [...columns, customField.changeName, 'commit_message', 'asset_file_mime_type']
}

/** Raises CommanderError when `file` is missing, or another one is not a field that can be sent. */
async function assertColumns(columns: readonly string[]): Promise<void> {
  const known = await knownColumns()
  const rule = `They are ${FILE_COLUMN}, which must be there, and ${known.join(', ')}.`
  const unknown = columns.find((column) => column !== FILE_COLUMN && !known.includes(column))
  if (unknown !== undefined) throw wrong(`There is no field '${unknown}'. ${rule}`)
  if (!columns.includes(FILE_COLUMN)) throw wrong(`No field says which file it is. ${rule}`)
  const twice = columns.find((column, index) => columns.indexOf(column) !== index)
  if (twice !== undefined) throw wrong(`The field '${twice}' is there twice.`)
}

/** Detects UTF-16, in which Excel saves "Unicode Text". A list starts with a byte order mark or an ASCII character. */
function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === undefined || second === undefined) return 'utf-8'
  if ((first === 0xff && second === 0xfe) || second === 0) return 'utf-16le'
  return (first === 0xfe && second === 0xff) || first === 0 ? 'utf-16be' : 'utf-8'
}

const isValid = (text: string) => isUtf8(Buffer.from(text, 'latin1'))

/**
 * Reads a list without its byte order mark. `rowsOf` divides a text into rows; the first is row 1. Raises CommanderError with the
 * number of the first row that is not UTF-8.
 */
async function readText(path: string, rowsOf: (text: string) => string[][]): Promise<string> {
  const bytes = await readFile(path)
  const encoding = encodingOf(bytes)
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes).replace(/^\uFEFF/, '')
  } catch {
    if (encoding !== 'utf-8') throw wrong(`${path} is not valid UTF-16. Save it as "CSV UTF-8".`)
  }
  // Separators and quotes are ASCII, so the rows are the same in Latin-1, in which every byte is a character.
  const text = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '')
  const row = rowsOf(text).findIndex((cells) => !cells.every(isValid)) + 1
  throw wrong(`${path} is not UTF-8 in row ${row}. Save it as "CSV UTF-8".`)
}

/** Excel reads this line as the separator of the other lines. */
const SEPARATOR_LINE = /^sep=([,;\t])\r?\n/i

/** Divides CSV into rows of cells. The first separator in the header is that of all lines: no field name contains one. */
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
    // An empty line is one empty cell, and counts: spreadsheets count it, too.
    rows = rowsOf(await readText(path, rowsOf))
  } catch (error) {
    throw error instanceof CsvError ? wrong(`${path} is not CSV: ${error.message}.`) : error
  }
  const [names = [], ...records] = rows
  const header = names.map((name) => name.trim().toLowerCase().replaceAll(/\s+/g, '_'))
  await assertColumns(header)
  return records.flatMap((cells, index) =>
    cells.every((cell) => cell === '') ? [] : [rowOfCells(header, cells, index + 2)],
  )
}

function rowOfCells(header: readonly string[], cells: readonly string[], row: number): SourceRow {
  // An empty cell says nothing.
  const said = header.flatMap((name, column) => (cells[column] ? [[name, cells[column]] as const] : []))
  const { [FILE_COLUMN]: path = '', ...fields } = Object.fromEntries(said)
  if (cells.length === header.length) return { row, path, fields }
  return { row, path, fields, problem: `The row has ${cells.length} cells, and the header ${header.length}.` }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function rowOfLine(line: string, row: number): SourceRow {
  const nothing = { row, path: '', fields: {} }
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { ...nothing, problem: 'The line is not JSON.' }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ...nothing, problem: 'The line is not a JSON object.' }
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

/** Returns the files in a folder and below it, as relative paths, without hidden ones. Paths are bytes: not every name is UTF-8. */
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

/** Returns the files of a folder in the order of their names. Links are resolved later. */
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
 * Reads a folder or a list: `.csv`, `.tsv`, `.txt`, `.jsonl` or `.ndjson`. `files`: the folder of the files that a list names; the
 * list's own folder if omitted. Raises CommanderError for another kind of source, unreadable text and unknown columns.
 */
export async function readSource(source: string, files?: string): Promise<Source> {
  const found = await stat(source).catch(() => undefined)
  if (!found) throw wrong(`There is no ${source}.${source.includes(UNDECODABLE) ? ` ${NOT_UTF8}` : ''}`)
  if (found.isDirectory()) {
    if (files !== undefined) throw wrong('--files is for a CSV or JSON lines: a folder holds its own files.')
    return { rows: await readFolder(source), folder: source }
  }
  const read = readers[extname(source).toLowerCase()]
  if (!read) throw wrong(`${basename(source)} is neither a folder nor .csv, .tsv, .txt, .jsonl or .ndjson.`)
  const folder = files ?? dirname(source)
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) throw wrong(`There is no folder ${folder}.`)
  return { rows: await read(source), folder }
}
