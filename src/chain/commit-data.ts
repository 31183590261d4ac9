import { z } from 'zod'
import type { CommitData } from '../modules/commits/commit-data.ts'

/** Encodes commit data for the chain. The order of the keys is part of the format. */
export const encodeCommitData = (data: CommitData): string =>
  JSON.stringify({
    assetTreeCid: data.assetTreeCid,
    assetTreeSha256: data.assetTreeSha256,
    assetTreeSignature: data.assetTreeSignature,
    author: data.author,
    committer: data.committer,
    provider: data.provider,
    timestampCreated: data.timestampCreated,
    action: data.action,
    actionResult: data.actionResult,
    actionName: data.actionName,
    abstract: data.abstract,
  } satisfies CommitData)

const commitDataShape = z.object({
  assetTreeCid: z.string(),
  assetTreeSha256: z.string(),
  assetTreeSignature: z.string().nullable(),
  author: z.string(),
  committer: z.string(),
  provider: z.string(),
  timestampCreated: z.number(),
  action: z.string(),
  actionResult: z.string(),
  actionName: z.enum(['action-initial-registration', 'action-commit']),
  abstract: z.string(),
})

/** Parses the text of a log. Returns undefined for another format, because anyone can write any text to the registry. */
export const parseCommitData = (text: string): CommitData | undefined => {
  try {
    return commitDataShape.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
