/** The verdict on a history, and the reasons for it. */
import type { Changes, CommitData } from './commit-data.ts'
import type { Anchor } from './evidence.ts'

/** What one look found. */
export interface Finding {
  /** `unknown`: what it needs is not there. */
  result: 'right' | 'wrong' | 'unknown'
  /** A sentence, when it is not right. */
  finding?: string
}

/** It is as it should be. */
export const right: Finding = { result: 'right' }
/** It contradicts what it should agree with. */
export const wrong = (finding: string): Finding => ({ result: 'wrong', finding })
/** It cannot be judged. */
export const unknown = (finding: string): Finding => ({ result: 'unknown', finding })
/** Right if the condition holds, and wrong otherwise. */
export const holds = (condition: boolean, otherwise: string): Finding => (condition ? right : wrong(otherwise))

/** One check of a commit. */
export interface Check extends Finding {
  name: CheckName
}

/**
 * `event`: it stands in the block. `transaction`: which transaction carries it. `layout`: its text is in the known layout. `tree`: the
 * bytes are those of the tree's CID. `sha256`: they have the hash that the commit says. `asset`: the tree is about this asset, and tells
 * the same of its file as the first one. `signature`: the committer signed the tree. `author`: the registrant is the author. `order`: a
 * registration comes first and time never runs back. `time`: the block is not older than what it holds. `record`: the service's own
 * database says the same.
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

/** A commit of the chain, with everything that was looked at. */
export interface VerifiedCommit {
  /** Which life of the file it belongs to, from 1: a file may be deleted and registered again, and each time begins anew. */
  life: number
  blockNumber: number
  blockHash: string
  /** Of the block, ISO 8601: by then it had been written. */
  blockTime: string
  /** Undefined when it could not be read. */
  transactionHash: string | undefined
  /** Position of the transaction in its block, and of the event among those of its transaction. */
  transactionIndex: number | undefined
  eventIndex: number | undefined
  /** Who wrote it onto the chain. */
  recorder: string | undefined
  /** Undefined when the text in the log is not in the known layout. */
  commitData: CommitData | undefined
  /** What it changed of the tree before it; undefined for a registration, and where one of both trees is not there. */
  changes: Changes | undefined
  checks: Check[]
}

/**
 * `holds`: everything was checked and is right. `broken`: the evidence contradicts itself. `unsettled`: nothing contradicts, and some
 * evidence is missing or unreadable. `unknown`: the chain holds no commit of this asset that counts.
 */
export type Verdict = 'holds' | 'broken' | 'unsettled' | 'unknown'

/** The result of a verification. */
export interface Verification {
  nid: string
  /** Null when the source does not say it. */
  chainId: number | null
  registry: string
  verdict: Verdict
  /** True only when the verdict is `holds`. */
  agrees: boolean
  /** The newest block: the history is judged as of it. Null when its header could not be read. */
  asOf: (Anchor & { time: string }) | null
  /** Why blocks, or the list of them, could not be read: a sentence each. Commits may be missing then. */
  missing: string[]
  /** Whether no commit is left out. */
  complete: Finding
  /** Whether the blocks are those of the chain. */
  settled: Finding
  /** The hashes that settle it: a block stands here unless it follows from a later one. */
  anchors: Anchor[]
  /** Whether it is clear whose commits count, and in which registry. */
  recorder: Finding
  /** Accounts whose commits count. */
  recorders: string[]
  /** The file's own bytes against the SHA-256 that the trees tell; null when nobody gave them. */
  file: Finding | null
  /** Whether the service's own database tells the same; only where one was asked. */
  record?: Finding
  /** Oldest first. */
  commits: VerifiedCommit[]
  /** How many commits others wrote about this asset; they count for nothing. */
  foreign: number
  /** Who wrote them, twenty at most. */
  foreignRecorders: string[]
}
