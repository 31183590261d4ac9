import { z } from 'zod'
import type { CommitRecordFragment } from '../../http/rest/generated/graphql.ts'
import { graphql } from '../../http/rest/generated/index.ts'
import { lowerCase, same, url } from '../../http/rest/values.ts'

/** What is read of a commit. */
export const CommitRecord = graphql(/* GraphQL */ `
  fragment CommitRecord on Commit {
    id
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
    gasUsed
    feePaid
  }
`)

/** The signature of an asset tree. Existing callers read it as a string, so it is never null. */
export const treeSignature = z
  .string()
  .describe(
    'EIP-191 signature of the SHA-256 of the asset tree, by the wallet of the author. Empty until it is signed.',
  )

/** A commit as it is answered. */
export const commitRecord = z
  .object({
    id: same('Commit.id', z.string()),
    transaction: z
      .string()
      .describe('Hash of the chain transaction, which may carry other commits, too. Empty until it is signed.'),
    txHash: z.string().describe('The same as `transaction`.'),
    assetTreeCid: same('Commit.treeCid', z.string()),
    assetTreeSha256: same('Commit.treeSha256', z.string()),
    assetTreeSignature: treeSignature,
    author: same('Commit.author', z.string()),
    committer: same('Commit.committer', z.string()),
    provider: same('Commit.provider', z.string()),
    timestampCreated: z.number().int().describe('When it was accepted, in seconds since 1970.'),
    action: same('Commit.action', z.string()),
    actionName: same('Commit.actionName', z.string()),
    actionNid: z.string().describe('The same as `action`.'),
    actionResult: same('Commit.actionResult', url),
    abstract: z.string().describe('The same as `commitMessage`.'),
    commitMessage: same('Commit.message', z.string()),
    changes: same('Commit.changes', z.record(z.string(), z.unknown())),
    status: same('Commit.status', z.enum(['pending', 'broadcast', 'included', 'final', 'failed'])),
    gasUsed: same('Commit.gasUsed', z.number().int().nullable()),
    feePaid: same('Commit.feePaid', z.string().nullable()),
  })
  .meta({
    id: 'Commit',
    description: 'One accepted change of an asset: who, when, what changed, and the chain transaction that carries it.',
  })

/** A moment as old callers read it: in seconds since 1970. */
export const seconds = (time: Date | string) => Math.floor(new Date(time).getTime() / 1000)

/** A commit as old callers read it; some of it under two names. */
export const presentCommit = (commit: CommitRecordFragment): z.output<typeof commitRecord> => ({
  id: commit.id,
  transaction: commit.transactionHash ?? '',
  txHash: commit.transactionHash ?? '',
  assetTreeCid: commit.treeCid,
  assetTreeSha256: commit.treeSha256,
  assetTreeSignature: commit.treeSignature ?? '',
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
  status: lowerCase(commit.status),
  gasUsed: commit.gasUsed,
  feePaid: commit.feePaid,
})
