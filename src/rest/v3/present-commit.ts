import type { CommitRecordFragment } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'

/** What is read of a commit. */
export const CommitRecord = graphql(/* GraphQL */ `
  fragment CommitRecord on Commit {
    transactionHash
    treeCid
    treeSha256
    treeSignature
    author
    committer
    provider
    createdAt
    action
    actionName
    actionResult
    message
    changes
    status
  }
`)

const seconds = (time: Date | string) => Math.floor(new Date(time).getTime() / 1000)

/** A commit as old callers read it; some of it under two names. */
export const presentCommit = (commit: CommitRecordFragment) => ({
  transaction: commit.transactionHash,
  txHash: commit.transactionHash,
  assetTreeCid: commit.treeCid,
  assetTreeSha256: commit.treeSha256,
  assetTreeSignature: commit.treeSignature,
  author: commit.author,
  committer: commit.committer,
  provider: commit.provider,
  timestampCreated: seconds(commit.createdAt),
  action: commit.action,
  actionName: commit.actionName,
  actionNid: commit.action,
  actionResult: commit.actionResult,
  abstract: commit.message,
  commitMessage: commit.message,
  changes: commit.changes,
  status: commit.status.toLowerCase(),
})
