/** Compiles filters and pages. As in Prisma, undefined means "not given" and null means IS NULL. */
import type { Field, Model, Relation } from './model.ts'
import {
  type Arguments,
  encodeCount,
  encodeNatural,
  encoderOf,
  encodeSkipAfterCursor,
  isPlain,
  listEncoderOf,
  type Parameter,
  refuse,
  unsupported,
} from './values.ts'

type Path = Parameter['path']

/** State shared by all scopes of a statement. */
export interface CompileContext {
  readonly parameters: Parameter[]
  aliases: number
  /** True if many rows are read or counted, at any depth. */
  isList: boolean
}

/** A table and the rows joined to it. Joins never increase the number of rows. */
export interface Scope {
  readonly compiling: CompileContext
  readonly model: Model
  readonly alias: string
  /** LEFT JOINs, shared by all uses of a relation within one FROM clause. */
  readonly joins: Map<string, { scope: Scope; sql: string }>
}

export const newScope = (compiling: CompileContext, model: Model, joins: Scope['joins'] = new Map()): Scope => {
  compiling.aliases += 1
  return { compiling, model, alias: `t${compiling.aliases}`, joins }
}

export const columnOf = ({ alias }: Scope, field: Field): string => `${alias}.${field.column}`

export const parameter = (compiling: CompileContext, path: Path, encode: Parameter['encode']): string => {
  compiling.parameters.push({ path, encode })
  return `$${compiling.parameters.length}`
}

export const relationOf = (model: Model, name: string): Relation => model.relations.get(name) ?? refuse()

export const link = (relation: Relation, here: string, there: string): string =>
  relation.columns.map(([near, far]) => `${there}.${far} = ${here}.${near}`).join(' and ')

/** Returns the scope of a to-one relation. Joins it at most once. */
export const join = (scope: Scope, name: string): Scope => {
  const key = `${scope.alias}.${name}`
  const known = scope.joins.get(key)
  if (known) return known.scope
  const relation = relationOf(scope.model, name)
  const joined = newScope(scope.compiling, relation.model, scope.joins)
  const on = link(relation, scope.alias, joined.alias)
  scope.joins.set(key, { scope: joined, sql: ` left join ${relation.model.table} ${joined.alias} on ${on}` })
  return joined
}

/** Returns the FROM clause. Call this last, because compiling other clauses may add joins. */
export const from = (scope: Scope): string =>
  `${scope.model.table} ${scope.alias}${[...scope.joins.values()].map((entry) => entry.sql).join('')}`

/** Returns the condition that a row of a to-one relation exists. */
export const present = (scope: Scope): string => `${scope.alias}.${scope.model.id[0]?.column} is not null`

const comparisons = new Map(Object.entries({ lt: '<', lte: '<=', gt: '>', gte: '>=' }))

/** Joins conditions with AND. Returns `true` if there is none. */
export const all = (conditions: readonly string[]): string => {
  const effective = conditions.filter((condition) => condition !== 'true')
  return effective.length > 1 ? `(${effective.join(' and ')})` : (effective[0] ?? 'true')
}

/** Compiles a `where` argument to a condition. Every function below throws `unsupported`. */
export const compileWhere = (scope: Scope, where: unknown, path: Path): string => {
  if (where === undefined) return 'true'
  if (!isPlain(where)) throw unsupported
  const conditions: string[] = []
  for (const [key, value] of Object.entries(where)) {
    if (value === undefined) continue
    const at = [...path, key]
    const field = scope.model.scalars.get(key)
    if (key === 'OR') conditions.push(compileAlternatives(scope, value, at))
    else if (key === 'AND') conditions.push(...compileEach(scope, value, at))
    else if (field) conditions.push(...compileField(scope, field, value, at))
    else conditions.push(compileRelation(scope, key, value, at))
  }
  return all(conditions)
}

const compileEach = (scope: Scope, value: unknown, path: Path): string[] =>
  Array.isArray(value) ? value.map((item, at) => compileWhere(scope, item, [...path, at])) : refuse()

const compileAlternatives = (scope: Scope, value: unknown, path: Path): string => {
  const parts = compileEach(scope, value, path)
  // An empty filter within OR has a special meaning in Prisma, so Prisma executes the read.
  if (parts.length === 0 || parts.includes('true')) throw unsupported
  return `(${parts.join(' or ')})`
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
  // Prisma has no order comparison for these types.
  if (sign === undefined || field.type === 'Boolean' || field.type === 'Enum') throw unsupported
  return `${column} ${sign} ${parameter(scope.compiling, path, encoderOf(field))}`
}

