/** What the relay is made from, what it tells of itself, and how often it looks. */

import type { Database } from '../../db/database-types.ts'
import type { ContentStore } from '../../files/file-types.ts'
import type { Custody } from '../../keys/key-types.ts'
import type { DescribeCommit } from '../../modules/commits/commit-data.ts'
import type { Log } from '../../shared/log.ts'
import type { Meter, RelayLoad, Tracer, WatchedRelay } from '../../telemetry/telemetry-types.ts'
import type { Registry } from '../registry/registry.ts'

/** What the relay works with, and how patient it is. */
export interface RelayOptions {
  database: Database
  /** For the connection that holds the relay's locks: a session of its own, not through a statement pooler. */
  databaseUrl: string
  registry: Registry
  contentStore: ContentStore
  custody: Custody
  log: Log
  /** Nobody counts when it is missing. */
  meter?: Meter
  /** Nobody follows commits when it is missing. */
  tracer?: Tracer
  describe: DescribeCommit
  /** Private keys, one for each lane. The first one deploys the registry where there is none. */
  relayKeys: readonly string[]
  /** Addresses of accounts that were ours, which the database need not know. */
  earlierRelays?: readonly string[]
  /** Blocks on top of a commit's block until it is FINAL; 0 settles it with its own block. */
  confirmations: number
  /** Wei; nothing above is ever offered. */
  maxFeePerGas: bigint
  /** Commits in one transaction at most, where the registry takes several; 64 when missing. */
  commitsPerTransaction?: number
  /** Transactions of a lane that are in no block yet, at most; 64 when missing: nodes promise an account few places. */
  transactionsUnderWay?: number
  /** Milliseconds that a node may take to show the receipt of a nonce that is used; 10,000 when missing. */
  receiptPatience?: number
  /**
   * Milliseconds for which a node is not believed that shows less than was seen before, or counts transactions that nobody
   * knows of; 120,000 when missing. Short where there is one node only.
   */
  doubtPatience?: number
  /** Milliseconds that a gap between an account's count and what waits must last before it is closed; 3,000 when missing. */
  gapPatience?: number
  /** Other pauses between looks than those of `defaultPauses`. */
  pauses?: Partial<RelayPauses>
}

/** Milliseconds between two looks. */
export interface RelayPauses {
  /** Without work. */
  idle: number
  /** Without commits on their way, until the chain is looked at all the same: it may have lost blocks that counted as settled. */
  resting: number
  /** While transactions wait for a block. */
  waiting: number
  /** After sending. */
  sent: number
  /** Gathers what arrives together. */
  woken: number
  /** After failures: it doubles from a quarter of a second up to this. */
  longestBackoff: number
}

/** What the relay is doing, for an operator. `standby`: another process has the lanes. `waiting`: see `lastError`. */
export interface RelayStatus extends RelayLoad {
  lastError: string | null
  chainId: number | null
  registry: string | null
}

/** The part that gets commits onto the chain. */
export interface Relay extends WatchedRelay {
  start(): void
  /** Says that a commit was accepted. Returns at once. */
  wake(): void
  /** Fulfilled when the step in hand is finished and the lanes are given up. */
  stop(): Promise<void>
  status(): RelayStatus
}

/** Where nothing else is said. */
export const defaultPauses: RelayPauses = {
  idle: 1_000,
  resting: 60_000,
  waiting: 500,
  sent: 25,
  woken: 20,
  longestBackoff: 3_000,
}
