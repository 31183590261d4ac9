/** The asset tree: the JSON document of an asset's metadata at one commit. Its bytes are public and hashed; the order of keys counts. */
import { notFound } from '../../shared/errors.ts'
import { customField, type Metadata, type MetadataField, type MetadataName, metadataFields } from './metadata.ts'

/** All that a tree is written from: the asset's metadata, its file, and who registered it. */
export interface TreeFacts extends Metadata {
  nid: string
  sha256: string
  mimeType: string
  uploadedAt: Date
  creatorName: string
  creatorAddress: string
}

const fields = Object.entries(metadataFields) as [MetadataName, MetadataField][]

/** What says which file a tree is about. */
export const identifyingKeys = ['assetCid', 'assetSha256', 'encodingFormat', 'assetTimestampCreated'] as const

/** The fields that the tree has, by their names there. */
const describe = (metadata: Metadata) =>
  Object.fromEntries(
    fields.flatMap(([name, { treeName, isAlwaysInTree, empty }]) =>
      treeName && (isAlwaysInTree || metadata[name] !== empty) ? [[treeName, metadata[name]]] : [],
    ),
  )

/**
 * The exact bytes, as text: `JSON.stringify(tree, null, 2)` with the public layout's keys first. Custom fields stand beside
 * them, or in their place where they have the same name: what describes an asset is its owner's word.
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
    // Their place, should they be given.
    license: undefined,
    usedBy: undefined,
    ...describe(facts),
  }
  return JSON.stringify({ ...identity, ...description, ...facts.custom, ...identity }, null, 2)
}

/** A tree from its text, which is empty once it was erased. Raises NOT_FOUND. */
export function readTree(text: string): Record<string, unknown> {
  if (text === '') throw notFound('Asset tree')
  return JSON.parse(text) as Record<string, unknown>
}

const ownKeys = new Set<string>([...identifyingKeys, 'assetCreator', 'creatorWallet'])

/**
 * Returns the metadata that a tree holds. Custom fields can replace the tree's own keys. Such a key is read as a custom field if `isCustom`
 * says so or its field cannot hold the value, and its field is left out then. Raises NOT_FOUND.
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

/** What a commit changed: by field, what it was and what it became. */
export type Changes = Record<string, [unknown, unknown]>

/** Sets and replaces top-level keys; a key given as null goes. */
export function mergeCustom(old: Record<string, unknown>, given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...old, ...given }).filter(([, value]) => value !== null))
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const same = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]))
}

/** `{field: [old, new]}` of what differs, by the names that REST has; of the custom fields only the keys that differ. */
export function compare(before: Metadata, after: Metadata): Changes {
  const changes: Changes = {}
  for (const [name, { column }] of fields) {
    if (before[name] !== after[name]) changes[column] = [before[name], after[name]]
  }
  const keys = [...new Set([...Object.keys(before.custom), ...Object.keys(after.custom)])]
  const isInBoth = (key: string) => Object.hasOwn(before.custom, key) && Object.hasOwn(after.custom, key)
  const differing = keys.filter((key) => !(isInBoth(key) && same(before.custom[key], after.custom[key])))
  if (differing.length) {
    const pick = (from: Record<string, unknown>) =>
      Object.fromEntries(differing.filter((key) => Object.hasOwn(from, key)).map((key) => [key, from[key]]))
    changes[customField.changeName] = [pick(before.custom), pick(after.custom)]
  }
  return changes
}
