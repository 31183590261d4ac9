/**
 * Values of bodies and answers as JSON has them, for the schemas of routes. An answer's schema reads from JSON to what its
 * presenter gives: `z.input` is what is sent, `z.output` what a presenter returns.
 */
import { z } from 'zod'
import type { MetadataField } from '../../modules/assets/metadata.ts'
import { AMOUNT } from '../../shared/money.ts'

/**
 * The same as a field of the GraphQL schema, by its coordinate (`Order.price`), whose description is told of it: what a field
 * means is said once.
 */
export const same = <Schema extends z.ZodType>(coordinate: string, schema: Schema): Schema =>
  schema.meta({ ...schema.meta(), same: coordinate })

/** A moment: JSON makes text of what presenters give. */
export const moment = z.iso.datetime().transform((text): Date | string => text)

/** Money as it is answered; negative where it was taken. */
export const amount = z.string().regex(/^-?\d+(\.\d+)?$/)

/** An object whose keys nobody but its sender knows. */
export const anyObject = z.record(z.string(), z.unknown())

/** What is not there; answered because readers touch it unguarded. */
export const always = <const Value extends string | number | boolean | null>(value: Value) =>
  z.literal(value).describe('Always so: kept for readers that expect it.')

/** An address of this service or of another one. */
export const url = z.string().meta({ format: 'uri' })

/** Money as it is sent. */
export const givenAmount = z
  .string()
  .regex(AMOUNT)
  .meta({ examples: ['0.5'] })

/** A flag in a request. The service also reads words such as `True` and `1`; generators have no type for that. */
export const givenFlag = z.boolean()

const jsonText = z.string().meta({ contentMediaType: 'application/json' })
/** An object as it is sent: as JSON, or as text of it where a form has no other way. */
export const givenObject = z.union([anyObject, jsonText])
/** JSON that is kept as text: best sent as text, which stays as it is to the byte. */
const givenJson = z.union([jsonText, anyObject, z.array(z.unknown())])
/** A list as it is sent: as JSON, or as text of it. */
export const givenList = <Item extends z.ZodType>(item: Item) => z.union([z.array(item), jsonText])
/** The bytes of a file, as a response body. Without a schema, generators return nothing. */
export const fileBytes = z.file()
/** A file in a form. */
export const givenFile = z.file()
/** A picture; null and empty text remove it. */
export const givenPicture = z.union([givenFile, z.literal('')]).nullable()

/** Text that is sent, at most so many characters. */
export const givenText = (max?: number) => (max === undefined ? z.string() : z.string().max(max))

/** Text that has to be sent and may not be empty, at most so many characters. */
export const neededText = (max?: number) => givenText(max).min(1)
/** An e-mail address as it is sent. */
export const givenEmail = neededText(254).meta({ format: 'email' })
/** The password of the account, of which nothing is told but whether it is the right one. */
export const presentPassword = neededText(256).meta({ format: 'password' })
/** A password to be set. */
export const newPassword = z.string().min(8).max(32).meta({ format: 'password' })

/** A field of an asset's metadata in a request body. `limit` names the maximum size that applies. */
export function givenMetadata({ kind, description, ...sizes }: MetadataField, limit: 'size' | 'updateSize') {
  const schema = { text: givenText(sizes[limit]), flag: givenFlag, json: givenJson }[kind]
  return schema.describe(description)
}

/** A text of an asset's metadata as it is answered. */
export const metadataText = ({ description }: MetadataField) => z.string().describe(description)
/** A flag of an asset's metadata as it is answered. */
export const metadataFlag = ({ description }: MetadataField) => z.boolean().describe(description)

/** The answer of a route that sends no body. */
export const nothing = z.undefined()

/** A word of an enumeration as REST writes it. */
export const lowerCase = <Word extends string>(word: Word) => word.toLowerCase() as Lowercase<Word>

const idOf = (what: string, prefix: string) =>
  z.object({ id: z.string().describe(`Identifier of the ${what}, as in \`${prefix}_01h2x…\`.`) })

/** The nid of an asset, in any form of a CID. */
export const nidParam = z.object({
  nid: z
    .string()
    .describe(
      'The nid of the asset: the CID of the file’s bytes. Any multibase, version 0 and `ipfs://…` are accepted.',
    ),
})
/** An order. */
export const orderParam = idOf('order', 'order')
/** A withdrawal. */
export const withdrawalParam = idOf('withdrawal', 'withdrawal')
/** A network app. */
export const networkAppParam = idOf('network app', 'app')
/** An API key. */
export const apiKeyParam = idOf('API key', 'key')
/** A session. */
export const sessionParam = idOf('session', 'session')
/** A link to the page of an asset. */
export const assetLinkParam = idOf('link', 'link')
/** An account: by identifier, e-mail address or username. */
export const userParam = z.object({ id: z.string().describe('Identifier, e-mail address or username of the user.') })
/** A webhook delivery. */
export const deliveryParam = idOf('webhook delivery', 'delivery')
