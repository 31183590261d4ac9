/** Fuzz requests for all root fields and all fields with arguments. Each argument and each input field can be changed. */

import fc from 'fast-check'
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { sizeOf } from '../../src/graphql/limits/document-cost.ts'
import { schema } from '../../test/support/full-api.ts'
import { inputValueOf, inputValues, nodeIds } from './authz-values.ts'
import {
  actors,
  asBytes,
  asked,
  eachSpoilt,
  type FuzzRequest,
  hostileHeaders,
  spoil,
  spoilings,
} from './fuzz-requests.ts'
import { RawJson, toJson } from './fuzz-values.ts'

type AnyField = GraphQLField<unknown, unknown>

interface Shape {
  target: string
  keyword: string
  field: AnyField
  /** Wraps the field in a selection that starts at the root. */
  around: (selected: string) => string
}

const onAsset = (selected: string) => `node(id: "{{owner.nid}}") { ... on Asset { ${selected} } }`

/** Wrappers for fields below the root, by type. */
const places: Record<string, (selected: string) => string> = {
  Asset: onAsset,
  User: (selected) => `node(id: "{{owner.id}}") { ... on User { ${selected} } }`,
  Verification: (selected) => onAsset(`verification { ${selected} }`),
}

const roots = ['Query', 'Mutation', 'Subscription']

export const graphqlShapes: readonly Shape[] = Object.values(schema.getTypeMap()).flatMap((type) => {
  if (!isObjectType(type) || type.name.startsWith('__')) return []
  const isRoot = roots.includes(type.name)
  return Object.values(type.getFields())
    .filter(({ args }) => isRoot || args.length > 0)
    .map((field) => {
      const target = `${type.name}.${field.name}`
      const around = isRoot ? (selected: string) => selected : places[type.name]
      if (!around) throw new Error(`Say where ${target} is asked for.`)
      return { target, keyword: isRoot ? type.name.toLowerCase() : 'query', field, around }
    })
})

const byScalar: Record<string, unknown> = {
  Boolean: true,
  CID: '{{owner.treeCid}}',
  DateTime: '2100-01-01T00:00:00Z',
  Decimal: '1',
  Float: 1,
  ID: '{{owner.nid}}',
  Int: 3,
  JSONObject: { a: 1 },
  String: 'text',
}

function goodOf(coordinate: string, type: GraphQLInputType, isOptional: boolean): unknown {
  const known = inputValueOf(coordinate)?.(asked)
  // An input that is an empty object is filled field by field.
  const isToBeFilled = isInputObjectType(getNamedType(type)) && !(known instanceof File)
  if (known !== undefined && !isToBeFilled) return known
  if (known === undefined && Object.hasOwn(inputValues, coordinate) && isOptional) return null
  if (isNonNullType(type)) return goodOf(coordinate, type.ofType, false)
  if (isListType(type)) return [goodOf(coordinate, type.ofType, false)]
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter((_, index) => !type.isOneOf || index === 0)
    return Object.fromEntries(
      fields.map((field) => [field.name, goodOf(`${type.name}.${field.name}`, field.type, true)]),
    )
  }
  if (isEnumType(type)) return type.getValues()[0]!.name
  if (coordinate.endsWith('.node.id')) return nodeIds.Asset!(asked)
  return byScalar[type.name] ?? null
}

/** Arguments that valid requests omit, because another argument replaces them. */
const givenOtherwise = new Set(['Query.lookup.sha256'])

const goodVariables = ({ target, field }: Shape): Record<string, unknown> =>
  Object.fromEntries(
    field.args.map((arg) => {
      const isCursor = arg.name === 'after' || arg.name === 'before' || arg.name === 'last'
      const coordinate = `${target}.${arg.name}`
      const isLeftOut = isCursor || givenOtherwise.has(coordinate)
      return [arg.name, isLeftOut ? null : goodOf(coordinate, arg.type, true)]
    }),
  )

const isFree = ({ args }: { args: readonly GraphQLArgument[] }) => !args.some(isRequiredArgument)

/** Size above which the values of a list are too large for one request, in bytes. */
const LARGE_BYTES = 50_000

