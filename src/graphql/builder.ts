/** The schema builder with its plugins, scalars and defaults. Each type is defined in its own file. */
import SchemaBuilder, { BasePlugin, type ObjectRef, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import {
  type ASTNode,
  type DocumentNode,
  defaultFieldResolver,
  GraphQLError,
  type GraphQLField,
  GraphQLScalarType,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type ValueNode,
} from 'graphql'
import { GraphQLDateTimeISO, GraphQLJSONObject } from 'graphql-scalars'
import { type FileUpload, GraphQLUpload } from 'graphql-upload-ts'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../context.ts'
import type PrismaTypes from '../db/prisma/pothos-types.ts'
import { getDatamodel } from '../db/prisma/pothos-types.ts'
import { authenticationFailed } from '../shared/errors.ts'
import { canonicalNid, type IdPrefix, toId } from '../shared/ids.ts'
import { isExact, isJsonObject, MAX_JSON_DEPTH, numberProblem } from '../shared/input.ts'
import { AMOUNT, type Amount, formatAmount } from '../shared/money.ts'
import { showing } from './fast-path/compilable-fields.ts'
import { answerLimits, characters, documentedArguments, rootFieldsOf } from './limits/document-cost.ts'
import { documentLimits } from './limits/document-limits.ts'
import { ScalarRefusal } from './mask-error.ts'

type Scalars = {
  ID: { Input: string; Output: string }
  Address: { Input: string; Output: string }
  CID: { Input: string; Output: string }
  DateTime: { Input: Date; Output: Date }
  Decimal: { Input: string; Output: Amount }
  JSONObject: { Input: Record<string, unknown>; Output: unknown }
  Upload: { Input: Promise<FileUpload>; Output: never }
}

const datamodel = getDatamodel()

/** Documents page sizes, and stores each field's resolver without plugin wrappers for the compiler. */
class FieldsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const args = documentedArguments(config as never) as typeof config.args
    return { ...config, args, extensions: { ...config.extensions, ownResolver: config.resolve } }
  }
}

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      fields: FieldsPlugin<Types>
    }
  }
}

SchemaBuilder.registerPlugin('fields', FieldsPlugin)

/** Each file that defines types or fields adds them to this builder. */
export const builder = new SchemaBuilder<{
  Context: Context
  PrismaTypes: PrismaTypes
  Scalars: Scalars
  DefaultFieldNullability: false
  DefaultInputFieldRequiredness: false
  DefaultEdgesNullability: { list: false; items: false }
  DefaultNodeNullability: false
}>({
  plugins: [PrismaPlugin, RelayPlugin, 'fields'],
  defaultFieldNullability: false,
  prisma: {
    // The plugin gets compiled reads instead of a Prisma client (decision 2). It uses only the methods of
    // `context.database.read`.
    client: (context) => context.database.read as never,
    dmmf: datamodel,
    onUnusedQuery: null,
  },
  relay: {
    // GraphQL and REST use the same IDs, so the plugin must not encode them. node.ts defines the query `node`.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    cursorType: 'String',
    idFieldOptions: { description: 'ID of the object. GraphQL and REST use the same ID.' },
    nodeTypeOptions: { description: 'An object with a globally unique ID.' },
    pageInfoTypeOptions: { description: 'Cursors of a page, and flags that show whether the list has more items.' },
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'The items of this page, with their cursors.',
    },
    nodesOnConnection: { description: 'The items of this page.' },
    nodeFieldOptions: { description: 'The item at the cursor.' },
    cursorFieldOptions: { description: 'Cursor of this item. Pass this value as `after` or `before`.' },
    pageInfoFieldOptions: { description: 'Cursors of this page, and flags that show if more items exist.' },
    hasNextPageFieldOptions: { description: 'True if more items follow.' },
    hasPreviousPageFieldOptions: { description: 'True if the list has items before this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first item.' },
    endCursorFieldOptions: { description: 'Cursor of the last item.' },
    firstArgOptions: { description: 'Maximum number of items from the start of the list.' },
    lastArgOptions: { description: 'Maximum number of items from the end of the list.' },
    afterArgOptions: { description: 'Cursor of an item. The page starts after this item.' },
    beforeArgOptions: { description: 'Cursor of an item. The page ends before this item.' },
  },
})

