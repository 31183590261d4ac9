/** A table in the making of a statement: its alias, what is joined to it, and where its parameters come from. */
import { Prisma } from '../prisma/client.ts'
import type { Field, Model, Relation } from './model.ts'

/** Arguments of a read, or a part of them. */
export type Arguments = Readonly<Record<string, unknown>>

/** Thrown for arguments whose meaning is left to Prisma. */
export const unsupported = Symbol('unsupported')

/** A literal object, as against a Date, a Decimal, bytes, or one of Prisma's markers. */
export const isPlain = (value: unknown): value is Arguments => {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The shape as a text: equal for arguments that differ in values only. Raises `unsupported`. */
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
    // It decides the SQL and is no parameter.
    if (key === 'mode') shape += `${key}\u0001${value}\u0003`
    // A list is one parameter, however long it is.
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

/** A value of an argument as a parameter. Raises `unsupported` for what Prisma would refuse or read in its own way. */
export type Encode = (value: unknown) => unknown

/** A text of the JSON that PostgreSQL answers with, as Prisma gives it. */
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

/** Nothing is asked for by a Decimal or Bytes, and comparing Json has rules of its own: these have no encoder. Raises `unsupported`. */
export const encoderOf = (field: Field): Encode => {
  const { values } = field
  if (values) return (value) => (typeof value === 'string' && values.has(value) ? value : refuse())
  return encoders[field.type] ?? refuse()
}

/** As `encoderOf`, for a list after `in`. */
export const listEncoderOf = (field: Field): Encode => {
  // Prisma knows no list of booleans.
  if (field.type === 'Boolean') refuse()
  const encode = encoderOf(field)
  return (value) => (Array.isArray(value) ? value.map(encode) : refuse())
}

/** How a column is put into JSON without loss: what JSON or JavaScript would round becomes text. */
export const jsonOf = (field: Field, column: string): string => {
  if (field.type === 'Decimal' || field.type === 'BigInt') return `${column}::text`
  if (field.type === 'Bytes') return `encode(${column}, 'hex')`
  return column
}

const decodeDate = (text: string) => {
  // PostgreSQL writes the offset of a timestamptz; a timestamp without one is UTC, as Prisma means it.
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
  // Not a Buffer, and not a view of the pool that Buffers share.
  Bytes: (hex) => new Uint8Array(Buffer.from(hex, 'hex')),
}

/** What makes Prisma's value of a column's JSON; undefined where JSON's own value is it. Raises `unsupported`. */
export const decoderOf = (field: Field): Decode | undefined => {
  if (!(field.type in decoders)) throw unsupported
  return decoders[field.type]
}

/** Where an argument stands, from the outermost object inwards. */
export type Path = readonly (string | number)[]

/** A value that is found in the arguments when a statement is asked, and made fit for PostgreSQL. */
export interface Parameter {
  readonly path: Path
  readonly encode: Encode
}

/** What is common to a whole statement. */
export interface CompileContext {
  readonly parameters: Parameter[]
  aliases: number
  /** Whether many rows are read or counted, at any depth. */
  isList: boolean
}

/** One table with the rows joined to it: never more rows than the table itself has. */
export interface Scope {
  readonly compiling: CompileContext
  readonly model: Model
  readonly alias: string
  /** LEFT JOINs, shared by every use of a relation within the scope of one FROM. */
  readonly joins: Map<string, { scope: Scope; sql: string }>
}

/** Another table in the same statement, under an alias of its own. */
export const newScope = (compiling: CompileContext, model: Model, joins: Scope['joins'] = new Map()): Scope => {
  compiling.aliases += 1
  return { compiling, model, alias: `t${compiling.aliases}`, joins }
}

/** A column of the table as SQL has it. */
export const columnOf = ({ alias }: Scope, field: Field): string => `${alias}.${field.column}`

/** A new parameter; returns its place as SQL has it. */
export const parameter = (compiling: CompileContext, path: Path, encode: Encode): string => {
  compiling.parameters.push({ path, encode })
  return `$${compiling.parameters.length}`
}

/** A relation by its field's name. Raises `unsupported` when the model has none. */
export const relationOf = (model: Model, name: string): Relation => {
  const relation = model.relations.get(name)
  if (!relation) throw unsupported
  return relation
}

/** The condition that ties rows of `there` to rows of `here`. */
export const link = (relation: Relation, here: string, there: string): string =>
  relation.columns.map(([near, far]) => `${there}.${far} = ${here}.${near}`).join(' and ')

/** The scope of a to-one relation, joined once. */
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

/** Ask for it last: whatever is compiled before may have joined. */
export const from = (scope: Scope): string =>
  `${scope.model.table} ${scope.alias}${[...scope.joins.values()].map((entry) => entry.sql).join('')}`

/** Whether a to-one relation is there. */
export const present = (scope: Scope): string => `${scope.alias}.${scope.model.id[0]?.column} is not null`
