/** Filters. Undefined means "not given", null means IS NULL, and unknown follows SQL's three-valued logic, as in Prisma. */
import type { Field } from './model.ts'
import {
  type Arguments,
  columnOf,
  encoderOf,
  from,
  isPlain,
  join,
  link,
  listEncoderOf,
  newScope,
  type Path,
  parameter,
  present,
  relationOf,
  type Scope,
  unsupported,
} from './scope.ts'

const comparisons = new Map([
  ['lt', '<'],
  ['lte', '<='],
  ['gt', '>'],
  ['gte', '>='],
])

/** Prisma knows no order of these. */
const unordered = new Set(['Boolean', 'Enum'])

/** All of them; `true` when none says anything. */
export const all = (conditions: readonly string[]): string => {
  const telling = conditions.filter((condition) => condition !== 'true')
  return telling.length > 1 ? `(${telling.join(' and ')})` : (telling[0] ?? 'true')
}

/** The conditions of a `where`. Raises `unsupported`. */
export const compileWhere = (scope: Scope, where: unknown, path: Path): string => {
  if (where === undefined) return 'true'
  if (!isPlain(where)) throw unsupported
  const conditions: string[] = []
  for (const [key, value] of Object.entries(where)) {
    if (value === undefined) continue
    const at = [...path, key]
    const field = scope.model.scalars.get(key)
    if (key === 'OR') conditions.push(compileAlternatives(scope, value, at))
    else if (key === 'AND') conditions.push(...compileAll(scope, value, at))
    else if (field) conditions.push(...compileField(scope, field, value, at))
    else conditions.push(compileRelation(scope, key, value, at))
  }
  return all(conditions)
}

const compileAlternatives = (scope: Scope, value: unknown, path: Path): string => {
  if (!Array.isArray(value)) throw unsupported
  const parts = value.map((item, at) => compileWhere(scope, item, [...path, at]))
  // What an empty filter means within OR is for Prisma to say.
  if (parts.length === 0 || parts.includes('true')) throw unsupported
  return `(${parts.join(' or ')})`
}

const compileAll = (scope: Scope, value: unknown, path: Path): string[] => {
  if (!Array.isArray(value)) throw unsupported
  return value.map((item, at) => compileWhere(scope, item, [...path, at]))
}

const compileField = (scope: Scope, field: Field, value: unknown, path: Path): string[] => {
  if (!isPlain(value)) return [equal(scope, field, value, path)]
  if (value.mode !== undefined) return [search(scope, field, value, path)]
  return Object.entries(value)
    .filter(([, operand]) => operand !== undefined)
    .map(([operator]) => compare(scope, field, operator, [...path, operator]))
}

const equal = (scope: Scope, field: Field, value: unknown, path: Path): string => {
  const column = columnOf(scope, field)
  if (value !== null) return `${column} = ${parameter(scope.compiling, path, encoderOf(field))}`
  if (field.required || field.type === 'Json') throw unsupported
  return `${column} is null`
}

const compare = (scope: Scope, field: Field, operator: string, path: Path): string => {
  const column = columnOf(scope, field)
  if (operator === 'in') return `${column} = any(${parameter(scope.compiling, path, listEncoderOf(field))})`
  const sign = comparisons.get(operator)
  if (sign === undefined || unordered.has(field.type)) throw unsupported
  return `${column} ${sign} ${parameter(scope.compiling, path, encoderOf(field))}`
}

/** Text that contains a text in any case. As in Prisma, the text may hold special characters of LIKE. */
const search = (scope: Scope, field: Field, { contains, mode, ...others }: Arguments, path: Path): string => {
  if (mode !== 'insensitive' || contains === undefined || Object.keys(others).length > 0) throw unsupported
  const encode = encoderOf(field)
  if (field.type !== 'String') throw unsupported
  const pattern = (value: unknown) => `%${encode(value)}%`
  return `${columnOf(scope, field)} ilike ${parameter(scope.compiling, [...path, 'contains'], pattern)}`
}

