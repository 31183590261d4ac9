/**
 * Schemas of parameters, request fields and response values. For a response schema, `z.input` is the type of the JSON,
 * and `z.output` is the type that a presenter returns.
 */
import { z } from 'zod'
import type { MetadataField } from '../../modules/assets/metadata.ts'
import { AMOUNT } from '../../shared/money.ts'
import { camelCase, snakeCase } from '../../shared/text.ts'

/** Adds the description of a GraphQL field to a schema. `coordinate`: the field, such as `Order.price`. */
export const same = <Schema extends z.ZodType>(coordinate: string, schema: Schema): Schema =>
  schema.meta({ ...schema.meta(), same: coordinate })

/** Adds the descriptions of a GraphQL type's fields to the fields of a schema. */
export const sameFields = <Shape extends Record<string, z.ZodType>>(type: string, shape: Shape) =>
  Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [name, same(`${type}.${camelCase(name)}`, schema)]),
  ) as Shape

/** Returns the schema of an object that is a named component of the OpenAPI document. */
export const objectOf = <Shape extends z.core.$ZodLooseShape>(id: string, description: string, shape: Shape) =>
  z.object(shape).meta({ id, description })

/** Schema of a timestamp. Presenters may return a `Date`. */
export const moment = z.iso.datetime().transform((text): Date | string => text)

/** Schema of an amount in a response. A debit is negative. */
export const amount = z.string().regex(/^-?\d+(\.\d+)?$/)

/** Schema of an object with any keys. */
export const anyObject = z.record(z.string(), z.unknown())

export const always = <const Value extends string | number | boolean | null>(value: Value) =>
  z.literal(value).describe('A constant value, kept for old clients that expect it.')

export const url = z.string().meta({ format: 'uri' })

/** Returns the schema of an optional text parameter. */
export const optionalText = (description: string) => z.string().optional().describe(description)

/** Returns the schema of an optional parameter with a fixed set of values. */
export const optionalWord = <const Word extends string>(words: readonly Word[], description: string) =>
  z.enum(words).optional().describe(description)

/** Schema of an amount in a request. */
export const givenAmount = z
  .string()
  .regex(AMOUNT)
  .meta({ examples: ['0.5'] })

/** Schema of a boolean in a request. Generated clients cannot send `True` or `1`, which the service also accepts. */
export const givenFlag = z.boolean()

const jsonText = z.string().meta({ contentMediaType: 'application/json' })
/** Schema of an object in a request: JSON, or JSON text in a form. */
export const givenObject = z.union([anyObject, jsonText])
/** Schema of JSON in a request that is stored as text. JSON text is stored unchanged. */
const givenJson = z.union([jsonText, anyObject, z.array(z.unknown())])
/** Returns the schema of a list in a request: JSON, or JSON text in a form. */
export const givenList = <Item extends z.ZodType>(item: Item) => z.union([z.array(item), jsonText])
/** Schema of the bytes of a file in a response. Without a schema, generated clients would return no body. */
export const fileBytes = z.file()
/** Schema of a file in a form. */
export const givenFile = z.file()
/** Schema of a picture in a request. Null or an empty string removes the picture. */
export const givenPicture = z.union([givenFile, z.literal('')]).nullable()

export const givenText = (max?: number) => (max === undefined ? z.string() : z.string().max(max))
/** Returns the schema of a required text. `max`: maximum number of characters. */
export const neededText = (max?: number) => givenText(max).min(1)
export const givenEmail = neededText(254).meta({ format: 'email' })
/** Schema of the account's current password in a request. */
export const presentPassword = neededText(256).meta({ format: 'password' })
export const newPassword = z.string().min(8).max(32).meta({ format: 'password' })

/** Returns the request schema of an asset's metadata field. `limit`: which of the field's maximum sizes applies. */
export function givenMetadata({ kind, description, ...sizes }: MetadataField, limit: 'size' | 'updateSize') {
  const schema = { text: givenText(sizes[limit]), flag: givenFlag, json: givenJson }[kind]
  return schema.describe(description)
}

export const metadataText = ({ description }: MetadataField) => z.string().describe(description)
export const metadataFlag = ({ description }: MetadataField) => z.boolean().describe(description)

/** Response schema of a route that returns no body. */
export const nothing = z.undefined()

/** Converts a GraphQL enum value to its REST form, in lower case. */
export const lowerCase = <Word extends string>(word: Word) => word.toLowerCase() as Lowercase<Word>

type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ''

/** Converts the field names of a record to snake case, as in REST. */
export const snakeCased = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value])) as {
    [Name in keyof Fields & string as SnakeCase<Name>]: Fields[Name]
  }

const idOf = (what: string, prefix: string) =>
  z.object({ id: z.string().describe(`ID of the ${what}, as in \`${prefix}_01h2x…\`.`) })

/** Description of a parameter that is an asset's nid. */
const nid = 'The nid of the asset: the CID of the file’s bytes. Any multibase, version 0 and `ipfs://…` are accepted.'
export const nidParam = z.object({ nid: z.string().describe(nid) })
export const orderParam = idOf('order', 'order')
export const withdrawalParam = idOf('withdrawal', 'withdrawal')
export const networkAppParam = idOf('network app', 'app')
export const apiKeyParam = idOf('API key', 'key')
export const sessionParam = idOf('session', 'session')
export const assetLinkParam = idOf('link', 'link')
export const userParam = z.object({ id: z.string().describe('ID, e-mail address or username of the user.') })
export const deliveryParam = idOf('webhook delivery', 'delivery')

/** Schema of a record's field, and the function that reads the field's value from the source of the record. */
type RecordField<Source, Schema extends z.ZodType> = readonly [Schema, (source: Source) => z.output<Schema>]

export const constantField = <const Value extends string | number | boolean | null>(value: Value) =>
  [always(value), () => value] as const

/** Defines a response record by its fields. Returns its schema and its presenter. `Source`: the presenter's input. */
export const defineRecord =
  <Source>() =>
  <Shape extends Record<string, z.ZodType>>(
    meta: { id: string; description: string },
    fields: { [Name in keyof Shape]: RecordField<Source, Shape[Name]> },
  ) => {
    const entries = Object.entries(fields) as [string, RecordField<Source, z.ZodType>][]
    const shape = Object.fromEntries(entries.map(([name, [schema]]) => [name, schema])) as unknown as Shape
    return {
      schema: z.object(shape).meta(meta),
      present: (source: Source) =>
        Object.fromEntries(entries.map(([name, [, read]]) => [name, read(source)])) as z.output<z.ZodObject<Shape>>,
    }
  }