export type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>

/** Input field of paid mutations that limits the charge. */
export const maxCostField = (t: InputFields) =>
  t.field({ type: 'Decimal', description: 'Maximum total. A higher total raises PRICE_EXCEEDS_MAX_COST.' })

const count = new Intl.NumberFormat('en-US').format

builder.queryType({
  description: [
    'Queries read data. They change nothing and cost nothing. Each error has an `ErrorCode` in `extensions.code`.',
    `A response has at most ${count(answerLimits.values)} values and ${count(answerLimits.bytes)} bytes. A document whose response ` +
      'could be larger is rejected before it is executed. A document has at most ' +
      `${count(documentLimits.characters)} characters, ${count(documentLimits.tokens)} tokens, ${documentLimits.fields} fields, ` +
      `${documentLimits.depth} levels of fields, ${documentLimits.rootFields} root fields, ${documentLimits.aliases} aliases, ` +
      `${documentLimits.directives} directives, ${documentLimits.fragments} fragments and ${documentLimits.operations} operations.`,
    'VALIDATION_FAILED is returned for a page size above the maximum or below 0, and for `first` with `last`. Most lists ' +
      'also reject `before` with `after` or `first`, and `after` with `last`.',
  ].join('\n\n'),
})
builder.mutationType({
  description:
    'Mutations change data. A mutation that is repeated with the same `Idempotency-Key` header takes effect once. ' +
    'Each error has an `ErrorCode` in `extensions.code`.',
})

/** Input type for services. An optional GraphQL field may be null or absent. Services accept only absent fields. */
export type OmitNullish<Input> = { [Key in keyof Input]: Exclude<Input[Key], null> }

export const decimal = (description: string) => ({ type: 'Decimal', description }) as const
export const time = (description: string) => ({ type: 'DateTime', description }) as const
export const optionalTime = (description: string) => ({ type: 'DateTime', nullable: true, description }) as const

/** Options of a field with a text. `size`: maximum number of characters. */
export const shortText = (size: number, description: string) => ({ ...characters(size), description })
export const optionalText = (size: number, description: string) =>
  ({ ...shortText(size, description), nullable: true }) as const

/** Options of a field with the public ID of the row's `column`. */
export const publicId = <Column extends string>(prefix: IdPrefix, column: Column, description: string) => ({
  type: 'ID' as const,
  description,
  resolve: (row: Record<Column, string>) => toId(prefix, row[column]),
})

export type PayloadFields<Shape extends object> = PothosSchemaTypes.ObjectFieldBuilder<
  typeof builder.$inferSchemaTypes,
  Shape
>

/** Creates the payload type of a mutation. Its field `name` returns an object of `type`. */
export const payloadType = <Shape, const Name extends string, Others extends object = object>(
  payload: string,
  description: string,
  [name, type, meaning]: readonly [Name, ObjectRef<typeof builder.$inferSchemaTypes, Shape>, meaning: string],
  otherFields?: (t: PayloadFields<Others>) => object,
) =>
  builder.objectRef<Record<Name, Shape> & Others>(payload).implement({
    description,
    fields: (t) => ({
      [name]: t.field({ type, description: meaning, resolve: (row) => row[name] as never }),
      ...otherFields?.(t as never),
    }),
  })

export const omitNullish = <Input extends object>(input: Input) =>
  Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== null && value !== undefined),
  ) as OmitNullish<Input>

/** Creates the resolver of a mutation whose payload has the changed row as `shown`, and the other results of `change`. */
export const showingChange = <Name extends string, Row, Input extends object, Result extends { id: string }>(
  shown: Name,
  { getByUuid }: { getByUuid(context: Context, id: string, query: object): Promise<Row> },
  change: (context: Context, input: Input) => Promise<Result>,
) =>
  showing(shown, async (query, { input }: { input: { [Key in keyof Input]: Input[Key] | null } }, context) => {
    const { id, ...others } = await change(context, omitNullish(input) as Input)
    const row = await getByUuid(context, id, query())
    return { ...others, [shown]: row } as Omit<Result, 'id'> & { [Key in Name]: Row }
  })