const compileRelation = (scope: Scope, name: string, value: unknown, path: Path): string => {
  const relation = relationOf(scope.model, name)
  if (!isPlain(value)) throw unsupported
  if (relation.list) {
    const given = Object.keys(value).filter((key) => value[key] !== undefined)
    if (given.length !== 1 || given[0] !== 'some') throw unsupported
    const other = newScope(scope.compiling, relation.model)
    const condition = compileWhere(other, value.some, [...path, 'some'])
    return `exists (select from ${from(other)} where ${link(relation, scope.alias, other.alias)} and ${condition})`
  }
  const other = join(scope, name)
  const condition = compileWhere(other, value, path)
  // Prisma asks nothing then, not even that the relation is there.
  if (condition === 'true') throw unsupported
  return all([condition, present(other)])
}

/** The row that a unique filter names. Raises `unsupported`, also where Prisma would refuse: when it names none. */
export const compileUnique = (scope: Scope, where: unknown, path: Path): string => {
  if (!isPlain(where)) throw unsupported
  const conditions: string[] = []
  for (const [key, value] of Object.entries(where)) {
    if (value === undefined) continue
    const fields = scope.model.uniques.get(key)
    if (!fields) throw unsupported
    conditions.push(...compileKey(scope, fields, value, [...path, key]))
  }
  if (conditions.length === 0) throw unsupported
  return all(conditions)
}

const compileKey = (scope: Scope, fields: readonly Field[], value: unknown, path: Path): string[] => {
  const [first] = fields
  if (fields.length === 1 && first) return [equal(scope, first, solid(value), path)]
  if (!isPlain(value) || Object.keys(value).length !== fields.length) throw unsupported
  return fields.map((field) => equal(scope, field, solid(value[field.name]), [...path, field.name]))
}

/** Of a key, what names a row. Raises `unsupported`. */
const solid = (value: unknown): unknown => {
  if (value === undefined || value === null) throw unsupported
  return value
}

/** The parts of a statement that say which rows, and in which order. */
export interface Page {
  /** Rows from the cursor on, or `true`. */
  readonly condition: string
  /** ORDER BY, LIMIT and OFFSET. */
  readonly clauses: string
  /** A negative `take` reads backwards; the rows are turned round again afterwards. */
  readonly reverse: boolean
  /** ORDER BY again, of the same rows under another alias; empty when there is no order. */
  readonly orderOf: (alias: string) => string
}

/** Of a to-many relation: what ties a row to its parent, and the child's columns that are thereby fixed. */
export interface Parent {
  readonly link: (alias: string) => string
  readonly columns: readonly string[]
}

type Order = readonly (readonly [Field, 'asc' | 'desc'])[]

const encodeCount = (value: unknown) => {
  if (!Number.isInteger(value) || Math.abs(value as number) > 0x7fffffff) throw unsupported
  return Math.abs(value as number)
}

/** Of a number that is not negative. Raises `unsupported`. */
export const encodeNatural = (value: unknown) => {
  if ((value as number) < 0) throw unsupported
  return encodeCount(value)
}

/** Of how many rows to leave out from the cursor's on. Its own is not read at all. Raises `unsupported` when it is to be. */
const encodeBeyond = (value: unknown) => encodeNatural((value as number) - 1)

/**
 * What `take`, `skip`, `cursor` and the order are in SQL. `single`: the first row is asked for, so that `take` has no
 * place. Raises `unsupported`.
 */
export const compilePage = (scope: Scope, args: Arguments, path: Path, single: boolean, parent?: Parent): Page => {
  const { take, skip, cursor } = args
  if (single && take !== undefined) throw unsupported
  const reverse = typeof take === 'number' && take < 0
  let order = readOrder(scope, args.orderBy)
  // Without an order a part of the rows would be any part, so Prisma orders by the identifier then. A first row is
  // any row.
  if (order.length === 0 && (take !== undefined || skip !== undefined || cursor !== undefined)) {
    order = scope.model.id.map((field) => [field, 'asc'] as const)
  }
  if (reverse) order = order.map(([field, direction]) => [field, direction === 'asc' ? 'desc' : 'asc'] as const)

  const orderOf = (alias: string) => {
    const terms = order.map(([field, direction]) => `${alias}.${field.column} ${direction}`)
    return terms.length > 0 ? ` order by ${terms.join(', ')}` : ''
  }
  let clauses = orderOf(scope.alias)
  if (single) clauses += ' limit 1'
  if (take !== undefined) clauses += ` limit ${parameter(scope.compiling, [...path, 'take'], encodeCount)}`
  const encodeSkip = cursor === undefined ? encodeNatural : encodeBeyond
  if (skip !== undefined) clauses += ` offset ${parameter(scope.compiling, [...path, 'skip'], encodeSkip)}`
  const condition = cursor === undefined ? 'true' : compileCursor(scope, order, args, path, parent)
  return { condition, clauses, reverse, orderOf }
}

