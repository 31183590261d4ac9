/** Commit data on the chain. The layout is a public format that third parties read. */
import type { ContentStore } from '../../files/file-types.ts'

const actionDescriptions = {
  'action-initial-registration': 'A file was registered, and its first asset tree written.',
  'action-commit': "A registered asset's metadata was changed, and a new asset tree written.",
} as const
type ActionName = keyof typeof actionDescriptions

/** Returns the action name of a commit. The first commit of an asset registers it. All later commits change it. */
export const actionNameOf = (sequence: number): ActionName =>
  sequence === 1 ? 'action-initial-registration' : 'action-commit'

const mapActions = (valueFor: (name: ActionName, description: string) => string) =>
  Object.fromEntries(
    Object.entries(actionDescriptions).map(([name, description]) => [name, valueFor(name as ActionName, description)]),
  ) as Record<ActionName, string>

/** Documents that describe the actions. A commit refers to one by its CID, so their bytes must never change. */
export const actionDocuments = mapActions((name, description) => JSON.stringify({ name, description }, null, 2))

/** Returns the CIDs of the documents that describe the actions. */
export const actionNids = ({ identify }: Pick<ContentStore, 'identify'>) =>
  mapActions((name) => identify(Buffer.from(actionDocuments[name])).cid)

/** Returns the result of an action: the URL of the asset. */
export const actionResultOf = (publicUrl: string, nid: string) => `${publicUrl}/api/v3/assets/${nid}/`

/** Commit data, with keys in the order of the public layout. */
export interface CommitData {
  assetTreeCid: string
  /** 64 lowercase hex digits. */
  assetTreeSha256: string
  /** EIP-191 signature of `assetTreeSha256` as text. Null until the tree is signed. */
  assetTreeSignature: string | null
  author: string
  /** Address of the user who made the commit and signed the tree. */
  committer: string
  provider: string
  /** Time of the commit, in Unix seconds. */
  timestampCreated: number
  /** CID of the document that describes the action. */
  action: string
  actionResult: string
  actionName: ActionName
  abstract: string
}

/** Facts of an accepted commit before it is signed. */
export interface CommitFacts {
  nid: string
  sequence: number
  treeCid: string
  treeSha256: string
  treeSignature: string | null
  creatorAddress: string
  committerAddress: string
  createdAt: Date
  message: string
}

/** Values that are the same for all commits of an installation. */
export interface CommitDataConfig {
  provider: string
  /** Public URL without a trailing slash. */
  publicUrl: string
  actionNids: Record<ActionName, string>
}

export type DescribeCommit = (facts: CommitFacts) => CommitData

/** Returns a function that creates commit data in the public layout (docs/reference/chain-format.md). */
export const createDescribeCommit =
  ({ provider, publicUrl, actionNids }: CommitDataConfig): DescribeCommit =>
  (facts) => {
    const actionName = actionNameOf(facts.sequence)
    return {
      assetTreeCid: facts.treeCid,
      assetTreeSha256: facts.treeSha256,
      assetTreeSignature: facts.treeSignature,
      author: facts.creatorAddress,
      committer: facts.committerAddress,
      provider,
      timestampCreated: Math.floor(facts.createdAt.getTime() / 1000),
      action: actionNids[actionName],
      actionResult: actionResultOf(publicUrl, facts.nid),
      actionName,
      abstract: facts.message,
    }
  }