/** Returns a selection without nested requests. List items omit large fields. */
function selection(type: GraphQLNamedType, depth = 1): string {
  if (!isObjectType(type)) return isLeafType(type) ? '' : '{ __typename }'
  const leaves = Object.values(type.getFields()).filter(
    (field) =>
      isFree(field) && isLeafType(getNamedType(field.type)) && (depth > 0 || (sizeOf(field).bytes ?? 0) < LARGE_BYTES),
  )
  const below = Object.values(type.getFields()).filter(
    (field) => depth > 0 && isFree(field) && isObjectType(getNamedType(field.type)) && field.name !== 'edges',
  )
  const names = [
    ...leaves.map(({ name }) => name),
    ...below.map((field) => `${field.name} ${selection(getNamedType(field.type), depth - 1)}`),
  ]
  return `{ __typename ${names.slice(0, 60).join(' ')} }`
}

const NAME = /^[_A-Za-z]\w*$/

/** Returns a value as a GraphQL literal, or undefined if that is not possible. */
function toLiteral(value: unknown, type: GraphQLInputType | undefined): string | undefined {
  const inner = type && isNonNullType(type) ? type.ofType : type
  if (value instanceof RawJson) return value.text.length < 2_000 && /^[-\d]/.test(value.text) ? value.text : undefined
  if (typeof value === 'string') return isEnumType(inner) && NAME.test(value) ? value : JSON.stringify(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => toLiteral(item, inner && isListType(inner) ? inner.ofType : undefined))
    return items.includes(undefined) || items.length > 100 ? undefined : `[${items.join(' ')}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const fields: Record<string, GraphQLInputField> = isInputObjectType(inner) ? inner.getFields() : {}
  const entries = Object.entries(value).filter(([, item]) => item !== null)
  const texts = entries.map(([name, item]) => {
    const text = NAME.test(name)
      ? toLiteral(item, Object.hasOwn(fields, name) ? fields[name]!.type : undefined)
      : undefined
    return text === undefined ? undefined : `${name}: ${text}`
  })
  return texts.includes(undefined) || texts.length > 100 ? undefined : `{ ${texts.join(' ')} }`
}

function document(shape: Shape, values: Record<string, unknown>, isLiteral: boolean, alias = '') {
  const { field, keyword, around } = shape
  const asked = alias ? `${alias}: ${field.name}` : field.name
  const literals = isLiteral
    ? field.args
        .filter(({ name }) => Object.hasOwn(values, name) && values[name] !== null)
        .map((arg) => [arg.name, toLiteral(values[arg.name], arg.type)])
    : [[undefined, undefined]]
  const below = selection(getNamedType(field.type))
  if (literals.every(([, text]) => text !== undefined)) {
    const args = literals.map(([name, text]) => `${name}: ${text}`).join(' ')
    return { query: `${keyword} { ${around(`${asked}${args && `(${args})`} ${below}`)} }`, variables: {} }
  }
  const given = field.args.filter(({ name }) => Object.hasOwn(values, name))
  const declared = given.map(({ name, type }) => `$${name}: ${type}`).join(' ')
  const passed = given.map(({ name }) => `${name}: $${name}`).join(' ')
  const selected = around(`${asked}${passed && `(${passed})`} ${below}`)
  const query = `${keyword} X${declared && `(${declared})`} { ${selected} }`
  return { query, variables: values }
}

const BOUNDARY = 'fuzzed-boundary'

/** Removes the file from the variables, and returns its path. */
function takeFile(values: Record<string, unknown>, path = 'variables'): string | undefined {
  for (const [name, value] of Object.entries(values)) {
    if (value instanceof File) {
      values[name] = null
      return `${path}.${name}`
    }
    if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
      const found = takeFile(value as Record<string, unknown>, `${path}.${name}`)
      if (found) return found
    }
  }
  return undefined
}

interface Form {
  isLiteral?: boolean
  alias?: string
  partHeader?: string
}

function encode(shape: Shape, values: Record<string, unknown>, { isLiteral = false, alias, partHeader }: Form = {}) {
  const at = takeFile(values)
  const operations = toJson(document(shape, values, isLiteral && !at, alias))
  const accept = shape.keyword === 'subscription' ? 'text/event-stream' : 'application/json'
  if (!at)
    return {
      body: asBytes(operations),
      headers: [
        ['Content-Type', 'application/json'],
        ['Accept', accept],
      ] as [string, string][],
    }
  const part = (name: string, text: string, more = '') =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${text}\r\n`
  const file = part(
    '0',
    'file {{serial}} of many',
    `; filename="${partHeader || 'a.txt'}"\r\nContent-Type: ${partHeader || 'text/plain'}`,
  )
  return {
    body: asBytes(
      `${part('operations', operations)}${part('map', JSON.stringify({ 0: [at] }))}${file}--${BOUNDARY}--\r\n`,
    ),
    headers: [
      ['Content-Type', `multipart/form-data; boundary=${BOUNDARY}`],
      ['GraphQL-Require-Preflight', 'true'],
      ['Accept', accept],
    ] as [string, string][],
  }
}

