import { type ASTNode, GraphQLScalarType, Kind, type ValueNode } from 'graphql'
import { GraphQLDateTimeISO, GraphQLJSONObject } from 'graphql-scalars'
import { GraphQLUpload } from 'graphql-upload-ts'
import { canonicalNid } from '../shared/ids.ts'
import { isExact, isJsonObject, MAX_JSON_DEPTH, numberProblem } from '../shared/json-input.ts'
import { AMOUNT, type Amount, formatAmount } from '../shared/money.ts'
import { builder } from './builder.ts'
import { ScalarRefusal } from './mask-error.ts'

/**
 * Creates a scalar that is a string. `read` returns the value of a valid text, or undefined. `reason` is the message
 * for an invalid text, and `expected` the message for a value that is not a string.
 */
function stringScalar({
  name,
  description,
  read,
  reason,
  expected = reason,
  serialize = String,
  specifiedByURL,
}: {
  name: string
  description: string
  read: (value: string) => string | undefined
  reason: string
  expected?: string
  serialize?: (value: unknown) => string
  specifiedByURL?: string
}) {
  const parse = (value: unknown, node?: ASTNode) => {
    const found = typeof value === 'string' ? read(value) : undefined
    if (found !== undefined) return found
    throw new ScalarRefusal(`Not a ${name}: ${typeof value === 'string' ? reason : expected}`, node)
  }
  return new GraphQLScalarType({
    name,
    description,
    specifiedByURL,
    serialize,
    parseValue: (value) => parse(value),
    parseLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : undefined, node),
  })
}

const matching = (pattern: RegExp) => (value: string) => (pattern.test(value) ? value : undefined)

const address = stringScalar({
  name: 'Address',
  description: 'An account on the chain: 0x and 40 hexadecimal digits, with EIP-55 checksum.',
  read: matching(/^0x[0-9a-fA-F]{40}$/),
  reason: 'expected 0x and 40 hexadecimal digits.',
  specifiedByURL: 'https://eips.ethereum.org/EIPS/eip-55',
})

const cid = stringScalar({
  name: 'CID',
  description:
    'A content identifier of a file, a tree or a block. Results are version 1 in base 32: `bafkrei…` for one block, `bafybei…` for a larger file. Inputs may have any multibase, version 0, or the form `ipfs://…`.',
  read: canonicalNid,
  reason: 'expected a CID, such as bafkrei….',
  specifiedByURL: 'https://github.com/multiformats/cid',
})

const decimal = stringScalar({
  name: 'Decimal',
  description:
    'An amount of money as a decimal string such as "0.179", with at most 18 digits before and 18 after the point; never a ' +
    'floating-point number. What is sent has no sign.',
  read: matching(AMOUNT),
  reason:
    'expected a decimal number such as 0.179, without sign or exponent, with at most 18 digits before and 18 after the point.',
  expected: 'expected a string such as "0.179".',
  serialize: (value) => formatAmount(value as Amount),
  specifiedByURL: 'https://www.w3.org/TR/xmlschema11-2/#decimal',
})

const notADateTime = 'Not a DateTime: expected a moment such as 2026-11-21T09:30:00Z.'
const dateTimeOf = (value: unknown, node?: ASTNode): Date => {
  try {
    return GraphQLDateTimeISO.parseValue(value)
  } catch {
    throw new ScalarRefusal(notADateTime, node)
  }
}

const dateTime = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A moment in UTC, as in 2026-11-21T09:30:00.000Z.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  extensions: GraphQLDateTimeISO.extensions,
  serialize: (value) => (value instanceof Date ? value.toISOString() : String(value)),
  parseValue: (value) => dateTimeOf(value),
  parseLiteral: (node) => dateTimeOf(node.kind === Kind.STRING ? node.value : undefined, node),
})

type Variables = Readonly<Record<string, unknown>> | null | undefined

/** Converts a literal to a value. Recursion is safe, because the number of tokens is limited before. */
function readLiteral(node: ValueNode, variables: Variables): unknown {
  switch (node.kind) {
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.flatMap(({ name, value: field }) => {
          const value = readLiteral(field, variables)
          return value === undefined ? [] : [[name.value, value]]
        }),
      )
    case Kind.LIST:
      return node.values.map((item) => readLiteral(item, variables) ?? null)
    case Kind.INT:
    case Kind.FLOAT:
      if (!isExact(node.value)) throw new ScalarRefusal(numberProblem, node)
      return Number(node.value)
    case Kind.NULL:
      return null
    case Kind.VARIABLE:
      return variables?.[node.name.value]
    default:
      return node.value
  }
}

function objectOf(value: unknown, node?: ASTNode): Record<string, unknown> {
  if (isJsonObject(value)) return value
  throw new ScalarRefusal('Not a JSONObject: expected an object.', node)
}

const jsonObject = new GraphQLScalarType({
  name: 'JSONObject',
  description: `A JSON object. One that is sent is at most ${MAX_JSON_DEPTH} levels deep, and of numbers that a double holds.`,
  specifiedByURL: 'https://datatracker.ietf.org/doc/html/rfc8259#section-4',
  extensions: GraphQLJSONObject.extensions,
  serialize: (value) => objectOf(value),
  parseValue: (value) => objectOf(value),
  parseLiteral: (node, variables) => objectOf(readLiteral(node, variables), node),
})

builder.addScalarType('Address', address)
builder.addScalarType('CID', cid)
builder.addScalarType('Decimal', decimal)
builder.addScalarType('DateTime', dateTime)
builder.addScalarType('JSONObject', jsonObject)
builder.addScalarType(
  'Upload',
  new GraphQLScalarType({
    ...GraphQLUpload.toConfig(),
    description: 'A file, sent as the GraphQL multipart request specification says.',
    specifiedByURL: 'https://github.com/jaydenseric/graphql-multipart-request-spec',
  }),
)
