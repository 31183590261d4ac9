/** The asset tree: the JSON document of an asset's metadata at one commit. Its bytes are public and hashed; the order of keys counts. */
export interface TreeFacts {
  nid: string
  sha256: string
  mimeType: string
  uploadedAt: Date
  creatorName: string
  creatorAddress: string
  caption: string
  headline: string
  custom: Record<string, unknown>
}

/** What says which file a tree is about. */
export const identifyingKeys = ['assetCid', 'assetSha256', 'encodingFormat', 'assetTimestampCreated'] as const

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
    abstract: facts.caption,
    headline: facts.headline,
  }
  return JSON.stringify({ ...identity, ...description, ...facts.custom, ...identity }, null, 2)
}

/** What a commit may change of an asset, by column, and the name the interface has for it. */
const names = {
  caption: 'caption',
  headline: 'headline',
  tag: 'tag',
  publicAccess: 'public_access',
  signedMetadata: 'signed_metadata',
  signature: 'signature',
} as const

export interface Metadata {
  caption: string
  headline: string
  tag: string
  publicAccess: boolean
  custom: Record<string, unknown>
  signedMetadata: string | null
  signature: string | null
}

export type Changes = Record<string, [unknown, unknown]>

/** Sets and replaces top-level keys; a key given as null goes. */
export function mergeCustom(old: Record<string, unknown>, given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...old, ...given }).filter(([, value]) => value !== null))
}

const same = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && same((a as never)[key], (b as never)[key]))
  )
}

/** `{field: [old, new]}` of what differs, by the interface's names; of the custom fields only the keys that differ. */
export function compare(before: Metadata, after: Metadata): Changes {
  const changes: Changes = {}
  for (const [field, name] of Object.entries(names) as [keyof typeof names, string][]) {
    if (before[field] !== after[field]) changes[name] = [before[field], after[field]]
  }
  const keys = [...new Set([...Object.keys(before.custom), ...Object.keys(after.custom)])]
  const differing = keys.filter((key) => !same(before.custom[key], after.custom[key]))
  if (differing.length) {
    const pick = (from: Record<string, unknown>) =>
      Object.fromEntries(differing.filter((key) => key in from).map((key) => [key, from[key]]))
    changes.nit_commit_custom = [pick(before.custom), pick(after.custom)]
  }
  return changes
}

/** What an asset is before its first commit. */
export const nothing: Metadata = {
  caption: '',
  headline: '',
  tag: '',
  publicAccess: false,
  custom: {},
  signedMetadata: null,
  signature: null,
}
