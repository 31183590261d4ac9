/**
 * Definitions of the metadata fields of assets. Inputs, reads, comparisons, writes, exports and deletions of both APIs are derived from
 * these tables. `docs/adding-a-field.md` explains how to add a field.
 */
import { z } from 'zod'
import { boolean, jsonb, orNull, type SqlType, text } from '../../db/sql.ts'
import { jsonText, trimmedText } from '../../shared/input.ts'

interface Names<Column extends string = string> {
  /** Column in `assets`. Also its name in REST and in the changes of commits. */
  column: Column
  /** Name in the asset tree. Null if it is not in the tree. */
  treeName: string | null
  /** True if the tree contains the field even if it is empty. */
  isAlwaysInTree?: boolean
  /** Description in both APIs. */
  description: string
}

interface FieldOf<Value, Column extends string = string> extends Names<Column> {
  /** Input type: text, a flag, or JSON text that is stored unchanged. */
  kind: 'text' | 'flag' | 'json'
  type: SqlType<Value>
  /** Validates the value in a registration. */
  input: z.ZodType<NonNullable<Value>>
  /** Validates the value in an update. */
  updateInput: z.ZodType<NonNullable<Value>>
  /** Value of a field that was never set or was erased by deletion. */
  empty: Value
  /** Maximum size: in bytes for JSON, in characters for text. */
  size: number
  /** Maximum size in an update. */
  updateSize: number
}

export type MetadataField = FieldOf<string> | FieldOf<string | null> | FieldOf<boolean>

const grouped = new Intl.NumberFormat('en-US')

const textField = <const Column extends string>(
  size: number,
  { description, ...names }: Names<Column>,
  updateSize = size,
): FieldOf<string, Column> => {
  const limit = `at most ${grouped.format(size)} characters`
  return {
    ...names,
    ...{ kind: 'text', type: text, empty: '', size, updateSize },
    ...{ input: trimmedText(size), updateInput: trimmedText(updateSize) },
    description:
      updateSize === size
        ? `${description}, ${limit}.`
        : `${description}, ${limit} in a registration and ${updateSize} in an update.`,
  }
}

/** Properties of a field that has the same rules in registrations and updates. */
const sameInput = <Value>(input: z.ZodType<Value>, size: number) => ({
  input,
  updateInput: input,
  size,
  updateSize: size,
})

const flag = <const Column extends string>(names: Names<Column>): FieldOf<boolean, Column> => ({
  ...names,
  ...{ kind: 'flag', type: boolean, empty: false },
  ...sameInput(z.boolean({ error: 'Expected true or false.' }), 0),
})

const rawJson = <const Column extends string>(
  kilobytes: number,
  { description, ...names }: Names<Column>,
): FieldOf<string | null, Column> => ({
  ...names,
  ...{ kind: 'json', type: orNull(text), empty: null },
  ...sameInput(jsonText(kilobytes * 1024), kilobytes * 1024),
  description: `${description}: JSON text, stored unchanged, at most ${kilobytes} KB.`,
})

/** Fields of registrations and updates, in the order of the asset tree. */
export const metadataFields = {
  caption: textField(4_000, {
    ...{ column: 'caption', treeName: 'abstract', isAlwaysInTree: true },
    description: 'Brief description',
  }),
  headline: textField(
    100,
    { ...{ column: 'headline', treeName: 'headline', isAlwaysInTree: true }, description: 'Title' },
    25,
  ),
  altText: textField(1_000, {
    ...{ column: 'alt_text', treeName: 'altText' },
    description: 'Alternative text for accessibility (IPTC)',
  }),
  tag: textField(255, { column: 'tag', treeName: null, description: 'Tag for filters' }),
  publicAccess: flag({ column: 'public_access', treeName: null, description: 'Whether anyone may see the asset.' }),
  signedMetadata: rawJson(32, { ...{ column: 'signed_metadata', treeName: null }, description: 'The signed metadata' }),
  signature: rawJson(32, { column: 'signature', treeName: null, description: 'Signatures of the signed metadata' }),
}

/** Fields that are set at registration and never change. */
export const registrationFields = {
  meta: rawJson(64, { column: 'meta', treeName: null, description: 'Data that the device recorded with the file' }),
}

/** Custom fields of the asset tree, which updates merge by key. Size in bytes of JSON. */
export const customField = {
  column: 'custom',
  changeName: 'nit_commit_custom',
  size: 10_240,
  description: 'Custom fields of the asset tree',
} as const

