/**
 * The asset tree: a JSON document with the metadata of an asset at one commit. The document is public and hashed, so the order of its keys
 * must not change.
 */
import { notFound } from '../../shared/errors.ts'
import { customField, type Metadata, type MetadataField, type MetadataName, metadataFields } from './metadata.ts'

/** Content of a tree: the metadata of an asset, its file, and its creator. */
export interface TreeFacts extends Metadata {
  nid: string
  sha256: string
  mimeType: string
  uploadedAt: Date
  creatorName: string
  creatorAddress: string
}

const fields = Object.entries(metadataFields) as [MetadataName, MetadataField][]

/** Tree keys that identify the file. */
export const identifyingKeys = ['assetCid', 'assetSha256', 'encodingFormat', 'assetTimestampCreated'] as const

/** Returns the metadata fields of the tree, by their names in the tree. */
const treeFieldsOf = (metadata: Metadata) =>
  Object.fromEntries(
    fields.flatMap(([name, { treeName, isAlwaysInTree, empty }]) =>
      treeName && (isAlwaysInTree || metadata[name] !== empty) ? [[treeName, metadata[name]]] : [],
    ),
  )

/**
 * Returns the exact text of a tree: `JSON.stringify(tree, null, 2)` with the keys of the public layout first. Custom fields follow them, or replace keys
 * with the same name.
 */
export function writeTree(facts: TreeFacts): string {
  const identity: Record<(typeof identifyingKeys)[number], unknown> = {
    assetCid: facts.nid,
    assetSha256: facts.sha256,
    encodingFormat: facts.mimeType,
    assetTimestampCreated: Math.floor(facts.uploadedAt.getTime() / 1000),
  }
  const description = {
    assetCreator: facts.creatorName,
    creatorWallet: facts.creatorAddress,
    // These keys have no value of their own. They fix the position of custom fields with the same names.
    license: undefined,
    usedBy: undefined,
    ...treeFieldsOf(facts),
  }
  return JSON.stringify({ ...identity, ...description, ...facts.custom, ...identity }, null, 2)
}

/** Parses a tree. Throws NOT_FOUND for an empty text, because an empty text means that the tree was erased. */
export function readTree(text: string): Record<string, unknown> {
  if (text === '') throw notFound('Asset tree')
  return JSON.parse(text) as Record<string, unknown>
}

const ownKeys = new Set<string>([...identifyingKeys, 'assetCreator', 'creatorWallet'])

/**
 * Returns the metadata that is stored in a tree. A custom field can replace one of the tree's own keys. A key is read as a custom field if
 * `isCustom` returns true for it, or if its value has the wrong type. The replaced metadata field is then missing from the result. Throws
 * NOT_FOUND.
 */
export function metadataIn(
  tree: string,
  isCustom: (key: string) => boolean = () => false,
): Partial<Metadata> & Pick<Metadata, 'custom'> {
  const given = readTree(tree)
  const read: Record<string, unknown> = {}
  const isRead = new Set<string>()
  for (const [name, { treeName, input, empty }] of fields) {
    if (treeName === null || isCustom(treeName)) continue
    const value = given[treeName] ?? empty
    if (value !== empty && input.safeParse(value).data !== value) continue
    read[name] = value
    isRead.add(treeName)
  }
  const isOwn = (key: string) => isRead.has(key) || (ownKeys.has(key) && !isCustom(key))
  return { ...read, custom: Object.fromEntries(Object.entries(given).filter(([key]) => !isOwn(key))) }
}

/** Changes of a commit: old and new value by field. */
export type Changes = Record<string, [unknown, unknown]>

/** Merges custom fields by top-level key. A value of null removes the key. */
export function mergeCustom(old: Record<string, unknown>, given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...old, ...given }).filter(([, value]) => value !== null))
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const isEqual = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
}

/** Returns the differing fields as `{field: [old, new]}`, by their REST names. Custom fields contain only the differing keys. */
export function compare(before: Metadata, after: Metadata): Changes {
  const changes: Changes = {}
  for (const [name, { column }] of fields) {
    if (before[name] !== after[name]) changes[column] = [before[name], after[name]]
  }
  const keys = [...new Set([...Object.keys(before.custom), ...Object.keys(after.custom)])]
  const isInBoth = (key: string) => Object.hasOwn(before.custom, key) && Object.hasOwn(after.custom, key)
  const differingKeys = keys.filter((key) => !(isInBoth(key) && isEqual(before.custom[key], after.custom[key])))
  if (differingKeys.length) {
    const pick = (from: Record<string, unknown>) =>
      Object.fromEntries(differingKeys.filter((key) => Object.hasOwn(from, key)).map((key) => [key, from[key]]))
    changes[customField.changeName] = [pick(before.custom), pick(after.custom)]
  }
  return changes
}
