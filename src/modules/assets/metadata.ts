/**
 * What an asset says of itself, each field once: what is given, read, compared, written, exported and erased is made from these
 * tables, and so are the inputs of both interfaces. How a field is added: `docs/adding-a-field.md`.
 */
import { z } from 'zod'
import { boolean, jsonb, orNull, type SqlType, text } from '../../db/sql.ts'
import { jsonText, trimmedText } from '../../shared/input.ts'

interface Names {
  /** Of `assets`; also its name in REST, and where a commit tells what it changed. */
  column: string
  /** In the asset tree; null when it does not stand there. */
  treeName: string | null
  /** Whether the tree has it though it is empty. */
  isAlwaysInTree?: boolean
  /** For readers of both interfaces. */
  description: string
}

interface FieldOf<Value> extends Names {
  /** How it is sent: as text, as a flag, or as JSON text that is kept as it was sent. */
  kind: 'text' | 'flag' | 'json'
  type: SqlType<Value>
  /** Validates the value in a registration. */
  input: z.ZodType<NonNullable<Value>>
  /** Validates the value in an update. */
  updateInput: z.ZodType<NonNullable<Value>>
  /** What it is until it is given, and once the asset is deleted. */
  empty: Value
  /** Maximum size: bytes of JSON, characters of text. */
  size: number
  /** Maximum size in an update. */
  updateSize: number
}

/** A field of the tables below: of text, of JSON text that may be missing, or a flag. */
export type MetadataField = FieldOf<string> | FieldOf<string | null> | FieldOf<boolean>

const grouped = new Intl.NumberFormat('en-US')

const words = (size: number, { description, ...names }: Names, updateSize = size): FieldOf<string> => {
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

/** Properties of a field with the same rules in registrations and updates. */
const sameInput = <Value>(input: z.ZodType<Value>, size: number) => ({
  input,
  updateInput: input,
  size,
  updateSize: size,
})

const flag = (names: Names): FieldOf<boolean> => ({
  ...names,
  ...{ kind: 'flag', type: boolean, empty: false },
  ...sameInput(z.boolean({ error: 'Expected true or false.' }), 0),
})

const keptJson = (kilobytes: number, { description, ...names }: Names): FieldOf<string | null> => ({
  ...names,
  ...{ kind: 'json', type: orNull(text), empty: null },
  ...sameInput(jsonText(kilobytes * 1024), kilobytes * 1024),
  description: `${description}: JSON text kept as it was sent, at most ${kilobytes} KB.`,
})

/** What registrations give and updates change, in the order of the asset tree. */
export const metadataFields = {
  caption: words(4_000, {
    ...{ column: 'caption', treeName: 'abstract', isAlwaysInTree: true },
    description: 'Brief description',
  }),
  headline: words(
    100,
    { ...{ column: 'headline', treeName: 'headline', isAlwaysInTree: true }, description: 'Title' },
    25,
  ),
  altText: words(1_000, {
    ...{ column: 'alt_text', treeName: 'altText' },
    description: 'Alternative text for accessibility (IPTC), for those who cannot see it',
  }),
  tag: words(255, { column: 'tag', treeName: null, description: 'Tag to find it by' }),
  publicAccess: flag({ column: 'public_access', treeName: null, description: 'Whether everybody may see it.' }),
  signedMetadata: keptJson(32, {
    ...{ column: 'signed_metadata', treeName: null },
    description: 'The metadata that was signed',
  }),
  signature: keptJson(32, { column: 'signature', treeName: null, description: 'Signatures of that metadata' }),
}

/** What comes with a registration and stays as it is. */
export const registrationFields = {
  meta: keptJson(64, { column: 'meta', treeName: null, description: 'What the device recorded with the file' }),
}

/** Custom fields of the asset tree, which are merged by key where the others are replaced. Size in bytes of JSON. */
export const customField = {
  column: 'custom',
  changeName: 'nit_commit_custom',
  size: 10_240,
  description: 'Custom fields of the asset tree',
} as const

/** A field that commits change. */
export type MetadataName = keyof typeof metadataFields
/** A field that only a registration gives. */
export type RegistrationName = keyof typeof registrationFields

type Values<Fields> = { [Name in keyof Fields]: Fields[Name] extends FieldOf<infer Value> ? Value : never }
type Plain = Values<typeof metadataFields>
/** What callers may give, by the names of GraphQL. */
export type GivenValues = Plain & Values<typeof registrationFields>
/** What changes of an asset, by the names that the code and GraphQL have for it. */
export type Metadata = Plain & { custom: Record<string, unknown> }

const entries: [string, MetadataField][] = Object.entries(metadataFields)
const allEntries = [...entries, ...Object.entries<MetadataField>(registrationFields)]

/** Something of each of these fields, by name. `Made` is what `make` makes of each, which the compiler cannot follow. */
export const ofEach = <Made>(
  fields: Readonly<Record<string, MetadataField>>,
  make: (field: MetadataField, name: string) => unknown,
) => Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, make(field, name)])) as Made