const path = '/graphql'

export const graphqlRequests = (shape: Shape): fc.Arbitrary<FuzzRequest> =>
  fc
    .record({
      actor: actors,
      isLiteral: fc.nat(2).map((n) => n === 0),
      alias: fc.constantFrom(...['', '', '', '', '', 'then', 'constructor', '__proto__', 'toJSON', 'length']),
      partHeader: fc.constantFrom('', '\u0001', 'ü/日', 'image/png; a="b', '../../x', 'x'.repeat(2_000)),
      spoilt: spoilings,
      headers: hostileHeaders,
    })
    .map(({ actor, isLiteral, alias, partHeader, spoilt, headers: more }) => {
      const values = goodVariables(shape)
      spoil(values, spoilt)
      const { body, headers } = encode(shape, values, { isLiteral, alias, partHeader })
      return { target: shape.target, actor, method: 'POST', path, headers: [...headers, ...more], body }
    })

const adminFields =
  /accountDeposits|accountWithdrawals|apiKey|auditEntries|figures|heldCoins|networkApp|grant|refund|sale|webhook|sendTest|lockUser|Query\.user(s|Count)/i

function requestWith(shape: Shape, values: Record<string, unknown>): FuzzRequest {
  const { body, headers } = encode(shape, values)
  const actor = adminFields.test(shape.target) ? 'admin' : 'user'
  return { target: shape.target, actor, method: 'POST', path, headers, body }
}

const goodRequest = (shape: Shape, values: Record<string, unknown>): FuzzRequest => ({
  ...requestWith(shape, values),
  isGood: true,
})

/** Yields otherwise valid requests with each known hostile value as each variable and each nested field. */
export function* eachGraphQLRequest(shape: Shape): Generator<FuzzRequest> {
  for (const values of eachSpoilt(() => goodVariables(shape))) yield requestWith(shape, values)
}

/** Returns a valid request without optional arguments. */
export const goodGraphQLRequest = (shape: Shape): FuzzRequest => goodRequest(shape, goodVariables(shape))

/**
 * Yields valid requests: one with each optional argument alone, and one without any. For lists also the pages before and after `cursor`.
 * The set of arguments selects the code path of a field.
 */
export function* goodVariants(shape: Shape, cursor?: string): Generator<FuzzRequest> {
  const { args } = shape.field
  const all = goodVariables(shape)
  const required = args.filter(isRequiredArgument).map(({ name }) => [name, all[name]] as const)
  const withOnly = (given: Record<string, unknown>) => goodRequest(shape, { ...Object.fromEntries(required), ...given })
  yield withOnly({})
  for (const { name } of args) if (all[name] !== null) yield withOnly({ [name]: all[name] })
  const isPaged = args.some(({ name }) => name === 'after')
  if (!isPaged) return
  yield withOnly({ last: 2 })
  if (cursor === undefined) return
  yield withOnly({ first: 2, after: cursor })
  yield withOnly({ last: 2, before: cursor })
  // A filtered list uses another query for its pages.
  const narrowed = Object.fromEntries(Object.entries(all).filter(([name, value]) => value !== null && name !== 'first'))
  yield withOnly({ ...narrowed, first: 2, after: cursor })
}
