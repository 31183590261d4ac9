/** Metadata of assets: fields, custom fields, and the asset tree. See `docs/adding-a-field.md`. */
import { z } from 'zod'
import { boolean, orNull, type SqlType, text } from '../../db/sql.ts'
import { notFound } from '../../shared/errors.ts'
import { jsonObject, jsonText, trimmedText } from '../../shared/input.ts'
import { MAX_FILE_NAME_LENGTH } from '../../shared/text.ts'

interface FieldOf<Value, Column extends string = string> {
  /** Column in `assets`. The field has the same name in REST and in the changes of commits. */
  column: Column
  description: string
  /** Name of the field in the asset tree. Null if the tree does not contain the field. */
  treeName: string | null
  /** True if the asset tree contains the field even if the field is empty. */
  isAlwaysInTree?: boolean
  /** `json`: JSON text that is stored unchanged. */
  kind: 'text' | 'flag' | 'json'
  type: SqlType<Value>
  input: z.ZodType<NonNullable<Value>>
  updateInput: z.ZodType<NonNullable<Value>>
  /** Value of a field that was never set or was erased by deletion. */
  empty: Value
  /** Maximum size: in bytes for JSON, in characters for text. */
  size: number
  updateSize: number
}

export type MetadataField = FieldOf<string> | FieldOf<string | null> | FieldOf<boolean>

function textField<const Column extends string>(
  column: Column,
  name: string,
  size: number,
  options: Partial<Pick<FieldOf<string>, 'treeName' | 'isAlwaysInTree' | 'updateSize'>> = {},
) {
  const { treeName = null, isAlwaysInTree = false, updateSize = size } = options
  const limit = `at most ${size.toLocaleString('en-US')} characters`
  const limits = updateSize === size ? limit : `${limit} in a registration and ${updateSize} in an update`
  return {
    ...{ column, description: `${name}, ${limits}.`, treeName, isAlwaysInTree, size, updateSize },
    ...{ kind: 'text', type: text, empty: '', input: trimmedText(size), updateInput: trimmedText(updateSize) },
  } satisfies MetadataField as FieldOf<string, Column>
}

function flag<const Column extends string>(column: Column, description: string): FieldOf<boolean, Column> {
  const input = z.boolean({ error: 'Expected true or false.' })
  const shared = { treeName: null, kind: 'flag', type: boolean, empty: false, size: 0, updateSize: 0 } as const
  return { column, description, ...shared, input, updateInput: input }
}

function rawJson<const Column extends string>(column: Column, name: string, kilobytes: number) {
  const size = kilobytes * 1024
  const input = jsonText(size)
  return {
    ...{ column, description: `${name}: JSON text, stored unchanged, at most ${kilobytes} KB.`, treeName: null },
    ...{ kind: 'json', type: orNull(text), empty: null, input, updateInput: input, size, updateSize: size },
  } satisfies MetadataField as FieldOf<string | null, Column>
}

/** Fields of registrations and updates, in the order of the asset tree. */
export const metadataFields = {
  caption: textField('caption', 'Brief description', 4_000, { treeName: 'abstract', isAlwaysInTree: true }),
  headline: textField('headline', 'Title', 100, { treeName: 'headline', isAlwaysInTree: true, updateSize: 25 }),
  altText: textField('alt_text', 'Alternative text for accessibility (IPTC)', 1_000, { treeName: 'altText' }),
  tag: textField('tag', 'Tag for filters', 255),
  publicAccess: flag('public_access', 'True if anyone may see the asset.'),
  signedMetadata: rawJson('signed_metadata', 'The signed metadata', 32),
  signature: rawJson('signature', 'Signatures of the signed metadata', 32),
}

export const registrationFields = { meta: rawJson('meta', 'Data that the device recorded with the file', 64) }

/** Custom fields of the asset tree, which updates merge by key. `size`: maximum size of the JSON, in bytes. */
export const customField = {
  changeName: 'nit_commit_custom',
  size: 10_240,
  description: 'Custom fields of the asset tree',
}

export type MetadataName = keyof typeof metadataFields
/** Key of a field in the changes of a commit, except `customField.changeName`. */
export type ChangeKey = (typeof metadataFields)[MetadataName]['column']