type Columns<Model extends keyof PrismaTypes> = keyof PrismaTypes[Model]['Shape'] & string

export function allColumns<Model extends keyof PrismaTypes & string, Omitted extends Columns<Model> = never>(
  model: Model,
  ...omitted: Omitted[]
) {
  const columns = datamodel.datamodel.models[model]!.fields.filter(
    ({ kind, name }) => kind !== 'object' && !omitted.some((column) => column === name),
  )
  return Object.fromEntries(columns.map(({ name }) => [name, true])) as Record<Exclude<Columns<Model>, Omitted>, true>
}

function addStringScalar(options: {
  name: 'Address' | 'CID' | 'Decimal'
  description: string
  /** Returns the value of a valid text, or undefined. */
  read: (value: string) => string | undefined
  /** Message for an invalid text. `expected`: message for a value that is not a string. */
  reason: string
  expected?: string
  serialize?: (value: unknown) => string
  specifiedByURL: string
}) {
  const { name, read, reason, expected = reason, serialize = String, ...description } = options
  const parse = (value: unknown, node?: ASTNode) => {
    const found = typeof value === 'string' ? read(value) : undefined
    if (found !== undefined) return found
    throw new ScalarRefusal(`Not a ${name}: ${typeof value === 'string' ? reason : expected}`, node)
  }
  const scalar = new GraphQLScalarType({
    name,
    ...description,
    serialize,
    parseValue: (value) => parse(value),
    parseLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : undefined, node),
  })
  builder.addScalarType(name, scalar as GraphQLScalarType<never, never>)
}

const matching = (pattern: RegExp) => (value: string) => (pattern.test(value) ? value : undefined)

addStringScalar({
  name: 'Address',
  description: 'An account on the chain: 0x and 40 hexadecimal digits, with EIP-55 checksum.',
  read: matching(/^0x[0-9a-fA-F]{40}$/),
  reason: 'expected 0x and 40 hexadecimal digits.',
  specifiedByURL: 'https://eips.ethereum.org/EIPS/eip-55',
})

addStringScalar({
  name: 'CID',
  description:
    'A content identifier of a file, a tree or a block. Results are version 1 in base 32: `bafkrei…` for one block, `bafybei…` for a larger file. Inputs may have any multibase, version 0, or the form `ipfs://…`.',
  read: canonicalNid,
  reason: 'expected a CID, such as bafkrei….',
  specifiedByURL: 'https://github.com/multiformats/cid',
})

addStringScalar({
  name: 'Decimal',
  description:
    'An amount of money as a decimal string such as "0.179". It has at most 18 digits before and 18 after the point. Inputs have no sign.',
  read: matching(AMOUNT),
  reason:
    'expected a decimal number such as 0.179, without sign or exponent, with at most 18 digits before and 18 after the point.',
  expected: 'expected a string such as "0.179".',
  serialize: (value) => formatAmount(value as Amount),
  specifiedByURL: 'https://www.w3.org/TR/xmlschema11-2/#decimal',
})

const dateTimeOf = (value: unknown, node?: ASTNode): Date => {
  try {
    return GraphQLDateTimeISO.parseValue(value)
  } catch {
    throw new ScalarRefusal('Not a DateTime: expected a time such as 2026-11-21T09:30:00Z.', node)
  }
}

const twoDigits = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'))
const DAY = 86_400_000
let newestDay = { start: Number.NaN, date: '' }

