/** State of a statement during compilation: table aliases, joins and parameters. */
import { Prisma } from '../prisma/client.ts'
import type { Field, Model, Relation } from './model.ts'

/** Arguments of a read, or a nested part of them. */
export type Arguments = Readonly<Record<string, unknown>>

/** Symbol that is thrown for arguments that Prisma must execute. */
export const unsupported = Symbol('unsupported')

/** Returns true for a literal object. Returns false for a Date, a Decimal, bytes and Prisma's marker objects. */
export const isPlain = (value: unknown): value is Arguments => {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const shapeOfEntries = (object: Arguments, shapeOfValue: (value: unknown, key: string) => string) => {
  let shape = ''
  for (const key in object) {
    const value = object[key]
    if (value !== undefined) shape += `${key}\u0001${shapeOfValue(value, key)}`
  }
  return `${shape}\u0002`
}

/** Returns the shape of arguments as text. It is independent of the values. Throws `unsupported`. */
export const shapeOf = (args: Arguments): string => shapeOfEntries(args, shapeOfArgument)

const shapeOfArgument = (value: unknown, key: string): string => {
  if (key === 'select') return shapeOfEntries(isPlain(value) ? value : refuse(), shapeOfSelected)
  if (key === 'where' || key === 'cursor') return shapeOfFilter(value)
  if (key === 'orderBy') return shapeOfOrder(value)
  if (key === 'take') return typeof value === 'number' && value < 0 ? '-' : '+'
  return key === 'skip' ? '' : refuse()
}

const shapeOfSelected = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? '+' : '-'
  return isPlain(value) ? shapeOf(value) : refuse()
}

const shapeOfFilter = (filter: unknown, key?: string): string => {
  // `mode` changes the SQL, so it belongs to the shape.
  if (key === 'mode') return `${filter}\u0003`
  if (filter === null) return '0\u0003'
  // A list after `in` is one parameter, regardless of its length.
  if (Array.isArray(filter)) return key === 'in' ? '?\u0003' : `[${filter.map((part) => shapeOfFilter(part)).join('')}]`
  return isPlain(filter) ? `{${shapeOfEntries(filter, shapeOfFilter)}` : '?\u0003'
}

const shapeOfOrder = (order: unknown): string => {
  if (Array.isArray(order)) return `[${order.map(shapeOfOrder).join('')}]`
  return shapeOfEntries(isPlain(order) ? order : refuse(), shapeOfDirection)
}

const shapeOfDirection = (value: unknown) => (value === 'asc' || value === 'desc' ? value : refuse())

export const refuse = (): never => {
  throw unsupported
}

/** Converts an argument to a parameter. Throws `unsupported` for values that Prisma rejects or converts. */
export type Encode = (value: unknown) => unknown

/** Converts a text from PostgreSQL's JSON to Prisma's value. */
export type Decode = (text: string) => unknown

export const encodeInt: Encode = (value) =>
  Number.isInteger(value) && Math.abs(value as number) <= 0x7fffffff ? value : refuse()

const encoders: Record<string, Encode> = {
  String: (value) => (typeof value === 'string' ? value : refuse()),
  Boolean: (value) => (typeof value === 'boolean' ? value : refuse()),
  Int: encodeInt,
  BigInt: (value) => (typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : refuse()),
  DateTime: (value) => (value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : refuse()),
}

/** Returns the encoder of a field. Throws `unsupported` for Decimal, Bytes and Json, by which no read filters. */
export const encoderOf = (field: Field): Encode => {
  const { values } = field
  if (values) return (value) => (typeof value === 'string' && values.has(value) ? value : refuse())
  return encoders[field.type] ?? refuse()
}

/** Returns the encoder of a list after `in`. Throws `unsupported`. */
export const listEncoderOf = (field: Field): Encode => {
  // Prisma does not support `in` for booleans.
  if (field.type === 'Boolean') refuse()
  const encode = encoderOf(field)
  return (value) => (Array.isArray(value) ? value.map(encode) : refuse())
}

/** Returns SQL that puts a column into JSON without loss. Values that JSON or JavaScript would round become text. */
export const jsonOf = (field: Field, column: string): string => {
  if (field.type === 'Decimal' || field.type === 'BigInt') return `${column}::text`
  if (field.type === 'Bytes') return `encode(${column}, 'hex')`
  return column
}

const PLUS = '+'.charCodeAt(0)
const MINUS = '-'.charCodeAt(0)

const decodeDate = (text: string) => {
  // PostgreSQL writes the offset of a timestamptz. Prisma stores timestamps without an offset in UTC.
  const sign = text.charCodeAt(text.length - 6)
  return new Date(sign === PLUS || sign === MINUS ? text : `${text}Z`)
}

const decoders: Record<string, Decode> = {
  BigInt,
  Decimal: (text) => new Prisma.Decimal(text),
  DateTime: decodeDate,
  // Copies the bytes: a Buffer would be a view of a shared memory pool, and Prisma returns a plain Uint8Array.
  Bytes: (hex) => new Uint8Array(Buffer.from(hex, 'hex')),
}

/** Returns the function that converts a column's JSON to Prisma's value, or undefined if no conversion is needed. */
export const decoderOf = (field: Field): Decode | undefined => decoders[field.type]

/** Path of an argument, from the outermost object inwards. */
export type Path = readonly (string | number)[]

/** A value that is read from the arguments on each execution and encoded for PostgreSQL. */
export interface Parameter {
  readonly path: Path
  readonly encode: Encode
}

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

/** Creates a scope for another table of the statement, with its own alias. */
export const newScope = (compiling: CompileContext, model: Model, joins: Scope['joins'] = new Map()): Scope => {
  compiling.aliases += 1
  return { compiling, model, alias: `t${compiling.aliases}`, joins }
}

/** Returns the qualified name of a column. */
export const columnOf = ({ alias }: Scope, field: Field): string => `${alias}.${field.column}`

/** Adds a parameter and returns its placeholder. */
export const parameter = (compiling: CompileContext, path: Path, encode: Encode): string => {
  compiling.parameters.push({ path, encode })
  return `$${compiling.parameters.length}`
}

/** Returns the relation of a field. Throws `unsupported` if the model has none. */
export const relationOf = (model: Model, name: string): Relation => {
  const relation = model.relations.get(name)
  if (!relation) throw unsupported
  return relation
}

/** Returns the join condition between `here` and `there`. */
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
