/** The verdict on a history, and the reasons for it. */
import type { Changes, CommitData } from './commit-data.ts'
import type { Anchor } from './evidence.ts'

/** Result of a check. */
export interface Finding {
  /** `unknown`: evidence is missing. */
  result: 'right' | 'wrong' | 'unknown'
  /** Reason as a sentence. Empty if the result is `right`. */
  finding?: string
}

/** Result of a check that passed. */
export const right: Finding = { result: 'right' }
/** Returns the result of a check that failed. */
export const wrong = (finding: string): Finding => ({ result: 'wrong', finding })
/** Returns the result of a check without enough evidence. */
export const unknown = (finding: string): Finding => ({ result: 'unknown', finding })
/** Returns `right` if the condition holds, otherwise `wrong`. */
export const holds = (condition: boolean, otherwise: string): Finding => (condition ? right : wrong(otherwise))

export interface Check extends Finding {
  name: CheckName
}

/**
 * `event`: the block contains the commit. `transaction`: the transaction that contains it is known. `layout`: its text has a known format.
 * `tree`: the bytes match the tree's CID. `sha256`: the bytes match the hash in the commit. `asset`: the tree is about this asset and has the
 * same file hash as the first tree. `signature`: the committer signed the tree. `author`: the author registered the asset. `order`: a
 * registration comes first, and timestamps never decrease. `time`: the commit is not newer than its block. `record`: the service's database
 * has the same data.
 */
export type CheckName =
  | 'event'
  | 'transaction'
  | 'layout'
  | 'tree'
  | 'sha256'
  | 'asset'
  | 'signature'
  | 'author'
  | 'order'
  | 'time'
  | 'record'

/** A commit on the chain with its checks. */
export interface VerifiedCommit {
  /** Number of the file's registration, from 1. A file can be deleted and registered again, and each registration starts a new history. */
  life: number
  blockNumber: number
  blockHash: string
  /** Time of the block in ISO 8601. The commit existed at this time. */
  blockTime: string
  /** Undefined if it could not be read. */
  transactionHash: string | undefined
  /** Positions of the transaction in its block and of the event in its transaction. */
  transactionIndex: number | undefined
  eventIndex: number | undefined
  /** Account that wrote the commit to the chain. */
  recorder: string | undefined
  /** Undefined if the text has an unknown format. */
  commitData: CommitData | undefined
  /** Changes since the previous tree. Undefined for a registration, or if one of the trees is missing. */
  changes: Changes | undefined
  checks: Check[]
}

/**
 * `holds`: all checks passed. `broken`: the evidence contradicts itself. `unsettled`: there is no contradiction, but evidence is missing or
 * unreadable. `unknown`: the chain has no commit of this asset that counts.
 */
export type Verdict = 'holds' | 'broken' | 'unsettled' | 'unknown'

/** The result of a verification. */
export interface Verification {
  nid: string
  /** Null if the source does not provide it. */
  chainId: number | null
  registry: string
  verdict: Verdict
  /** True if the verdict is `holds`. */
  agrees: boolean
  /** Newest block of the verification. Null if its header could not be read. */
  asOf: (Anchor & { time: string }) | null
  /** Reasons why blocks, or their list, could not be read, as sentences. Commits may be missing then. */
  missing: string[]
  /** Result of the check that no commit is missing. */
  complete: Finding
  /** Result of the check that the blocks are on the chain. */
  settled: Finding
  /** Block hashes to compare with the chain. Blocks that follow from a later one through parent hashes are left out. */
  anchors: Anchor[]
  /** Result of the check that the registry and the accounts are trusted. */
  recorder: Finding
  /** Accounts whose commits count. */
  recorders: string[]
  /** Result of comparing the file with the SHA-256 in the trees. Null without a file. */
  file: Finding | null
  /** Result of comparing the commits with the service's database. Undefined if there is none. */
  record?: Finding
  /** Commits, oldest first. */
  commits: VerifiedCommit[]
  /** Number of commits by other accounts. They are ignored. */
  foreign: number
  /** Accounts that wrote them, at most twenty. */
  foreignRecorders: string[]
}
