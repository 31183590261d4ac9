/** What a commit says on the chain, and the history repeats. The layout is public: third parties read it. */
import type { ContentStore } from '../../files/file-types.ts'

/** Names of the actions of commits, as they are written on the chain. */
export type ActionName = 'action-initial-registration' | 'action-commit'

/** Returns the action of a commit. The first commit of an asset registers it, all others change it. */
export const actionNameOf = (sequence: number): ActionName =>
  sequence === 1 ? 'action-initial-registration' : 'action-commit'

/** The documents that describe the actions. A commit names one by its CID, so their bytes never change. */
export const actionDocuments: Record<ActionName, string> = {
  'action-initial-registration': JSON.stringify(
    { name: 'action-initial-registration', description: 'A file was registered, and its first asset tree written.' },
    null,
    2,
  ),
  'action-commit': JSON.stringify(
    { name: 'action-commit', description: "A registered asset's metadata was changed, and a new asset tree written." },
    null,
    2,
  ),
}

/** The result of the action: the address where the asset can be read. */
export const actionResultOf = (publicUrl: string, nid: string) => `${publicUrl}/api/v3/assets/${nid}/`

/** The nid of each action's document. */
export const actionNids = ({ identify }: Pick<ContentStore, 'identify'>): Record<ActionName, string> => ({
  'action-initial-registration': identify(Buffer.from(actionDocuments['action-initial-registration'])).cid,
  'action-commit': identify(Buffer.from(actionDocuments['action-commit'])).cid,
})

/** In the order in which the keys are written. */
export interface CommitData {
  assetTreeCid: string
  /** 64 lowercase hex digits. */
  assetTreeSha256: string
  /** EIP-191 signature of `assetTreeSha256` as text; null until the tree was signed. */
  assetTreeSignature: string | null
  /** Address of the asset's creator. */
  author: string
  /** Address of the user who made the commit and signed the tree. */
  committer: string
  provider: string
  /** Unix seconds. */
  timestampCreated: number
  /** Identifier of the document that describes the action. */
  action: string
  /** Where the asset can be read. */
  actionResult: string
  actionName: ActionName
  abstract: string
}

/** What is known of a commit once it is accepted; its signature comes later. */
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

/** What all commits of an installation say alike. */
export interface CommitDataConfig {
  provider: string
  /** Without a slash at the end. */
  publicUrl: string
  /** Identifiers of the actions' description documents. */
  actionNids: Record<ActionName, string>
}

/** Puts a commit into the words of the chain. */
export type DescribeCommit = (facts: CommitFacts) => CommitData

/** Describes commits by the public layout (docs/chain.md); the time is cut to seconds. */
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
