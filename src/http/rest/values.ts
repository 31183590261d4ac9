/**
 * Schemas of parameters, request fields and response values. For a response schema, `z.input` is the JSON, and `z.output` is
 * the value that a presenter returns.
 */
import { z } from 'zod'
import type { MetadataField } from '../../modules/assets/metadata.ts'
import { AMOUNT } from '../../shared/money.ts'
import { camelCase, snakeCase } from '../../shared/text.ts'

/** Adds the description of a GraphQL field by its coordinate, such as `Order.price`. */
export const same = <Schema extends z.ZodType>(coordinate: string, schema: Schema): Schema =>
  schema.meta({ ...schema.meta(), same: coordinate })

/** Adds the descriptions of the fields of a GraphQL type. */
export const sameFields = <Shape extends Record<string, z.ZodType>>(type: string, shape: Shape) =>
  Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [name, same(`${type}.${camelCase(name)}`, schema)]),
  ) as Shape

/** A named object of the OpenAPI document. */
export const objectOf = <Shape extends z.core.$ZodLooseShape>(id: string, description: string, shape: Shape) =>
  z.object(shape).meta({ id, description })

/** A timestamp. Presenters may return a `Date`. */
export const moment = z.iso.datetime().transform((text): Date | string => text)

/** An amount in a response. Negative for a debit. */
export const amount = z.string().regex(/^-?\d+(\.\d+)?$/)

/** An object with any keys. */
export const anyObject = z.record(z.string(), z.unknown())

export const always = <const Value extends string | number | boolean | null>(value: Value) =>
  z.literal(value).describe('Constant. Kept for callers that expect it.')

export const url = z.string().meta({ format: 'uri' })

/** An optional text parameter. */
export const optionalText = (description: string) => z.string().optional().describe(description)

/** An optional parameter with a closed set of values. */
export const optionalWord = <const Word extends string>(words: readonly Word[], description: string) =>
  z.enum(words).optional().describe(description)

/** An amount in a request. */
export const givenAmount = z
  .string()
  .regex(AMOUNT)
  .meta({ examples: ['0.5'] })

/** A flag in a request. The service also accepts `True` and `1`, but code generators have no type for that. */
export const givenFlag = z.boolean()

const jsonText = z.string().meta({ contentMediaType: 'application/json' })
/** An object in a request: JSON, or JSON text in a form. */
export const givenObject = z.union([anyObject, jsonText])
/** JSON that is stored as text. JSON text is stored unchanged. */
const givenJson = z.union([jsonText, anyObject, z.array(z.unknown())])
/** A list in a request: JSON, or JSON text. */
export const givenList = <Item extends z.ZodType>(item: Item) => z.union([z.array(item), jsonText])
/** The bytes of a file, as a response body. Without a schema, generated clients return nothing. */
export const fileBytes = z.file()
/** A file in a form. */
export const givenFile = z.file()
/** A picture. Null and empty text remove it. */
export const givenPicture = z.union([givenFile, z.literal('')]).nullable()

export const givenText = (max?: number) => (max === undefined ? z.string() : z.string().max(max))
/** Required text. */
export const neededText = (max?: number) => givenText(max).min(1)
export const givenEmail = neededText(254).meta({ format: 'email' })
/** The current password of the account. */
export const presentPassword = neededText(256).meta({ format: 'password' })
export const newPassword = z.string().min(8).max(32).meta({ format: 'password' })

/** A metadata field of an asset in a request body. `limit`: name of its maximum size. */
export function givenMetadata({ kind, description, ...sizes }: MetadataField, limit: 'size' | 'updateSize') {
  const schema = { text: givenText(sizes[limit]), flag: givenFlag, json: givenJson }[kind]
  return schema.describe(description)
}

export const metadataText = ({ description }: MetadataField) => z.string().describe(description)
export const metadataFlag = ({ description }: MetadataField) => z.boolean().describe(description)

/** Response of a route without a body. */
export const nothing = z.undefined()

/** Returns the REST form of an enumeration value. */
export const lowerCase = <Word extends string>(word: Word) => word.toLowerCase() as Lowercase<Word>

type SnakeCase<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ''

/** Returns a record with the REST names of its fields. */
export const snakeCased = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [snakeCase(name), value])) as {
    [Name in keyof Fields & string as SnakeCase<Name>]: Fields[Name]
  }

const idOf = (what: string, prefix: string) =>
  z.object({ id: z.string().describe(`ID of the ${what}, as in \`${prefix}_01h2x…\`.`) })

/** The nid of an asset, in any form of a CID. */
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

/** The schema of a field, and the function that reads its value from the source of the record. */
type RecordField<Source, Schema extends z.ZodType> = readonly [Schema, (source: Source) => z.output<Schema>]

export const constantField = <const Value extends string | number | boolean | null>(value: Value) =>
  [always(value), () => value] as const

/** Defines a record of a response by its fields. Returns its schema and its presenter. `Source`: the input of the presenter. */
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