/** Compiles a case-insensitive `contains`. As in Prisma, LIKE's special characters are not escaped. */
const search = (scope: Scope, field: Field, { contains, mode, ...others }: Arguments, path: Path): string => {
  if (mode !== 'insensitive' || contains === undefined || Object.keys(others).length > 0) throw unsupported
  const encode = encoderOf(field)
  if (field.type !== 'String') throw unsupported
  const pattern = (value: unknown) => `%${encode(value)}%`
  return `${columnOf(scope, field)} ilike ${parameter(scope.compiling, [...path, 'contains'], pattern)}`
}

const compileRelation = (scope: Scope, name: string, value: unknown, path: Path): string => {
  if (relationOf(scope.model, name).list || !isPlain(value)) throw unsupported
  const other = join(scope, name)
  const condition = compileWhere(other, value, path)
  // For an empty filter, Prisma adds no condition, not even that the relation exists.
  if (condition === 'true') throw unsupported
  return all([condition, present(other)])
}

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
  if (fields.length === 1) return [equal(scope, fields[0]!, value ?? refuse(), path)]
  if (!isPlain(value) || Object.keys(value).length !== fields.length) throw unsupported
  return fields.map((field) => equal(scope, field, value[field.name] ?? refuse(), [...path, field.name]))
}

export type Page = ReturnType<typeof compilePage>

/** The parent of a to-many relation: the join condition, and the child's columns that it fixes. */
export interface Parent {
  readonly link: (alias: string) => string
  readonly columns: readonly string[]
}

type Order = readonly (readonly [Field, 'asc' | 'desc'])[]

/** Compiles `take`, `skip`, `cursor` and the order. `single` reads one row, without `take`. */
export const compilePage = (scope: Scope, args: Arguments, path: Path, single: boolean, parent?: Parent) => {
  const { take, skip, cursor } = args
  if (single && take !== undefined) throw unsupported
  const reverse = typeof take === 'number' && take < 0
  let order = orderFrom(scope, args.orderBy)
  // Pages need an order, so Prisma orders them by the primary key. A single read without order may return any row.
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
  const encodeSkip = cursor === undefined ? encodeNatural : encodeSkipAfterCursor
  if (skip !== undefined) clauses += ` offset ${parameter(scope.compiling, [...path, 'skip'], encodeSkip)}`
  const condition = cursor === undefined ? 'true' : compileCursor(scope, order, args, path, parent)
  return {
    /** Condition for the rows from the cursor on, or `true`. */
    condition,
    /** ORDER BY, LIMIT and OFFSET clauses. */
    clauses,
    /** True for a negative `take`: rows are read in reverse and reversed again afterwards. */
    reverse,
    /** Returns the ORDER BY clause for the same rows under another alias. Empty if there is no order. */
    orderOf,
  }
}

const orderFrom = (scope: Scope, orderBy: unknown): Order => {
  const items: unknown[] = Array.isArray(orderBy) ? orderBy : [orderBy]
  return items.flatMap((item) => {
    if (item === undefined) return []
    if (!isPlain(item)) throw unsupported
    const given = Object.entries(item).filter(([, direction]) => direction !== undefined)
    if (given.length > 1) throw unsupported
    return given.map(([name, direction]) => {
      const field = scope.model.scalars.get(name)
      if (!field || field.type === 'Json' || (direction !== 'asc' && direction !== 'desc')) throw unsupported
      return [field, direction] as const
    })
  })
}

/**
 * Compiles the condition for the rows from the cursor on, including the cursor's row. Prisma has two methods.
 *
 * If the order contains a unique key outside a relation, Prisma compares with the cursor's row. That row need not be
 * in the filtered list. Otherwise Prisma looks for the row in the list, and without it the page is empty.
 *
 * The second method is compiled only with a `take`, as in Prisma. It also requires a total order within the list,
 * because equal rows would have an arbitrary order.
 *
 * With `skip`, the caller continues after a page. Only in this case, the result differs from Prisma's. If the cursor's
 * row has left the list, Prisma skips another row instead, or finds nothing.
 */
const compileCursor = (scope: Scope, order: Order, args: Arguments, path: Path, parent?: Parent): string => {
  const { model, compiling } = scope
  const { cursor, where, skip } = args
  const isBeyond = skip !== undefined
  if (!isPlain(cursor) || Object.values(cursor).filter((value) => value !== undefined).length !== 1) throw unsupported
  // A comparison with null is never true, so a cursor's row with null has no position in the order.
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
    // Only the first comparison lets an index find the start.
    return `(${start} and (${column} ${sign} ${bound(field)} or ${after(at + 1)}))`
  }
  return after(0)
}

const isFixed = (where: unknown, field: Field) => {
  const value = isPlain(where) ? where[field.name] : undefined
  return value !== undefined && value !== null && !isPlain(value)
}
