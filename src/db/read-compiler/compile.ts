/** From Prisma's arguments to one SQL statement. Values never become text, and names come from the data model only. */
import { createHash } from 'node:crypto'
import { decodeRow, decodeRows, type Row } from './decode.ts'
import type { Model } from './model.ts'
import { compilePage, encodeNatural, type Page } from './page.ts'
import { type Draft, from, newScope, type Parameter, parameter, type Scope } from './scope.ts'
import { compileSelection, rowOf } from './select.ts'
import { type Arguments, isPlain, unsupported } from './shape.ts'
import { all, compileUnique, compileWhere } from './where.ts'

/** The methods of Prisma's client that are answered here. */
export const readMethods = ['findFirst', 'findMany', 'findUnique', 'findUniqueOrThrow', 'count'] as const

/** One of them. */
export type ReadMethod = (typeof readMethods)[number]

/** A statement for every read of one shape. */
export interface Compiled {
  /** The same for the same text in each process. */
  readonly name: string
  readonly text: string
  readonly parameters: readonly Parameter[]
  /** Prisma's answer, from rows of one column; undefined when a row was asked for and there is none. */
  readonly decode: (rows: Row[]) => unknown
  /** Whether it reads or counts many rows. */
  readonly isList: boolean
  /** Whether it reads one row and what hangs on it. */
  readonly isSingle: boolean
}

/** What a statement does besides what it is asked. */
export interface CompileOptions {
  /** A page ends early rather than read texts and JSON of more bytes than this; it has one row at least. */
  pageBytes?: number | undefined
}

/** The statement for a read of this shape. Raises `unsupported` for what is left to Prisma. */
export const compile = (
  model: Model,
  method: ReadMethod,
  args: Arguments,
  { pageBytes }: CompileOptions = {},
): Compiled => {
  const isMany = method === 'findMany'
  const draft: Draft = { parameters: [], aliases: 0, isList: isMany || method === 'count' }
  const isCut = isMany && pageBytes !== undefined && args.take !== undefined
  const { text, decode } =
    method === 'count'
      ? compileCount(draft, model, args)
      : isMany && (isCut || args.skip !== undefined)
        ? compilePart(draft, model, args, isCut ? pageBytes : undefined)
        : compileFind(draft, model, method, args)
  const name = `read_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`
  const isSingle = !isMany && method !== 'count'
  const { parameters, isList } = draft
  return { name, text, parameters, decode, isList, isSingle }
}

const countArguments: ReadonlySet<string> = new Set(['where', 'take'])

const compileCount = (draft: Draft, model: Model, args: Arguments) => {
  if (Object.keys(args).some((key) => !countArguments.has(key) && args[key] !== undefined)) throw unsupported
  const scope = newScope(draft, model)
  const where = compileWhere(scope, args.where, ['where'])
  const rows = `${from(scope)} where ${where}`
  const counted =
    args.take === undefined ? rows : `(select from ${rows} limit ${parameter(draft, ['take'], encodeNatural)}) counted`
  return {
    text: `select count(*)::text from ${counted}`,
    decode: (rows: Row[]) => Number(rows[0]?.[0]),
  }
}

const compileFind = (draft: Draft, model: Model, method: Exclude<ReadMethod, 'count'>, args: Arguments) => {
  const scope = newScope(draft, model)
  const columns: string[] = []
  const shape = compileSelection(scope, args, [], columns)
  const unique = method === 'findUnique' || method === 'findUniqueOrThrow'
  if (unique && Object.keys(args).some((key) => !uniqueArguments.has(key) && args[key] !== undefined)) throw unsupported
  const where = (unique ? compileUnique : compileWhere)(scope, args.where, ['where'])
  const page = compilePage(scope, args, [], method !== 'findMany')
  const conditions = all([where, page.condition])
  const text = `select ${rowOf(columns)} from ${from(scope)} where ${conditions}${page.clauses}`
  if (method === 'findMany') {
    return { text, decode: (rows: Row[]) => decodeRows(shape, rows.map(onlyColumn), page.reverse) }
  }
  return { text, decode: (rows: Row[]) => (rows[0] ? decodeRow(shape, onlyColumn(rows[0])) : undefined) }
}

/**
 * A part of many rows: their keys are read first, which an index alone may tell, and only the rows of the part with what
 * belongs to them. So a row that is left out costs next to nothing.
 */
const compilePart = (draft: Draft, model: Model, args: Arguments, pageBytes: number | undefined) => {
  const inner = newScope(draft, model)
  const where = compileWhere(inner, args.where, ['where'])
  const page = compilePage(inner, args, [], false)
  const key = model.id.map(({ column }) => `${inner.alias}.${column}`).join(', ')
  const part = `select ${key} from ${from(inner)} where ${all([where, page.condition])}${page.clauses}`

  const scope = newScope(draft, model)
  const columns: string[] = []
  const shape = compileSelection(scope, args, [], columns)
  const keys = pageBytes === undefined ? part : cutTo(pageBytes, draft, model, args, page, part)
  const text = `select ${rowOf(columns)} from (${keys}) k join ${from(scope)} on ${sameRow(model, scope)}${page.orderOf(scope.alias)}`
  return { text, decode: (rows: Row[]) => decodeRows(shape, rows.map(onlyColumn), page.reverse) }
}

const sameRow = (model: Model, { alias }: Scope) =>
  model.id.map(({ column }) => `${alias}.${column} = k.${column}`).join(' and ')

/** Of the keys of a page, the first of which the texts take so many bytes together at most; one at least. */
const cutTo = (pageBytes: number, draft: Draft, model: Model, args: Arguments, page: Page, part: string) => {
  const scope = newScope(draft, model)
  const { select } = args
  const weights = [...model.scalars.values()]
    .filter(({ name, type }) => type in bytesOf && (!isPlain(select) || select[name] === true))
    .map(({ column, type }) => `coalesce(${bytesOf[type]?.(`${scope.alias}.${column}`)}, 0)`)
  if (weights.length === 0) return part
  const key = model.id.map(({ column }) => `k.${column}`).join(', ')
  return (
    `select ${key} from (select ${key}, row_number() over rows_before as position, sum(${weights.join(' + ')}) over rows_before as bytes ` +
    `from (${part}) k join ${from(scope)} on ${sameRow(model, scope)} window rows_before as (${page.orderOf(scope.alias).trim()} rows unbounded preceding)) k ` +
    `where k.bytes <= ${pageBytes} or k.position = 1`
  )
}

/**
 * The bytes in an answer of columns that hold as much as somebody writes. Of a long text the stored size is enough, which is
 * told without reading it: it is JSON, of which nothing becomes more than twice as long.
 */
const bytesOf: Record<string, (column: string) => string> = {
  String: (column) =>
    `case when octet_length(${column}::text) > ${LONG_TEXT} then 2 * octet_length(${column}::text) else octet_length(to_json(${column}::text)::text) end`,
  Json: (column) => `octet_length(${column}::text)`,
  Bytes: (column) => `octet_length(${column})`,
}
const LONG_TEXT = 16_000

const uniqueArguments = new Set(['select', 'where'])

const onlyColumn = (row: Row): Row => row[0] as Row
