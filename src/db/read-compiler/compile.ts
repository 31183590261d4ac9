/** Compiles Prisma's read arguments to one SQL statement. Values are parameters. Names come from the data model. */

import { createHash } from 'node:crypto'
import { MAX_COUNTED } from '../../shared/lists.ts'
import type { Field, Model, Relation } from './model.ts'
import * as values from './values.ts'
import {
  all,
  type CompileContext,
  columnOf,
  compilePage,
  compileUnique,
  compileWhere,
  from,
  join,
  link,
  newScope,
  type Page,
  type Parent,
  parameter,
  present,
  relationOf,
  type Scope,
} from './where.ts'

type Path = values.Parameter['path']

/** Returns SQL that puts a column into JSON without loss. Values that JSON or JavaScript would round become text. */
const jsonOf = (field: Field, column: string): string => {
  if (field.type === 'Decimal' || field.type === 'BigInt') return `${column}::text`
  if (field.type === 'Bytes') return `encode(${column}, 'hex')`
  return column
}

/** Maximum number of arguments of a PostgreSQL function. */
const MAX_COLUMNS = 100

/** Returns the SQL for a row as a JSON array. Call this after the selection is compiled and `columns` is complete. */
const rowOf = (columns: readonly string[]): string => {
  if (columns.length > MAX_COLUMNS) throw values.unsupported
  return `json_build_array(${columns.join(', ')})`
}

const newLayout = (): values.RowLayout => ({ fields: [], ones: [], lists: [] })

/** Adds the columns that `args` selects to `columns`. Throws `unsupported`. */
const compileSelection = (scope: Scope, args: values.Arguments, path: Path, columns: string[]): values.RowLayout => {
  const { scalars } = scope.model
  const { select = Object.fromEntries([...scalars.keys()].map((name) => [name, true])) } = args
  if (!values.isPlain(select)) throw values.unsupported
  const layout = newLayout()
  const chosen = Object.entries(select).filter(([, value]) => value !== undefined && value !== false)
  if (chosen.length === 0) throw values.unsupported
  for (const [name, value] of chosen) {
    const at = [...path, 'select', name]
    const field = scalars.get(name)
    if (name === '_count') compileCounts(scope, value, at, columns, layout)
    else if (!field) compileRelation(scope, name, value, at, columns, layout)
    else if (value !== true) throw values.unsupported
    else {
      layout.fields.push({ name, at: columns.length, decode: values.decoderOf(field) })
      columns.push(jsonOf(field, columnOf(scope, field)))
    }
  }
  return layout
}

const compileRelation = (
  scope: Scope,
  name: string,
  value: unknown,
  path: Path,
  columns: string[],
  { lists, ones }: values.RowLayout,
) => {
  const relation = relationOf(scope.model, name)
  const args = value === true ? {} : value
  if (!values.isPlain(args)) throw values.unsupported
  if (relation.list) {
    const { sql, ...list } = compileList(scope, relation, args, path)
    lists.push({ name, at: columns.push(sql) - 1, ...list })
    return
  }
  assertOnly(args, ['select'])
  const joined = join(scope, name)
  const presentAt = relation.required ? undefined : columns.push(present(joined)) - 1
  ones.push({ name, presentAt, layout: compileSelection(joined, args, path, columns) })
}

const compileList = (scope: Scope, relation: Relation, args: values.Arguments, path: Path) => {
  scope.compiling.isList = true
  const child = newScope(scope.compiling, relation.model)
  const parent: Parent = {
    link: (alias) => link(relation, scope.alias, alias),
    columns: relation.columns.map(([, there]) => there),
  }
  const columns: string[] = []
  const layout = compileSelection(child, args, path, columns)
  const where = compileWhere(child, args.where, [...path, 'where'])
  const page = compilePage(child, args, path, false, parent)
  const conditions = all([parent.link(child.alias), where, page.condition])
  // Unlike an aggregate, ARRAY() keeps the order of its query and is empty without rows.
  const sql = `array(select ${rowOf(columns)} from ${from(child)} where ${conditions}${page.clauses})`
  return { sql, layout, reverse: page.reverse }
}

const compileCounts = (scope: Scope, value: unknown, path: Path, columns: string[], { ones }: values.RowLayout) => {
  if (!values.isPlain(value) || !values.isPlain(value.select)) throw values.unsupported
  assertOnly(value, ['select'])
  const layout = newLayout()
  for (const [name, args] of Object.entries(value.select)) {
    if (args === undefined || args === false) continue
    const relation = relationOf(scope.model, name)
    const filter = args === true ? {} : args
    if (!relation.list || !values.isPlain(filter)) throw values.unsupported
    assertOnly(filter, ['where'])
    scope.compiling.isList = true
    const child = newScope(scope.compiling, relation.model)
    const where = compileWhere(child, filter.where, [...path, 'select', name, 'where'])
    layout.fields.push({ name, at: columns.length, decode: undefined })
    const conditions = all([link(relation, scope.alias, child.alias), where])
    columns.push(`(select count(*) from (select from ${from(child)} where ${conditions} limit ${MAX_COUNTED}) counted)`)
  }
  if (layout.fields.length === 0) throw values.unsupported
  ones.push({ name: '_count', presentAt: undefined, layout })
}

/** Methods of Prisma's client that the compiler supports. */
export const readMethods = ['findFirst', 'findMany', 'findUniqueOrThrow', 'count'] as const

export type ReadMethod = (typeof readMethods)[number]