/** What an asset is before its first commit. */
export const nothing: Metadata = { ...ofEach<Plain>(metadataFields, ({ empty }) => empty), custom: {} }

/** The metadata of something that has more. */
export const metadataOf = (asset: Plain & { custom: unknown }): Metadata => ({
  ...ofEach<Plain>(metadataFields, (_, name) => asset[name as MetadataName]),
  custom: asset.custom as Metadata['custom'],
})

/** Input rules. */
export type Inputs<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends FieldOf<infer Value>
    ? z.ZodType<NonNullable<Value>, NonNullable<Value>>
    : never
}

/** Input rules of the fields that commits change, for registrations. */
export const metadataInputs = ofEach<Inputs<typeof metadataFields>>(metadataFields, ({ input }) => input)
/** Input rules of the same fields, for updates. */
export const metadataUpdateInputs = ofEach<Inputs<typeof metadataFields>>(
  metadataFields,
  ({ updateInput }) => updateInput,
)
/** Input rules of the fields that only a registration gives. */
export const registrationInputs = ofEach<Inputs<typeof registrationFields>>(registrationFields, ({ input }) => input)

/** What Prisma reads of an asset to have its metadata. */
export const metadataSelection = {
  ...ofEach<Record<MetadataName, true>>(metadataFields, () => true),
  custom: true,
} as const

type Types<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends FieldOf<infer Value> ? SqlType<Value> : never
}
const types = ofEach<Types<typeof metadataFields>>(metadataFields, ({ type }) => type)
const registrationTypes = ofEach<Types<typeof registrationFields>>(registrationFields, ({ type }) => type)

/** Parameters of statements that write metadata, `custom` as JSON text. */
export const metadataParameters = { ...types, custom: text }
/** The same of a registration, which writes the fields that never change, too. */
export const registrationParameters = { ...metadataParameters, ...registrationTypes }
/** What the parameters of a statement that writes metadata are given. */
export const parametersOf = (metadata: Metadata) => ({
  ...metadataOf(metadata),
  custom: JSON.stringify(metadata.custom),
})

const emptySql = ({ empty }: MetadataField) => (typeof empty === 'string' ? `''` : String(empty))

/** Assignments of an update, of what `given` makes of the names in `metadataParameters`. */
export const assignMetadataSql = (given: (name: string) => string) =>
  [...entries.map(([name, { column }]) => `${column} = ${given(name)}`), `custom = ${given('custom')}::jsonb`].join(
    ', ',
  )

/** Columns of an insertion, and their values, with `registrationParameters`. */
export const metadataColumnsSql = [...allEntries.map(([, { column }]) => column), 'custom'].join(', ')
/** The values of those columns, in their order. */
export const metadataValuesSql = [...allEntries.map(([name]) => `$${name}`), '$custom::jsonb'].join(', ')

/** Assignments of a deletion: it leaves nothing of what somebody said. */
export const eraseMetadataSql = [
  ...allEntries.map(([, field]) => `${field.column} = ${emptySql(field)}`),
  `custom = '{}'`,
].join(', ')

/** What an export reads, under the names of the code. */
export const metadataExport = {
  columns: { ...types, ...registrationTypes, custom: jsonb() },
  sql: [...allEntries.map(([name, { column }]) => `${column} as "${name}"`), 'custom'].join(', '),
}