type Values<Fields> = { [Name in keyof Fields]: Fields[Name] extends FieldOf<infer Value> ? Value : never }
type Plain = Values<typeof metadataFields>
export type GivenValues = Plain & Values<typeof registrationFields>
/** Metadata that commits change, by their GraphQL names. */
export type Metadata = Plain & { custom: Record<string, unknown> }

const entries: [string, MetadataField][] = Object.entries(metadataFields)
const allEntries = [...entries, ...Object.entries<MetadataField>(registrationFields)]
export const treeFields = Object.fromEntries(entries.filter(([, { treeName }]) => treeName !== null))

/** The caller must specify the result type. */
export const mapFields = <Result>(
  fields: Readonly<Record<string, MetadataField>>,
  toValue: (field: MetadataField, name: string) => unknown,
) => Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toValue(field, name)])) as Result

export const emptyMetadata: Metadata = { ...mapFields<Plain>(metadataFields, ({ empty }) => empty), custom: {} }

export const metadataOf = (asset: Plain & { custom: unknown }): Metadata => ({
  ...mapFields<Plain>(metadataFields, (_, name) => asset[name as MetadataName]),
  custom: asset.custom as Metadata['custom'],
})

export const metadataSelection = {
  ...mapFields<Record<MetadataName, true>>(metadataFields, () => true),
  custom: true,
} as const

type Inputs<Fields> = { [Name in keyof Values<Fields>]: ZodOf<NonNullable<Values<Fields>[Name]>> }
type ZodOf<Value> = z.ZodType<Value, Value>

export const identifyingKeys = ['assetCid', 'assetSha256', 'encodingFormat', 'assetTimestampCreated'] as const
const reservedKeys = new Set<string>(identifyingKeys)
const reservedSpellings = new Set(identifyingKeys.map((key) => key.toUpperCase()))

/** The check ignores case, because case-insensitive JSON parsers would read the custom field instead. Null removes it. */
const isReserved = (key: string, value: unknown) =>
  reservedKeys.has(key) || (value !== null && reservedSpellings.has(key.toUpperCase()))

export const customFits = (custom: unknown) => Buffer.byteLength(JSON.stringify(custom)) <= customField.size
export const tooLargeCustom = 'Ensure this field has no more than 10 KB.'

export const inputLengths = { commitMessage: 1_000, mimeType: 255, fileName: MAX_FILE_NAME_LENGTH } as const

export const commitInputs = {
  nitCommitCustom: jsonObject
    .refine(customFits, tooLargeCustom)
    .refine(
      (value) => !Object.entries(value).some(([key, each]) => key === '' || isReserved(key, each)),
      `Keys may not be empty or, in any case, one of: ${identifyingKeys.join(', ')}.`,
    ),
  commitMessage: trimmedText(inputLengths.commitMessage),
}
export const registrationInputs = {
  ...mapFields<Inputs<typeof metadataFields>>(metadataFields, ({ input }) => input),
  ...mapFields<Inputs<typeof registrationFields>>(registrationFields, ({ input }) => input),
  ...commitInputs,
}
export const updateInputs = {
  ...mapFields<Inputs<typeof metadataFields>>(metadataFields, ({ updateInput }) => updateInput),
  ...commitInputs,
}

type Types<Values> = { [Name in keyof Values]: SqlType<Values[Name]> }

/** Statement parameters of the metadata. `custom` is JSON text. */
export const metadataParameters = { ...mapFields<Types<Plain>>(metadataFields, ({ type }) => type), custom: text }
export const registrationParameters = { ...metadataParameters, meta: registrationFields.meta.type }
export const metadataParams = (metadata: Metadata) => ({
  ...metadataOf(metadata),
  custom: JSON.stringify(metadata.custom),
})

/** `valueSql`: returns the SQL expression of a parameter. */
export const assignMetadataSql = (valueSql: (name: string) => string) =>
  [
    ...entries.map(([name, { column }]) => `${column} = ${valueSql(name)}`),
    `custom = ${valueSql('custom')}::jsonb`,
  ].join(', ')

export const metadataColumnsSql = [...allEntries.map(([, { column }]) => column), 'custom'].join(', ')
export const metadataValuesSql = [...allEntries.map(([name]) => `$${name}`), '$custom::jsonb'].join(', ')

