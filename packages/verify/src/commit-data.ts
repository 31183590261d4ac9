/** Formats of the commit text and of the asset tree (docs/reference/chain-format.md). */

/** Data of a commit. */
export interface CommitData {
  assetTreeCid: string
  /** 64 lowercase hexadecimal digits. */
  assetTreeSha256: string
  /** EIP-191 signature of `assetTreeSha256` as text. */
  assetTreeSignature: string | null
  /** Address of the asset's creator. */
  author: string
  /** Address of the account that made the commit and signed the tree. */
  committer: string
  provider: string
  /** Unix seconds. */
  timestampCreated: number
  action: string
  actionResult: string
  actionName: string
  abstract: string
}

const TEXTS = [
  ...(['assetTreeCid', 'assetTreeSha256', 'author', 'committer', 'provider', 'action', 'actionResult'] as const),
  ...(['actionName', 'abstract'] as const),
]

/** Action name of a registration, the first commit of an asset. */
export const REGISTRATION = 'action-initial-registration'
/** Action name of all later commits. */
export const CHANGE = 'action-commit'

/** Parses the text of a log. Returns undefined for another format, because anyone can write any text to the registry. */
export function parseCommitData(text: string): CommitData | undefined {
  const data = parseObject(text)
  if (!data || !TEXTS.every((name) => typeof data[name] === 'string')) return undefined
  if (!Number.isSafeInteger(data.timestampCreated)) return undefined
  if (data.assetTreeSignature !== null && typeof data.assetTreeSignature !== 'string') return undefined
  if (data.actionName !== REGISTRATION && data.actionName !== CHANGE) return undefined
  const { assetTreeSignature, timestampCreated } = data
  const texts = Object.fromEntries(TEXTS.map((name) => [name, data[name]]))
  return { ...texts, assetTreeSignature, timestampCreated } as CommitData
}

/** An asset tree. These fields identify the file. Other fields are allowed. */
export interface Tree {
  assetCid: string
  /** 64 lowercase hexadecimal digits. */
  assetSha256: string
  [field: string]: unknown
}

/** Maximum nesting depth of a tree. Deeper ones could overflow the stack when they are compared. */
const MOST_LEVELS = 100

const isDeeperThan = (levels: number, value: unknown): boolean =>
  isObject(value) && (levels === 0 || Object.values(value).some((each) => isDeeperThan(levels - 1, each)))

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Parses a tree. Returns undefined if its format is unknown. */
export function parseTree(bytes: Uint8Array): Tree | undefined {
  const tree = parseObject(Buffer.from(bytes).toString())
  if (isDeeperThan(MOST_LEVELS, tree)) return undefined
  if (typeof tree?.assetCid !== 'string' || typeof tree.assetSha256 !== 'string') return undefined
  return typeof tree.assetTimestampCreated === 'number' ? (tree as Tree) : undefined
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Changes of a commit by field: the old and the new value. A missing value is undefined. */
export type Changes = Record<string, [unknown, unknown]>

/** Returns the top-level fields that differ between two trees. The order of keys does not matter. */
export function compareTrees(before: Tree, after: Tree): Changes {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  // Use own properties only: a field may be called `constructor`.
  const read = (tree: Tree, field: string) => (Object.hasOwn(tree, field) ? tree[field] : undefined)
  const pairs = fields.map((field): [string, [unknown, unknown]] => [field, [read(before, field), read(after, field)]])
  return Object.fromEntries(pairs.filter(([, [old, now]]) => !isSame(old, now)))
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]))
}
