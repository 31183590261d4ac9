/** Filters. Undefined means "not given", null means IS NULL, and unknown follows SQL's three-valued logic, as in Prisma. */
import type { Field } from './model.ts'
import { columnOf, from, join, link, newScope, type Path, parameter, present, relationOf, type Scope } from './scope.ts'
import { type Arguments, isPlain, unsupported } from './shape.ts'
import { encoderOf, listEncoderOf } from './values.ts'

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
  if (value !== null) return `${column} = ${parameter(scope.draft, path, encoderOf(field))}`
  if (field.required || field.type === 'Json') throw unsupported
  return `${column} is null`
}

const compare = (scope: Scope, field: Field, operator: string, path: Path): string => {
  const column = columnOf(scope, field)
  if (operator === 'in') return `${column} = any(${parameter(scope.draft, path, listEncoderOf(field))})`
  const sign = comparisons.get(operator)
  if (sign === undefined || unordered.has(field.type)) throw unsupported
  return `${column} ${sign} ${parameter(scope.draft, path, encoderOf(field))}`
}

/** Text that contains a text in any case. As in Prisma, the text may hold special characters of LIKE. */
const search = (scope: Scope, field: Field, { contains, mode, ...others }: Arguments, path: Path): string => {
  if (mode !== 'insensitive' || contains === undefined || Object.keys(others).length > 0) throw unsupported
  const encode = encoderOf(field)
  if (field.type !== 'String') throw unsupported
  const pattern = (value: unknown) => `%${encode(value)}%`
  return `${columnOf(scope, field)} ilike ${parameter(scope.draft, [...path, 'contains'], pattern)}`
}

const compileRelation = (scope: Scope, name: string, value: unknown, path: Path): string => {
  const relation = relationOf(scope.model, name)
  if (!isPlain(value)) throw unsupported
  if (relation.list) {
    const given = Object.keys(value).filter((key) => value[key] !== undefined)
    if (given.length !== 1 || given[0] !== 'some') throw unsupported
    const other = newScope(scope.draft, relation.model)
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