export const eraseMetadataSql = [
  ...allEntries.map(([, { column, empty }]) => `${column} = ${empty === '' ? `''` : String(empty)}`),
  `custom = '{}'`,
].join(', ')

export interface TreeFacts extends Metadata {
  nid: string
  sha256: string
  mimeType: string
  uploadedAt: Date
  creatorName: string
  creatorAddress: string
}

/** Returns the text of a tree. The text is hashed, so the order of its keys must not change. */
export function writeTree(facts: TreeFacts): string {
  const assetTimestampCreated = Math.floor(facts.uploadedAt.getTime() / 1000)
  const { nid: assetCid, sha256: assetSha256, mimeType: encodingFormat } = facts
  const identity = { assetCid, assetSha256, encodingFormat, assetTimestampCreated }
  const treeFields = entries.flatMap(([name, { treeName, isAlwaysInTree, empty }]) => {
    const value = facts[name as MetadataName]
    return treeName && (isAlwaysInTree || value !== empty) ? [[treeName, value] as const] : []
  })
  const description = {
    ...{ assetCreator: facts.creatorName, creatorWallet: facts.creatorAddress },
    // These keys have no value of their own. They fix the position of custom fields with the same names.
    ...{ license: undefined, usedBy: undefined },
    ...Object.fromEntries(treeFields),
  }
  return JSON.stringify({ ...identity, ...description, ...facts.custom, ...identity }, null, 2)
}

/** Parses a tree. Throws NOT_FOUND for an erased tree, whose text is empty. */
export function readTree(text: string): Record<string, unknown> {
  if (text === '') throw notFound('Asset tree')
  return JSON.parse(text) as Record<string, unknown>
}

const ownKeys = new Set<string>([...identifyingKeys, 'assetCreator', 'creatorWallet'])

/**
 * Returns the metadata in a tree. A key is a custom field if `isCustom` returns true for it, or if its value has the
 * wrong type. The result then lacks the metadata field of that name. Throws NOT_FOUND.
 */
export function metadataIn(
  tree: string,
  isCustom: (key: string) => boolean = () => false,
): Partial<Metadata> & Pick<Metadata, 'custom'> {
  const given = readTree(tree)
  const read: Record<string, unknown> = {}
  const isRead = new Set<string>()
  for (const [name, { treeName, input, empty }] of entries) {
    if (treeName === null || isCustom(treeName)) continue
    const value = given[treeName] ?? empty
    if (value !== empty && input.safeParse(value).data !== value) continue
    read[name] = value
    isRead.add(treeName)
  }
  const isOwn = (key: string) => isRead.has(key) || (ownKeys.has(key) && !isCustom(key))
  return { ...read, custom: Object.fromEntries(Object.entries(given).filter(([key]) => !isOwn(key))) }
}

export type Changes = Record<string, [old: unknown, new: unknown]>

export const mergeCustom = (old: Metadata['custom'], given: Metadata['custom']): Metadata['custom'] =>
  Object.fromEntries(Object.entries({ ...old, ...given }).filter(([, value]) => value !== null))

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Compares JSON values. Treats 0 and -0 as equal, because JSON text does not distinguish them. */
const isEqual = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
}

/** Returns the differing fields by their REST names. */
export function compare(before: Metadata, after: Metadata): Changes {
  const changes: Changes = {}
  for (const [name, { column }] of entries) {
    const [old, now] = [before[name as MetadataName], after[name as MetadataName]]
    if (old !== now) changes[column] = [old, now]
  }
  const differingIn = (from: Metadata['custom'], other: Metadata['custom']) =>
    Object.fromEntries(
      Object.entries(from).filter(([key, value]) => !Object.hasOwn(other, key) || !isEqual(value, other[key])),
    )
  const custom = [differingIn(before.custom, after.custom), differingIn(after.custom, before.custom)] as const
  if (custom.some((values) => Object.keys(values).length > 0)) changes[customField.changeName] = [...custom]
  return changes
}

const kinds = ['image', 'video', 'audio'] as const
/** Top-level type of a media type. `file` means any other type. */
export type MediaKind = (typeof kinds)[number] | 'file'

export const mediaKindOf = (mediaType: string): MediaKind =>
  kinds.find((kind) => mediaType.trim().toLowerCase().startsWith(`${kind}/`)) ?? 'file'
