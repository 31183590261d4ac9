/** State of a statement during compilation: table aliases, joins and parameters. */
import { Prisma } from '../prisma/client.ts'
import type { Field, Model, Relation } from './model.ts'

/** Arguments of a read, or a nested part of them. */
export type Arguments = Readonly<Record<string, unknown>>

/** Thrown for arguments that the compiler leaves to Prisma. */
export const unsupported = Symbol('unsupported')

/** Returns true for a literal object. Returns false for a Date, a Decimal, bytes and Prisma's marker objects. */
export const isPlain = (value: unknown): value is Arguments => {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Returns the shape of the arguments as a text. Arguments that differ only in values have the same shape. Throws `unsupported`. */
export const shapeOf = (args: Arguments): string => {
  let shape = ''
  for (const key in args) {
    const value = args[key]
    if (value === undefined) continue
    shape += `${key}\u0001`
    if (key === 'select') shape += shapeOfSelection(value)
    else if (key === 'where' || key === 'cursor') shape += shapeOfFilter(value)
    else if (key === 'orderBy') shape += shapeOfOrder(value)
    else if (key === 'take') shape += typeof value === 'number' && value < 0 ? '-' : '+'
    else if (key !== 'skip') throw unsupported
  }
  return `${shape}\u0002`
}

const shapeOfSelection = (selection: unknown): string => {
  if (!isPlain(selection)) throw unsupported
  let shape = ''
  for (const key in selection) {
    const value = selection[key]
    if (value === true) shape += `${key}\u0003`
    else if (isPlain(value)) shape += `${key}\u0001${shapeOf(value)}`
    else if (value !== false && value !== undefined) throw unsupported
  }
  return `${shape}\u0002`
}

const shapeOfFilter = (filter: unknown): string => {
  if (filter === null) return '0\u0003'
  if (Array.isArray(filter)) return `[${filter.map(shapeOfFilter).join('')}]`
  if (!isPlain(filter)) return '?\u0003'
  let shape = ''
  for (const key in filter) {
    const value = filter[key]
    if (value === undefined) continue
    // `mode` changes the SQL, so it belongs to the shape.
    if (key === 'mode') shape += `${key}\u0001${value}\u0003`
    // A list is one parameter, regardless of its length.
    else shape += `${key}\u0001${key === 'in' && Array.isArray(value) ? '?\u0003' : shapeOfFilter(value)}`
  }
  return `{${shape}\u0002`
}

const shapeOfOrder = (order: unknown): string => {
  if (Array.isArray(order)) return `[${order.map(shapeOfOrder).join('')}]`
  if (!isPlain(order)) throw unsupported
  let shape = ''
  for (const key in order) {
    const value = order[key]
    if (value === undefined) continue
    if (value !== 'asc' && value !== 'desc') throw unsupported
    shape += `${key}\u0001${value}\u0003`
  }
  return `${shape}\u0002`
}

/** Converts an argument to a parameter. Throws `unsupported` for values that Prisma rejects or interprets in its own way. */
export type Encode = (value: unknown) => unknown

/** Converts a text from PostgreSQL's JSON to Prisma's value. */
export type Decode = (text: string) => unknown

const encoders: Record<string, Encode> = {
  String: (value) => (typeof value === 'string' ? value : refuse()),
  Boolean: (value) => (typeof value === 'boolean' ? value : refuse()),
  Int: (value) => (Number.isInteger(value) && Math.abs(value as number) <= 0x7fffffff ? value : refuse()),
  BigInt: (value) => (typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : refuse()),
  DateTime: (value) => (value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : refuse()),
}

const refuse = (): never => {
  throw unsupported
}

/**
 * Returns the encoder of a field. Throws `unsupported` for Decimal, Bytes and Json: no read filters by the first two,
 * and Json comparison has its own rules.
 */
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

const decodeDate = (text: string) => {
  // PostgreSQL writes the offset of a timestamptz. Prisma stores timestamps without an offset in UTC.
  const sign = text.charCodeAt(text.length - 6)
  return new Date(sign === plus || sign === minus ? text : `${text}Z`)
}
const plus = '+'.charCodeAt(0)
const minus = '-'.charCodeAt(0)

const decoders: Record<string, Decode | undefined> = {
  String: undefined,
  Boolean: undefined,
  Int: undefined,
  Json: undefined,
  Enum: undefined,
  BigInt,
  Decimal: (text) => new Prisma.Decimal(text),
  DateTime: decodeDate,
  // Copies the bytes: a Buffer would be a view of a shared memory pool, and Prisma returns a plain Uint8Array.
  Bytes: (hex) => new Uint8Array(Buffer.from(hex, 'hex')),
}

/** Returns the function that converts a column's JSON to Prisma's value. Returns undefined if no conversion is needed. Throws `unsupported`. */
export const decoderOf = (field: Field): Decode | undefined => {
  if (!(field.type in decoders)) throw unsupported
  return decoders[field.type]
}

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