const readOrder = (scope: Scope, orderBy: unknown): Order => {
  const items: unknown[] = Array.isArray(orderBy) ? orderBy : [orderBy]
  return items.flatMap((item) => {
    if (item === undefined) return []
    if (!isPlain(item)) throw unsupported
    const given = Object.entries(item).filter(([, direction]) => direction !== undefined)
    if (given.length > 1) throw unsupported
    return given.map(([name, direction]) => {
      const field = scope.model.scalars.get(name)
      if (!field || field.type === 'Json' || (direction !== 'asc' && direction !== 'desc')) throw unsupported
      columnOf(scope, field)
      return [field, direction] as const
    })
  })
}

/**
 * Rows from the cursor's row on, that row included. Prisma does it in two ways. When the order itself names a unique
 * key, and not within a relation, it compares with the cursor's row, whether or not that row is in the filtered list.
 * Otherwise it looks for that row in the list, and without it the page is empty. The second is only compiled with a
 * `take`, without which Prisma does neither, and when the order is total within the list; else rows equal to the
 * cursor's would be told apart by chance.
 *
 * With `skip` the rows beyond the cursor's are asked for, by who goes on where a page ended. Here, and nowhere else, it is
 * not as with Prisma: when the cursor's row has left the list since, Prisma leaves out another one for it, or finds nothing.
 */
const compileCursor = (scope: Scope, order: Order, args: Arguments, path: Path, parent?: Parent): string => {
  const { model, compiling } = scope
  const { cursor, where, skip } = args
  const isBeyond = skip !== undefined
  if (!isPlain(cursor) || Object.values(cursor).filter((value) => value !== undefined).length !== 1) throw unsupported
  // A null is neither before nor after anything.
  if (order.some(([field]) => !field.required)) throw unsupported

  const ordered = order.map(([field]) => field)
  const keys = [...model.uniques.values()]
  const free = !parent && keys.some((key) => key.every((field) => ordered.includes(field)))
  const tied = (field: Field) => ordered.includes(field) || parent?.columns.includes(field.column)
  const fixed = (field: Field) => tied(field) || isFixed(where, field)
  if (!free && (args.take === undefined || !keys.some((key) => key.every(fixed)))) throw unsupported
  const mayHaveLeft = free || (isBeyond && keys.some((key) => key.every(tied)))

  const bound = (field: Field) => {
    const row = newScope(compiling, model)
    const conditions = [compileUnique(row, cursor, [...path, 'cursor'])]
    if (!mayHaveLeft) conditions.push(compileWhere(row, where, [...path, 'where']))
    if (parent) conditions.push(parent.link(row.alias))
    return `(select ${row.alias}.${field.column} from ${from(row)} where ${all(conditions)})`
  }
  const after = (at: number): string => {
    const [field, direction] = order[at] as Order[number]
    const column = `${scope.alias}.${field.column}`
    const sign = direction === 'asc' ? '>' : '<'
    const isLast = at === order.length - 1
    const start = `${column} ${sign}${isLast && isBeyond ? '' : '='} ${bound(field)}`
    if (isLast) return start
    // The first comparison alone lets an index find the start.
    return `(${start} and (${column} ${sign} ${bound(field)} or ${after(at + 1)}))`
  }
  return after(0)
}

/** Whether a filter leaves one value for a field. */
const isFixed = (where: unknown, field: Field) => {
  const value = isPlain(where) ? where[field.name] : undefined
  return value !== undefined && value !== null && !isPlain(value)
}
