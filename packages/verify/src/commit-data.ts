/** The text of a commit, and the tree that it names: their layouts are public (docs/chain.md). */

/** What a commit says. */
export interface CommitData {
  assetTreeCid: string
  /** 64 lowercase hexadecimal digits. */
  assetTreeSha256: string
  /** EIP-191 signature of `assetTreeSha256` as text. */
  assetTreeSignature: string | null
  /** Address of the asset's creator. */
  author: string
  /** Address of who made the commit and signed the tree. */
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

/** The name of the action that begins the history of an asset. */
export const REGISTRATION = 'action-initial-registration'
/** The name of the action that goes on with it. */
export const CHANGE = 'action-commit'

/** What stands in a log, or undefined when somebody wrote something else there: the registry takes any text from anyone. */
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

/** An asset tree: these say which file it is about, and anything may stand beside them. */
export interface Tree {
  assetCid: string
  /** 64 lowercase hexadecimal digits. */
  assetSha256: string
  [field: string]: unknown
}

/** Levels of objects and lists in a tree: somebody else's may have more than can be compared. */
const MOST_LEVELS = 100

const isDeeperThan = (levels: number, value: unknown): boolean =>
  isObject(value) && (levels === 0 || Object.values(value).some((each) => isDeeperThan(levels - 1, each)))

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** A tree from its bytes; undefined when they are not in the known layout. */
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

/** What a commit changed, by the field of the tree: what it was and what it became; undefined where there was or is nothing. */
export type Changes = Record<string, [unknown, unknown]>

/** What differs between two trees, by their top-level fields; the order of keys is no difference. */
export function compareTrees(before: Tree, after: Tree): Changes {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  // A field may have a name that every object has.
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
