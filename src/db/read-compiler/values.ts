/** The run-time part of compiled reads: the shape and the parameters of arguments, and the conversion of rows. */
import { Prisma } from '../prisma/client.ts'
import type { Field } from './model.ts'

/** Arguments of a read, or a nested part of them. */
export type Arguments = Readonly<Record<string, unknown>>

/** Symbol that is thrown for arguments that Prisma must execute. */
export const unsupported = Symbol('unsupported')

export const refuse = (): never => {
  throw unsupported
}

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
  return shapeOfEntries(isPlain(order) ? order : refuse(), (value) =>
    value === 'asc' || value === 'desc' ? value : refuse(),
  )
}

/** A value that is read from the arguments on each execution and encoded for PostgreSQL. */
export interface Parameter {
  /** Path of the argument, from the outermost object inwards. */
  readonly path: readonly (string | number)[]
  /** Converts the argument to a parameter. Throws `unsupported` for values that Prisma rejects or converts. */
  readonly encode: (value: unknown) => unknown
}

type Encode = Parameter['encode']

export const readParameter = (args: Arguments, { path, encode }: Parameter): unknown => {
  let value: unknown = args
  for (const key of path) value = (value as Record<string | number, unknown>)[key]
  return encode(value)
}

const encodeInt: Encode = (value) =>
  Number.isInteger(value) && Math.abs(value as number) <= 0x7fffffff ? value : refuse()

export const encodeCount = (value: unknown) => Math.abs(encodeInt(value) as number)

export const encodeNatural = (value: unknown) => ((value as number) < 0 ? refuse() : encodeCount(value))

/** Encodes `skip` after a cursor, whose row is never read. Throws `unsupported` if `skip` is 0 or less. */
export const encodeSkipAfterCursor = (value: unknown) => encodeNatural((value as number) - 1)

const encoders: Record<string, Encode> = {
  String: (value) => (typeof value === 'string' ? value : refuse()),
  Boolean: (value) => (typeof value === 'boolean' ? value : refuse()),
  Int: encodeInt,
  BigInt: (value) => (typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : refuse()),
  DateTime: (value) => (value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : refuse()),
}

/** Returns the encoder of a field. Throws `unsupported` for Decimal, Bytes and Json, by which no read filters. */
export const encoderOf = ({ type, values }: Field): Encode =>
  values ? (value) => (typeof value === 'string' && values.has(value) ? value : refuse()) : (encoders[type] ?? refuse())

/** Returns the encoder of a list after `in`. Throws `unsupported` for booleans, because Prisma does too. */
export const listEncoderOf = (field: Field): Encode => {
  const encode = field.type === 'Boolean' ? refuse() : encoderOf(field)
  return (value) => (Array.isArray(value) ? value.map(encode) : refuse())
}

/** Converts a text from PostgreSQL's JSON to Prisma's value. */
type Decode = (text: string) => unknown

const decoders: Record<string, Decode> = {
  BigInt,
  Decimal: (text) => new Prisma.Decimal(text),
  DateTime: (text) => {
    // PostgreSQL writes the offset of a timestamptz. Prisma stores timestamps without an offset in UTC.
    const sign = text.at(-6)
    return new Date(sign === '+' || sign === '-' ? text : `${text}Z`)
  },
  // Copies the bytes: a Buffer would be a view of a shared memory pool, and Prisma returns a plain Uint8Array.
  Bytes: (hex) => new Uint8Array(Buffer.from(hex, 'hex')),
}

/** Returns the function that converts a column's JSON to Prisma's value, or undefined if no conversion is needed. */
export const decoderOf = (field: Field): Decode | undefined => decoders[field.type]

/** The contents of a result row and their positions. */
export interface RowLayout {
  readonly fields: { readonly name: string; readonly at: number; readonly decode: Decode | undefined }[]
  /** To-one relations, in the same array. The value at `presentAt`, if set, is true if the related row exists. */
  readonly ones: { readonly name: string; readonly presentAt: number | undefined; readonly layout: RowLayout }[]
  /** To-many relations. A row contains them as arrays of arrays. */
  readonly lists: {
    readonly name: string
    readonly at: number
    readonly layout: RowLayout
    readonly reverse: boolean
  }[]
}

/** Column values of a row, at the positions given by its layout. */
export type Row = readonly unknown[]

const decodeRow = (layout: RowLayout, row: Row): Record<string, unknown> => {
  const result: Record<string, unknown> = {}
  for (const { name, at, decode } of layout.fields) {
    const value = row[at]
    result[name] = decode === undefined || value === null ? value : decode(value as string)
  }
  for (const { name, presentAt, layout: one } of layout.ones) {
    result[name] = presentAt !== undefined && row[presentAt] !== true ? null : decodeRow(one, row)
  }
  for (const { name, at, layout: item, reverse } of layout.lists) {
    result[name] = decodeRows(item, row[at] as Row[], reverse)
  }
  return result
}

const decodeRows = (layout: RowLayout, rows: readonly Row[], reverse: boolean): Record<string, unknown>[] => {
  const results = rows.map((row) => decodeRow(layout, row))
  return reverse ? results.reverse() : results
}

/** Returns a decoder of rows with one column, which contains a row. `reverse`: true for rows in reverse order. */
export const manyDecoder = (layout: RowLayout, reverse: boolean) => (rows: Row[]) =>
  decodeRows(
    layout,
    rows.map((row) => row[0] as Row),
    reverse,
  )

/** Returns a decoder of at most one row. */
export const singleDecoder = (layout: RowLayout) => (rows: Row[]) =>
  rows[0] ? decodeRow(layout, rows[0][0] as Row) : null
