/** What the relay is made from, what it tells of itself, and how often it looks. */

import { getAddress } from 'ethers'
import type { Database } from '../../db/database-types.ts'
import type { Query } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import type { Custody } from '../../keys/key-types.ts'
import type { DescribeCommit } from '../../modules/commits/commit-data.ts'
import type { Log } from '../../shared/log.ts'
import type { Meter, Origin, RelayLoad, Tracer, WatchedRelay } from '../../telemetry/telemetry-types.ts'
import type { Pace } from '../cpu-yield.ts'
import type { Fees } from '../fees.ts'
import type { RelayAccount } from '../keys.ts'
import type { Lease } from '../lease.ts'
import { createLogDeduper, type LogDeduper, logOnce, type Problem } from '../log-dedupe.ts'
import type { ChainCommit, Registry } from '../registry/registry.ts'
import type { Rpc } from '../rpc.ts'
import { findAllLanes } from './relay.sql.ts'

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

/** What every part of the relay works with. */
export interface RelayParts {
  database: Database
  lease: Lease
  rpc: Rpc
  pace: Pace
  log: Log
  meter: Meter
  tracer: Tracer
  describe: DescribeCommit
  chainId: number
  /** Address of the registry. */
  registry: string
  /** What the registry has of an asset and our accounts wrote. */
  readHistory: ReadHistory
  /** Accounts of ours, also earlier ones. */
  recorders: ReadonlySet<string>
  /** Has what this account carries looked at until it is final, though no block comes and nothing is signed by it any more. */
  followLane(account: string): void
  /** Milliseconds that a node may take to show the receipt of a nonce that is used. */
  receiptPatience: number
  /** Milliseconds for which a node is not believed that contradicts what was seen, or counts what nobody knows of. */
  doubtPatience: number
  /** Milliseconds that a gap must last before it is closed: a node may be a block behind another. */
  gapPatience: number
  /** Blocks on top of a commit's block until it is settled. */
  confirmations: number
  /** Wei; nothing above is ever offered. */
  maxFeePerGas: bigint
  /** Commits in one transaction at most; 1 where the registry takes no more. */
  commitsPerTransaction: number
}

/**
 * One relay account and its nonces, in order. What stands here is only memory of what was done lately: everything that
 * must survive is in the database, and a fresh lane does the right thing with it.
 */
export interface Lane {
  address: string
  /** Of its lease. */
  name: string
  /** Missing for an account that is no longer configured: what it signed is still sent and followed. */
  signer: { account: RelayAccount; index: number; lanes: number } | undefined
  /** The chain as it was when receipts were last read; equal means there is nothing new. */
  seen: string
  /** When bytes were last taken by the node, by nonce; nothing of those that it has refused since. */
  sentAt: Map<number, number>
  /** How often in a row the node refused the newest bytes of a nonce, by hash. */
  refusals: Map<string, number>
  /** The head's number when a transaction was first seen waiting, by hash. */
  waitingFrom: Map<string, number>
  /** When to look for what became of a used nonce without a receipt, by nonce. */
  missingUntil: Map<number, number>
  /** The account's count when it was last ahead of what the database knows. */
  countAhead: number | undefined
  /** Since when transactions wait in the node's pool that the database does not know. */
  strangersSince: number | undefined
  /** Since when the account's count is higher than anything accounts for. */
  doubtedSince: number | undefined
  gapSince: number | undefined
  /** Empty transactions sent for nonces that nothing of ours takes. */
  fillers: Map<number, { fees: Fees; sentAt: number }>
  dedupers: Record<Topic, LogDeduper>
}

/** A lane that knows nothing yet. Without a signer it only sends and follows what was signed. */
export const createLane = (address: string, signer?: Lane['signer']): Lane => ({
  address,
  name: `relay:${address}`,
  signer,
  seen: '',
  sentAt: new Map(),
  refusals: new Map(),
  waitingFrom: new Map(),
  missingUntil: new Map(),
  countAhead: undefined,
  strangersSince: undefined,
  doubtedSince: undefined,
  gapSince: undefined,
  fillers: new Map(),
  dedupers: {
    sending: createLogDeduper(),
    fees: createLogDeduper(),
    receipts: createLogDeduper(),
    count: createLogDeduper(),
    gap: createLogDeduper(),
  },
})

const recovered = {
  sending: 'Sending of transactions recovered',
  fees: 'Fees are below the maximum again',
  receipts: 'Reading of receipts recovered',
  count: 'Transaction count of the relay account recovered',
  gap: 'Nonce gap closed',
}

/** Kinds of problems of a lane. One problem of each kind is logged at a time. */
type Topic = keyof typeof recovered

/** Logs the current problem of a lane once, and its end when there is none. */
export const reportLane = ({ log }: Pick<RelayParts, 'log'>, lane: Lane, topic: Topic, problem?: Problem): void =>
  logOnce(log, lane.dedupers[topic], problem, recovered[topic], { lane: lane.address })

/** Forgets what is no longer on its way. */
export const forgetSettled = (lane: Lane, inFlight: readonly { nonce: number; hash: string }[]) => {
  const nonces = new Set(inFlight.map((row) => row.nonce))
  const hashes = new Set(inFlight.map((row) => row.hash))
  for (const memory of [lane.sentAt, lane.missingUntil]) {
    for (const key of memory.keys()) if (!nonces.has(key)) memory.delete(key)
  }
  for (const memory of [lane.refusals, lane.waitingFrom]) {
    for (const key of memory.keys()) if (!hashes.has(key)) memory.delete(key)
  }
}

/** An address as the events of the chain are told, however somebody wrote it down. */
const asTold = (address: string) => getAddress(address.toLowerCase())

/** Their addresses. `named`: what the configuration knows of them. */
export async function findRecorders(
  { query }: { query: Query },
  named: readonly string[],
): Promise<ReadonlySet<string>> {
  const carried = (await query(findAllLanes)).map(({ lane }) => lane)
  return new Set([...named.map(asTold), ...carried])
}

/** Stored bytes that may be sent. */
export interface Outgoing {
  nonce: number
  hash: string
  raw: Uint8Array
  /** What it carries, and where each of these began. */
  commits: readonly string[]
  traces: readonly Origin[]
}

/** Oldest first; undefined as long as it is not read to its end: asking again goes on. Raises UNAVAILABLE, RpcError. */
export type ReadHistory = (nid: string) => Promise<ChainCommit[] | undefined>
