/** The schema builder with its plugins, scalars and defaults. Each type is defined in its own file. */
import SchemaBuilder from '@pothos/core'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import type { FileUpload } from 'graphql-upload-ts'
import type { Context } from '../context.ts'
import type PrismaTypes from '../db/prisma/pothos-types.ts'
import { getDatamodel } from '../db/prisma/pothos-types.ts'
import type { Amount } from '../shared/money.ts'
import { readFieldPlugin } from './fast-path/compilable-fields.ts'
import { answerLimits, sizesPlugin } from './limits/document-cost.ts'
import { documentLimits } from './limits/document-limits.ts'

/** The TypeScript types of the scalars. Their schema definitions are in scalars.ts. */
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

/** Schema builder. Every file that defines a part of the schema adds to it. */
export const builder = new SchemaBuilder<{
  Context: Context
  PrismaTypes: PrismaTypes
  Scalars: Scalars
  DefaultFieldNullability: false
  DefaultInputFieldRequiredness: false
  DefaultEdgesNullability: { list: false; items: false }
  DefaultNodeNullability: false
}>({
  plugins: [PrismaPlugin, RelayPlugin, sizesPlugin, readFieldPlugin],
  defaultFieldNullability: false,
  prisma: {
    // Compiled reads replace Prisma's engine (decision 2). The plugin uses only the methods of
    // `context.database.read`.
    client: (context) => context.database.read as never,
    dmmf: datamodel,
    onUnusedQuery: null,
  },
  relay: {
    // Both APIs use the same IDs, so `node` needs no encoding: see node.ts.
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    cursorType: 'String',
    idFieldOptions: { description: 'ID of the object, the same in both APIs.' },
    nodeTypeOptions: { description: 'A thing with an identifier of its own.' },
    pageInfoTypeOptions: { description: 'Position of a page in its list.' },
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'The items of this page, with their cursors.',
    },
    nodesOnConnection: { description: 'The items of this page.' },
    nodeFieldOptions: { description: 'The item.' },
    cursorFieldOptions: { description: 'Cursor of this item: pass it as `after` or `before`.' },
    pageInfoFieldOptions: { description: 'Position of this page in its list.' },
    hasNextPageFieldOptions: { description: 'Whether items follow.' },
    hasPreviousPageFieldOptions: { description: 'Whether items precede.' },
    startCursorFieldOptions: { description: 'Cursor of the first item.' },
    endCursorFieldOptions: { description: 'Cursor of the last item.' },
    firstArgOptions: { description: 'At most so many items, from the start.' },
    lastArgOptions: { description: 'At most so many items, from the end.' },
    afterArgOptions: { description: 'Only items after this cursor.' },
    beforeArgOptions: { description: 'Only items before this cursor.' },
  },
})

/** Adds fields to an input type. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<typeof builder.$inferSchemaTypes, 'InputObject'>

/** Input field of paid mutations that limits the charge. */
export const maxCostField = (t: InputFields) =>
  t.field({ type: 'Decimal', description: 'Refuses a higher total with PRICE_EXCEEDS_MAX_COST.' })

const count = new Intl.NumberFormat('en-US').format

builder.queryType({
  description: [
    'Reading. Nothing here changes anything or costs anything. Every error carries an `ErrorCode` as `extensions.code`.',
    `An answer holds at most ${count(answerLimits.values)} values and ${count(answerLimits.bytes)} bytes, as the sizes of pages and ` +
      'texts allow them: a document that could be answered with more is refused. A document has at most ' +
      `${count(documentLimits.characters)} characters, ${count(documentLimits.tokens)} tokens, ${documentLimits.fields} fields, ` +
      `${documentLimits.depth} levels of fields, ${documentLimits.rootFields} fields at the root, ${documentLimits.aliases} aliases, ` +
      `${documentLimits.directives} directives, ${documentLimits.fragments} fragments and ${documentLimits.operations} operations.`,
    'A page that is larger than its maximum is refused with VALIDATION_FAILED, which names it; so are a negative one, `first` ' +
      'together with `last` and, in most lists, `before` together with `after` or `first`, and `after` together with `last`.',
  ].join('\n\n'),
})
builder.mutationType({
  description:
    'Changing. Every mutation may carry an `Idempotency-Key` header: sent again with it, it is carried out once. ' +
    'Every error carries an `ErrorCode` as `extensions.code`.',
})

/** Type of an input for services. In GraphQL an optional field is null or absent; for services it is only absent. */
export type OmitNullish<Input> = { [Key in keyof Input]: Exclude<Input[Key], null> }

/** Options of a field with an amount. */
export const decimal = (description: string) => ({ type: 'Decimal', description }) as const
/** Options of a field with a time. */
export const time = (description: string) => ({ type: 'DateTime', description }) as const
/** Options of a field with a time or null. */
export const optionalTime = (description: string) => ({ type: 'DateTime', nullable: true, description }) as const

/** Returns the fields of an input that are neither null nor undefined. */
export const omitNullish = <Input extends object>(input: Input) =>
  Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== null && value !== undefined),
  ) as OmitNullish<Input>

type Columns<Model extends keyof PrismaTypes> = keyof PrismaTypes[Model]['Shape'] & string

/** Selects all columns of a model except some. */
export function allColumns<Model extends keyof PrismaTypes & string, Omitted extends Columns<Model> = never>(
  model: Model,
  ...omitted: Omitted[]
) {
  const columns = datamodel.datamodel.models[model]!.fields.filter(
    ({ kind, name }) => kind !== 'object' && !omitted.some((column) => column === name),
  )
  return Object.fromEntries(columns.map(({ name }) => [name, true])) as Record<Exclude<Columns<Model>, Omitted>, true>
}
