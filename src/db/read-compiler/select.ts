/** What is read of a row: `select`, `_count`; all of its own fields without a `select`. */
import { MAX_COUNTED } from '../../shared/lists.ts'
import type { Shape } from './decode.ts'
import type { Relation } from './model.ts'
import { compilePage, type Parent } from './page.ts'
import { columnOf, from, join, link, newScope, type Path, present, relationOf, type Scope } from './scope.ts'
import { type Arguments, isPlain, unsupported } from './shape.ts'
import { decoderOf, jsonOf } from './values.ts'
import { all, compileWhere } from './where.ts'

/** PostgreSQL takes no more arguments to a function. */
const MOST_COLUMNS = 100

/** One row as a JSON array. Its columns are complete once the selection was compiled. */
export const rowOf = (columns: readonly string[]): string => {
  if (columns.length > MOST_COLUMNS) throw unsupported
  return `json_build_array(${columns.join(', ')})`
}

/** Adds the columns that `args` select to `columns`. Raises `unsupported`. */
export const compileSelection = (scope: Scope, args: Arguments, path: Path, columns: string[]): Shape => {
  const { select } = args
  const shape: Shape = { fields: [], ones: [], lists: [], counts: [] }
  if (select === undefined) {
    for (const name of scope.model.scalars.keys()) compileField(scope, name, columns, shape)
    return shape
  }
  if (!isPlain(select)) throw unsupported
  const chosen = Object.entries(select).filter(([, value]) => value !== undefined && value !== false)
  if (chosen.length === 0) throw unsupported
  for (const [name, value] of chosen) {
    const at = [...path, 'select', name]
    if (name === '_count') compileCounts(scope, value, at, columns, shape)
    else if (!scope.model.scalars.has(name)) compileRelation(scope, name, value, at, columns, shape)
    else if (value === true) compileField(scope, name, columns, shape)
    else throw unsupported
  }
  return shape
}

const compileField = (scope: Scope, name: string, columns: string[], shape: Shape) => {
  const field = scope.model.scalars.get(name)
  if (!field) throw unsupported
  shape.fields.push({ name, at: columns.length, decode: decoderOf(field) })
  columns.push(jsonOf(field, columnOf(scope, field)))
}

const compileRelation = (scope: Scope, name: string, value: unknown, path: Path, columns: string[], shape: Shape) => {
  const relation = relationOf(scope.model, name)
  const args = value === true ? {} : value
  if (!isPlain(args)) throw unsupported
  if (relation.list) {
    const at = columns.length
    // Its place is taken before the selection inside is compiled; that one fills an array of its own.
    const list = compileList(scope, relation, args, path)
    columns.push(list.sql)
    shape.lists.push({ name, at, shape: list.shape, reverse: list.reverse })
    return
  }
  const beyond = Object.keys(args).some((key) => key !== 'select' && args[key] !== undefined)
  if (beyond) throw unsupported
  const joined = join(scope, name)
  const presentAt = relation.required ? undefined : columns.length
  if (!relation.required) columns.push(present(joined))
  shape.ones.push({ name, presentAt, shape: compileSelection(joined, args, path, columns) })
}

const compileList = (scope: Scope, relation: Relation, args: Arguments, path: Path) => {
  scope.draft.isList = true
  const child = newScope(scope.draft, relation.model)
  const parent: Parent = {
    link: (alias) => link(relation, scope.alias, alias),
    columns: relation.columns.map(([, there]) => there),
  }
  const columns: string[] = []
  const shape = compileSelection(child, args, path, columns)
  const where = compileWhere(child, args.where, [...path, 'where'])
  const page = compilePage(child, args, path, false, parent)
  const conditions = all([parent.link(child.alias), where, page.condition])
  // Unlike an aggregate, ARRAY() keeps the order of its query and is empty without rows.
  const sql = `array(select ${rowOf(columns)} from ${from(child)} where ${conditions}${page.clauses})`
  return { sql, shape, reverse: page.reverse }
}

const compileCounts = (scope: Scope, value: unknown, path: Path, columns: string[], shape: Shape) => {
  const given = isPlain(value) ? Object.entries(value).filter(([, part]) => part !== undefined) : []
  const select = given.length === 1 && given[0]?.[0] === 'select' ? given[0][1] : undefined
  if (!isPlain(select)) throw unsupported
  for (const [name, args] of Object.entries(select)) {
    if (args === undefined || args === false) continue
    const relation = relationOf(scope.model, name)
    if (!relation.list || (args !== true && !isPlain(args))) throw unsupported
    const filter = args === true ? {} : args
    if (Object.keys(filter).some((key) => key !== 'where')) throw unsupported
    scope.draft.isList = true
    const child = newScope(scope.draft, relation.model)
    const where = compileWhere(child, filter.where, [...path, 'select', name, 'where'])
    shape.counts.push({ name, at: columns.length })
    const conditions = all([link(relation, scope.alias, child.alias), where])
    columns.push(`(select count(*) from (select from ${from(child)} where ${conditions} limit ${MAX_COUNTED}) counted)`)
  }
  if (shape.counts.length === 0) throw unsupported
}