/** Formats a time like `toISOString`, but in 0.1 instead of 0.4 µs for times of the same day, as in most pages. */
function formatTime(time: Date): string {
  const ms = time.getTime()
  const start = Math.floor(ms / DAY) * DAY
  if (start !== newestDay.start) newestDay = { start, date: time.toISOString().slice(0, -13) }
  const seconds = Math.floor((ms - start) / 1000)
  const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const fraction = String(ms - start - seconds * 1000).padStart(3, '0')
  return `${newestDay.date}${twoDigits[hour]}:${twoDigits[minute]}:${twoDigits[second]}.${fraction}Z`
}

const dateTime = new GraphQLScalarType({
  name: 'DateTime',
  description: 'A time in UTC in ISO 8601 format: `2026-11-21T09:30:00.000Z`.',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  extensions: GraphQLDateTimeISO.extensions,
  serialize: (value) => (value instanceof Date ? formatTime(value) : String(value)),
  parseValue: (value) => dateTimeOf(value),
  parseLiteral: (node) => dateTimeOf(node.kind === Kind.STRING ? node.value : undefined, node),
})

type Variables = Readonly<Record<string, unknown>> | null | undefined

/** Converts a literal of a document to a value. Recursion is safe, because the number of tokens is already limited. */
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
  description: `A JSON object. Inputs are at most ${MAX_JSON_DEPTH} levels deep, and their numbers must fit a double.`,
  specifiedByURL: 'https://datatracker.ietf.org/doc/html/rfc8259#section-4',
  extensions: GraphQLJSONObject.extensions,
  serialize: (value) => objectOf(value),
  parseValue: (value) => objectOf(value),
  parseLiteral: (node, variables) => objectOf(readLiteral(node, variables), node),
})

builder.addScalarType('DateTime', dateTime)
builder.addScalarType('JSONObject', jsonObject)
builder.addScalarType(
  'Upload',
  new GraphQLScalarType({
    ...GraphQLUpload.toConfig(),
    description: 'A file, sent according to the GraphQL multipart request specification.',
    specifiedByURL: 'https://github.com/jaydenseric/graphql-multipart-request-spec',
  }),
)

/** Field option that treats callers with an invalid token as anonymous. */
export const openToStaleTokens = { extensions: { openToStaleTokens: true } }

const isOpen = ({ extensions }: GraphQLField<unknown, unknown>) => extensions.openToStaleTokens === true

/**
 * Makes each root field without `openToStaleTokens` throw AUTHENTICATION_FAILED for an invalid token. A root value
 * that is a function returns the result of a mutation that was already executed.
 */
export function guardRootFields(schema: GraphQLSchema): GraphQLSchema {
  for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      const { resolve = defaultFieldResolver, subscribe } = field
      const guarded: typeof resolve = (root, args, context, info) => {
        if (typeof root === 'function') return root(info)
        if ((context as Context).hasStaleToken && !isOpen(field)) throw authenticationFailed()
        return (subscribe ?? resolve)(root, args, context, info)
      }
      if (subscribe) field.subscribe = guarded
      else field.resolve = guarded
    }
  }
  return schema
}

/** Returns true if an operation selects a field that accepts invalid tokens. */
export function hasOpenField(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): boolean {
  const operation = getOperationAST(document, operationName)
  const fields = operation && schema.getRootType(operation.operation)?.getFields()
  if (!operation || !fields) return false
  return rootFieldsOf(document, operation).some(({ name: { value } }) => fields[value] && isOpen(fields[value]))
}

/** Rejects a request with an invalid token, unless the document selects a field that accepts invalid tokens. */
export function useStaleTokens(schema: GraphQLSchema): Plugin<Context> {
  type Begun = Pick<Parameters<NonNullable<Plugin<Context>['onExecute']>>[0], 'args' | 'setResultAndStopExecution'>
  const refuse = ({ args: { contextValue, document, operationName }, setResultAndStopExecution }: Begun) => {
    if (!contextValue.hasStaleToken || hasOpenField(schema, document, operationName ?? null)) return
    // Yoga does not mask errors before execution.
    const { code, message } = authenticationFailed()
    setResultAndStopExecution({ errors: [new GraphQLError(message, { extensions: { code } })] })
  }
  return { onExecute: refuse, onSubscribe: refuse }
}
