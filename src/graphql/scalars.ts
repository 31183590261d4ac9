import { GraphQLError, GraphQLScalarType, Kind } from 'graphql'
import { GraphQLDateTimeISO, GraphQLJSONObject } from 'graphql-scalars'
import type { FileUpload } from 'graphql-upload-ts'
import { GraphQLUpload } from 'graphql-upload-ts'
import { isNid } from '../domain/ids.ts'
import { type Amount, formatAmount } from '../domain/money.ts'
import { builder } from './builder.ts'

export type Scalars = {
  ID: { Input: string; Output: string }
  Address: { Input: string; Output: string }
  CID: { Input: string; Output: string }
  DateTime: { Input: Date; Output: Date }
  Decimal: { Input: string; Output: Amount }
  JSONObject: { Input: Record<string, unknown>; Output: unknown }
  Upload: { Input: Promise<FileUpload>; Output: never }
}

/** A scalar that is a string of one form. */
function stringScalar(name: string, description: string, valid: (value: string) => boolean, specifiedByURL?: string) {
  const parse = (value: unknown) => {
    if (typeof value === 'string' && valid(value)) return value
    throw new GraphQLError(`Not a ${name}.`)
  }
  return new GraphQLScalarType({
    name,
    description,
    specifiedByURL,
    serialize: (value) => String(value),
    parseValue: parse,
    parseLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : undefined),
  })
}

const address = stringScalar(
  'Address',
  'An account on the chain: 0x and 40 hexadecimal digits, with EIP-55 checksum.',
  (value) => /^0x[0-9a-fA-F]{40}$/.test(value),
  'https://eips.ethereum.org/EIPS/eip-55',
)

const cid = stringScalar(
  'CID',
  'A content identifier, version 1 in base32: `bafkrei…` for one block, `bafybei…` for a larger file.',
  isNid,
  'https://github.com/multiformats/cid',
)

const decimal = new GraphQLScalarType({
  name: 'Decimal',
  description: 'An amount of money as a decimal string such as "0.179"; never a floating-point number.',
  serialize: (value) => formatAmount(value as Amount),
  parseValue: (value) => {
    if (typeof value === 'string' && /^\d{1,18}(\.\d{1,18})?$/.test(value)) return value
    throw new GraphQLError('Not a Decimal: expected a string such as "0.179".')
  },
})

const dateTime = new GraphQLScalarType({
  ...GraphQLDateTimeISO.toConfig(),
  name: 'DateTime',
  description: 'A moment in UTC, as in 2026-11-21T09:30:00.000Z.',
  serialize: (value) => (value instanceof Date ? value.toISOString() : String(value)),
})

builder.addScalarType('Address', address)
builder.addScalarType('CID', cid)
builder.addScalarType('Decimal', decimal)
builder.addScalarType('DateTime', dateTime as never)
builder.addScalarType(
  'JSONObject',
  new GraphQLScalarType({ ...GraphQLJSONObject.toConfig(), description: 'A JSON object.' }) as never,
)
builder.addScalarType(
  'Upload',
  new GraphQLScalarType({
    ...GraphQLUpload.toConfig(),
    description: 'A file, sent as the GraphQL multipart request specification says.',
  }) as never,
)
