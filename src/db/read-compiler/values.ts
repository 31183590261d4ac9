/** Values on their way to PostgreSQL and back, by Prisma's type. */
import { Prisma } from '../prisma/client.ts'
import type { Field } from './model.ts'
import { unsupported } from './shape.ts'

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
