/** Filters. Undefined means "not given", null means IS NULL, and unknown follows SQL's three-valued logic, as in Prisma. */
import type { Field } from './model.ts'
import { from, join, link, newScope, type Path, parameter, present, relationOf, type Scope } from './scope.ts'
import { isPlain, unsupported } from './shape.ts'
import { encoderOf, listEncoderOf } from './values.ts'

const operators = new Map([
  ['equals', '='],
  ['not', '<>'],
  ['lt', '<'],
  ['lte', '<='],
  ['gt', '>'],
  ['gte', '>='],
])

/** Prisma knows no order of these. */
const unordered = new Set(['Boolean', 'Bytes', 'Enum'])

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
    if (key === 'AND' || key === 'OR' || key === 'NOT') conditions.push(compileLogic(scope, key, value, at))
    else if (field) conditions.push(...compileField(scope, field, value, at))
    else conditions.push(compileRelation(scope, key, value, at))
  }
  return all(conditions)
}

const compileLogic = (scope: Scope, key: 'AND' | 'OR' | 'NOT', value: unknown, path: Path): string => {
  const parts = Array.isArray(value)
    ? value.map((item, at) => compileWhere(scope, item, [...path, at]))
    : [compileWhere(scope, value, path)]
  // What an empty filter means within OR and NOT is for Prisma to say; within AND it changes nothing.
  if (key !== 'AND' && parts.includes('true')) throw unsupported
  if (key === 'NOT') return all(parts.map((part) => `(not ${part})`))
  if (key === 'AND') return all(parts)
  return parts.length === 0 ? 'false' : `(${parts.join(' or ')})`
}

const compileField = (scope: Scope, field: Field, value: unknown, path: Path): string[] => {
  const column = `${scope.alias}.${field.column}`
  if (!isPlain(value)) return [compare(scope, field, column, 'equals', value, path)]
  return Object.entries(value)
    .filter(([, operand]) => operand !== undefined)
    .map(([operator, operand]) => compare(scope, field, column, operator, operand, [...path, operator]))
}

const compare = (scope: Scope, field: Field, column: string, operator: string, value: unknown, path: Path): string => {
  if (value === null) {
    if (field.required || field.type === 'Json') throw unsupported
    if (operator === 'equals') return `${column} is null`
    if (operator === 'not') return `${column} is not null`
    throw unsupported
  }
  if (operator === 'in') return `${column} = any(${parameter(scope.draft, path, listEncoderOf(field))})`
  const sign = operators.get(operator)
  const ordering = operator !== 'equals' && operator !== 'not'
  // `not` may hold a filter of its own; a list is never compared as a whole.
  if (sign === undefined || isPlain(value) || Array.isArray(value)) throw unsupported
  if (ordering && unordered.has(field.type)) throw unsupported
  return `${column} ${sign} ${parameter(scope.draft, path, encoderOf(field))}`
}

const compileRelation = (scope: Scope, name: string, value: unknown, path: Path): string => {
  const relation = relationOf(scope.model, name)
  if (!isPlain(value)) throw unsupported
  const given = Object.keys(value).filter((key) => value[key] !== undefined)
  if (relation.list) {
    if (given.length !== 1 || given[0] !== 'some') throw unsupported
    const other = newScope(scope.draft, relation.model)
    const condition = compileWhere(other, value.some, [...path, 'some'])
    return `exists (select from ${from(other)} where ${link(relation, scope.alias, other.alias)} and ${condition})`
  }
  if (given.includes('isNot') || (given.includes('is') && given.length > 1)) throw unsupported
  const other = join(scope, name)
  const condition =
    given[0] === 'is' ? compileWhere(other, value.is, [...path, 'is']) : compileWhere(other, value, path)
  // Prisma asks nothing then, not even that the relation is there.
  if (condition === 'true') throw unsupported
  // As Prisma writes it: under NOT, a missing relation then counts as one that does not match.
  return all([condition, present(other)])
}

/** The row that a unique filter names. Raises `unsupported`, also where Prisma would refuse: when it names none. */
export const compileUnique = (scope: Scope, where: unknown, path: Path): string => {
  if (!isPlain(where)) throw unsupported
  const rest: Record<string, unknown> = {}
  const conditions: string[] = []
  for (const [key, value] of Object.entries(where)) {
    if (value === undefined) continue
    const fields = scope.model.uniques.get(key)
    if (fields) conditions.push(...compileKey(scope, fields, value, [...path, key]))
    else rest[key] = value
  }
  if (conditions.length === 0) throw unsupported
  if (Object.keys(rest).length > 0) conditions.push(compileWhere(scope, rest, path))
  return all(conditions)
}

const compileKey = (scope: Scope, fields: readonly Field[], value: unknown, path: Path): string[] => {
  const [first] = fields
  if (fields.length === 1 && first) return compileValue(scope, first, value, path)
  if (!isPlain(value) || Object.keys(value).length !== fields.length) throw unsupported
  return fields.flatMap((field) => compileValue(scope, field, value[field.name], [...path, field.name]))
}

const compileValue = (scope: Scope, field: Field, value: unknown, path: Path): string[] => {
  if (value === undefined || value === null || isPlain(value)) throw unsupported
  return compileField(scope, field, value, path)
}
