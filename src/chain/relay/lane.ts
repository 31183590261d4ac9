import type { Database } from '../../db/database-types.ts'
import type { DescribeCommit } from '../../modules/commits/commit-data.ts'
import type { Log } from '../../shared/log.ts'
import type { Meter, Tracer } from '../../telemetry/telemetry-types.ts'
import type { Pace } from '../cpu-yield.ts'
import type { Fees } from '../fees.ts'
import type { RelayAccount } from '../keys.ts'
import type { Lease } from '../lease.ts'
import { createLogDeduper, type LogDeduper, logOnce, type Problem } from '../log-dedupe.ts'
import type { Rpc } from '../rpc.ts'
import type { ReadHistory } from './histories.ts'

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
