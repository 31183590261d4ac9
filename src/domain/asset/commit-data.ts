/** What a commit says on the chain, and the history repeats. The layout is public: third parties read it. */
import { type ActionName, actionNameOf, actionResultOf } from './action.ts'

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
