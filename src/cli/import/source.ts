/** What is to be imported, as its source says it: rows of a CSV or of JSON lines, or the files of a folder. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative } from 'node:path'
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
const wrong = (message: string) => new CommanderError(WRONG_USAGE, 'annal.import', message)

/** The columns that a source may have besides `file`. */
async function knownColumns(): Promise<string[]> {
  const { customField, metadataFields, registrationFields } = await import('../../domain/asset/metadata.ts')
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

/** Without a byte order mark, which spreadsheets write. */
async function readText(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
  } catch (error) {
    throw error instanceof TypeError ? wrong(`${path} is not UTF-8: save it so.`) : error
  }
}

async function readCsv(path: string): Promise<SourceRow[]> {
  const { CsvError, parse } = await import('csv-parse/sync')
  const text = await readText(path)
  let header: string[] = []
  let records: string[][]
  try {
    // An empty line is one empty cell, and counts: spreadsheets count it, too.
    const all = parse(text, { relax_column_count: true })
    header = (all[0] ?? []).map((name) => name.trim())
    records = all.slice(1)
  } catch (error) {
    throw error instanceof CsvError ? wrong(`${path} is not CSV: ${error.message}.`) : error
  }
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
  const lines = (await readText(path)).split('\n')
  const rows = lines.flatMap((line, index) => (line.trim() === '' ? [] : [rowOfLine(line, index + 1)]))
  await assertColumns([FILE_COLUMN, ...new Set(rows.flatMap(({ fields }) => Object.keys(fields)))])
  return rows
}

/** Hidden files are somebody's tools'. Links are looked at later, as what they lead to. */
async function readFolder(folder: string): Promise<SourceRow[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split(/[\\/]/).some((part) => part.startsWith('.')))
  return paths.sort().map((path, index) => ({ row: index + 1, path, fields: {} }))
}

const readers: Record<string, (path: string) => Promise<SourceRow[]>> = {
  '.csv': readCsv,
  '.jsonl': readJsonLines,
  '.ndjson': readJsonLines,
}

/**
 * Reads a folder, `.csv`, `.jsonl` or `.ndjson`. `files`: where the files are that it names; its own folder when left out. Raises
 * CommanderError for what is none of these or cannot be read, and for columns that are not known.
 */
export async function readSource(source: string, files?: string): Promise<Source> {
  const found = await stat(source).catch(() => undefined)
  if (!found) throw wrong(`There is no ${source}.`)
  if (found.isDirectory()) {
    if (files !== undefined) throw wrong('--files is for a CSV or JSON lines: a folder holds its own files.')
    return { rows: await readFolder(source), folder: source }
  }
  const read = readers[extname(source).toLowerCase()]
  if (!read) throw wrong(`${basename(source)} is neither a folder nor .csv, .jsonl or .ndjson.`)
  const folder = files ?? dirname(source)
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) throw wrong(`There is no folder ${folder}.`)
  return { rows: await read(source), folder }
}