export type MetadataName = keyof typeof metadataFields
/** Key of a field in the changes of a commit, except `customField.changeName`. */
export type ChangeKey = (typeof metadataFields)[MetadataName]['column']
export type RegistrationName = keyof typeof registrationFields

type Values<Fields> = { [Name in keyof Fields]: Fields[Name] extends FieldOf<infer Value> ? Value : never }
type Plain = Values<typeof metadataFields>
/** Values that callers can send, by their GraphQL names. */
export type GivenValues = Plain & Values<typeof registrationFields>
/** Metadata that commits change, by their GraphQL names. */
export type Metadata = Plain & { custom: Record<string, unknown> }

const entries: [string, MetadataField][] = Object.entries(metadataFields)
const allEntries = [...entries, ...Object.entries<MetadataField>(registrationFields)]

/** Maps metadata fields to values, by field name. The compiler cannot infer the result type, so the caller must specify it. */
export const mapFields = <Result>(
  fields: Readonly<Record<string, MetadataField>>,
  toValue: (field: MetadataField, name: string) => unknown,
) => Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toValue(field, name)])) as Result

/** Metadata of an asset before its first commit. */
export const emptyMetadata: Metadata = { ...mapFields<Plain>(metadataFields, ({ empty }) => empty), custom: {} }

/** Returns the metadata of an asset. */
export const metadataOf = (asset: Plain & { custom: unknown }): Metadata => ({
  ...mapFields<Plain>(metadataFields, (_, name) => asset[name as MetadataName]),
  custom: asset.custom as Metadata['custom'],
})

export type Inputs<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends FieldOf<infer Value>
    ? z.ZodType<NonNullable<Value>, NonNullable<Value>>
    : never
}

/** Input schemas of registrations. */
export const metadataInputs = mapFields<Inputs<typeof metadataFields>>(metadataFields, ({ input }) => input)
/** Input schemas of updates. */
export const metadataUpdateInputs = mapFields<Inputs<typeof metadataFields>>(
  metadataFields,
  ({ updateInput }) => updateInput,
)
/** Input schemas of the fields that never change. */
export const registrationInputs = mapFields<Inputs<typeof registrationFields>>(registrationFields, ({ input }) => input)

/** Prisma selection of the metadata. */
export const metadataSelection = {
  ...mapFields<Record<MetadataName, true>>(metadataFields, () => true),
  custom: true,
} as const

type Types<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends FieldOf<infer Value> ? SqlType<Value> : never
}
const types = mapFields<Types<typeof metadataFields>>(metadataFields, ({ type }) => type)
const registrationTypes = mapFields<Types<typeof registrationFields>>(registrationFields, ({ type }) => type)

/** Statement parameters of the metadata. `custom` is JSON text. */
export const metadataParameters = { ...types, custom: text }
/** Statement parameters of a registration. */
export const registrationParameters = { ...metadataParameters, ...registrationTypes }
/** Returns the values of `metadataParameters`. */
export const metadataParams = (metadata: Metadata) => ({
  ...metadataOf(metadata),
  custom: JSON.stringify(metadata.custom),
})

const emptySql = ({ empty }: MetadataField) => (typeof empty === 'string' ? `''` : String(empty))

/** SQL assignments of an update. `valueSql` returns the SQL expression of a parameter. */
export const assignMetadataSql = (valueSql: (name: string) => string) =>
  [
    ...entries.map(([name, { column }]) => `${column} = ${valueSql(name)}`),
    `custom = ${valueSql('custom')}::jsonb`,
  ].join(', ')

/** SQL columns of an insert with `registrationParameters`. */
export const metadataColumnsSql = [...allEntries.map(([, { column }]) => column), 'custom'].join(', ')
/** SQL values for the columns in `metadataColumnsSql`. */
export const metadataValuesSql = [...allEntries.map(([name]) => `$${name}`), '$custom::jsonb'].join(', ')

/** SQL assignments that erase all metadata when an asset is deleted. */
export const eraseMetadataSql = [
  ...allEntries.map(([, field]) => `${field.column} = ${emptySql(field)}`),
  `custom = '{}'`,
].join(', ')

/** Columns of the data export. */
export const metadataExport = { ...types, ...registrationTypes, custom: jsonb() }