/** A compiled statement for all reads with the same shape. */
export interface Compiled {
  /** Statement name, derived from the text. It is the same in every process. */
  readonly name: string
  readonly text: string
  readonly parameters: readonly values.Parameter[]
  /** Converts rows of one column to Prisma's result. */
  readonly decode: (rows: values.Row[]) => unknown
  /** True if the statement reads or counts many rows. */
  readonly isList: boolean
  /** True if the statement reads one row and its relations. */
  readonly isSingle: boolean
}

/**
 * Compiles a read. A page of `findMany` ends early if its texts and JSON exceed `pageBytes`. It has at
 * least one row. Throws `unsupported` for arguments that Prisma must execute.
 */
export const compile = (model: Model, method: ReadMethod, args: values.Arguments, pageBytes?: number): Compiled => {
  const isMany = method === 'findMany'
  const compiling: CompileContext = { parameters: [], aliases: 0, isList: isMany || method === 'count' }
  const maxBytes = args.take === undefined ? undefined : pageBytes
  const { text, decode } =
    method === 'count'
      ? compileCount(compiling, model, args)
      : isMany && (maxBytes !== undefined || args.skip !== undefined)
        ? compilePart(compiling, model, args, maxBytes)
        : compileFind(compiling, model, method, args)
  const name = `read_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`
  const { parameters, isList } = compiling
  return { name, text, parameters, decode, isList, isSingle: !isMany && method !== 'count' }
}

const assertOnly = (args: values.Arguments, allowed: readonly string[]) => {
  if (Object.keys(args).some((key) => !allowed.includes(key) && args[key] !== undefined)) throw values.unsupported
}

const compileCount = (compiling: CompileContext, model: Model, args: values.Arguments) => {
  assertOnly(args, ['where', 'take'])
  const scope = newScope(compiling, model)
  const where = compileWhere(scope, args.where, ['where'])
  const limit = args.take === undefined ? '' : ` limit ${parameter(compiling, ['take'], values.encodeNatural)}`
  return {
    text: `select count(*)::text from (select from ${from(scope)} where ${where}${limit}) counted`,
    decode: (rows: values.Row[]) => Number(rows[0]?.[0]),
  }
}

const compileFind = (compiling: CompileContext, model: Model, method: ReadMethod, args: values.Arguments) => {
  const scope = newScope(compiling, model)
  const columns: string[] = []
  const layout = compileSelection(scope, args, [], columns)
  const isUnique = method === 'findUniqueOrThrow'
  if (isUnique) assertOnly(args, ['select', 'where'])
  const where = (isUnique ? compileUnique : compileWhere)(scope, args.where, ['where'])
  const page = compilePage(scope, args, [], method !== 'findMany')
  const conditions = all([where, page.condition])
  return {
    text: `select ${rowOf(columns)} from ${from(scope)} where ${conditions}${page.clauses}`,
    decode: method === 'findMany' ? values.manyDecoder(layout, page.reverse) : values.singleDecoder(layout),
  }
}

/**
 * Compiles a page of many rows. It reads the keys first, often from an index alone, and then the rows and relations of
 * the page. Skipped rows therefore cost almost nothing.
 */
const compilePart = (
  compiling: CompileContext,
  model: Model,
  args: values.Arguments,
  pageBytes: number | undefined,
) => {
  const inner = newScope(compiling, model)
  const where = compileWhere(inner, args.where, ['where'])
  const page = compilePage(inner, args, [], false)
  const key = model.id.map(({ column }) => `${inner.alias}.${column}`).join(', ')
  const part = `select ${key} from ${from(inner)} where ${all([where, page.condition])}${page.clauses}`

  const scope = newScope(compiling, model)
  const columns: string[] = []
  const layout = compileSelection(scope, args, [], columns)
  const keys = pageBytes === undefined ? part : cutTo(pageBytes, newScope(compiling, model), args, page, part)
  const text = `select ${rowOf(columns)} from (${keys}) k join ${from(scope)} on ${sameRow(scope)}${page.orderOf(scope.alias)}`
  return { text, decode: values.manyDecoder(layout, page.reverse) }
}

const sameRow = ({ model, alias }: Scope) =>
  model.id.map(({ column }) => `${alias}.${column} = k.${column}`).join(' and ')

/** Returns SQL that keeps the keys of the first rows whose texts fit in `pageBytes`. Keeps at least one row. */
const cutTo = (pageBytes: number, scope: Scope, { select }: values.Arguments, page: Page, part: string) => {
  const weights = [...scope.model.scalars.values()]
    .filter(({ name, type }) => type in bytesOf && (!values.isPlain(select) || select[name] === true))
    .map(({ column, type }) => `coalesce(${bytesOf[type]?.(`${scope.alias}.${column}`)}, 0)`)
  if (weights.length === 0) return part
  const key = scope.model.id.map(({ column }) => `k.${column}`).join(', ')
  return (
    `select ${key} from (select ${key}, row_number() over rows_before as position, sum(${weights.join(' + ')}) over rows_before as bytes ` +
    `from (${part}) k join ${from(scope)} on ${sameRow(scope)} window rows_before as (${page.orderOf(scope.alias).trim()} rows unbounded preceding)) k ` +
    `where k.bytes <= ${pageBytes} or k.position = 1`
  )
}

/**
 * SQL for the response size, in bytes, of columns with user-defined length. A long text counts as twice its stored
 * size, so that PostgreSQL need not read the text. JSON escaping at most doubles the size.
 */
const bytesOf: Record<string, (column: string) => string> = {
  String: (column) =>
    `case when octet_length(${column}::text) > ${LONG_TEXT} then 2 * octet_length(${column}::text) else octet_length(to_json(${column}::text)::text) end`,
  Json: (column) => `octet_length(${column}::text)`,
  Bytes: (column) => `octet_length(${column})`,
}
const LONG_TEXT = 16_000
