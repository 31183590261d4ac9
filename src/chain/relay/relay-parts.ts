/** Options, state and shared dependencies of the relay. */
import { getAddress } from 'ethers'
import type { Database } from '../../db/database-types.ts'
import type { Query } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import type { Custody } from '../../keys/key-types.ts'
import type { DescribeCommit } from '../../modules/commits/commit-data.ts'
import type { Log } from '../../shared/log.ts'
import type { Meter, Origin, RelayLoad, Tracer, WatchedRelay } from '../../telemetry/telemetry-types.ts'
import type { RelayAccount } from '../keys.ts'
import type { Lease } from '../lease.ts'
import { type CpuThrottle, createLogDeduper, type LogDeduper, logOnce, type Problem } from '../poller.ts'
import type { ChainCommit, Registry } from '../registry/registry.ts'
import type { Rpc } from '../rpc.ts'
import type { Fees } from '../transaction.ts'
import { findAllLanes } from './relay.sql.ts'

/** Options of the relay. Times are in milliseconds. */
export interface RelayOptions {
  database: Database
  /** Connection URL for the leases. It must not go through a pooler in statement mode. */
  databaseUrl: string
  registry: Registry
  contentStore: ContentStore
  custody: Custody
  log: Log
  meter?: Meter
  tracer?: Tracer
  describe: DescribeCommit
  /** Private keys, one per lane. The first account deploys the registry if it is missing. */
  relayKeys: readonly string[]
  /** Addresses of relay accounts that were used earlier. The database may not contain them. */
  earlierRelays?: readonly string[]
  /** Number of blocks above a commit's block until it is FINAL. With 0 it is final in its own block. */
  confirmations: number
  /** Maximum fee per gas in wei. */
  maxFeePerGas: bigint
  /** Maximum number of commits per transaction. It is 1 if the registry does not support batches. Default: 64. */
  commitsPerTransaction?: number
  /** Maximum number of pending transactions per lane. Default: 64, because nodes limit them per account. */
  transactionsUnderWay?: number
  /** Time for a node to return the receipt of a used nonce. Default: 10,000. */
  receiptPatience?: number
  /**
   * Time for which an inconsistent node is not trusted: one whose head moved back, or that counts unknown transactions. Default: 120,000. It
   * can be short if there is only one node.
   */
  doubtPatience?: number | undefined
  /** Minimum duration of a nonce gap before it is closed. A node may be one block behind another. Default: 3,000. */
  gapPatience?: number
  /** Overrides of `defaultPauses`. */
  pauses?: Partial<RelayPauses>
}

/** Pauses between two steps, in milliseconds. */
export interface RelayPauses {
  /** Pause without work. */
  idle: number
  /** Interval at which the chain is checked while no commits are pending. It may have lost blocks that counted as final. */
  resting: number
  /** Pause while transactions are pending. */
  waiting: number
  /** Pause after sending. */
  sent: number
  /** Pause after a wake-up, so that commits that arrive together are sent together. */
  woken: number
  /** Maximum delay of the exponential backoff after failures. */
  longestBackoff: number
}

export const defaultPauses: RelayPauses = {
  ...{ idle: 1_000, resting: 60_000, waiting: 500, sent: 25, woken: 20, longestBackoff: 3_000 },
}

/** Status for the operator. `standby`: another process holds the lanes. `waiting`: retrying after `lastError`. */
export interface RelayStatus extends RelayLoad {
  lastError: string | null
  chainId: number | null
  registry: string | null
}

/** Writes accepted commits to the chain. */
export interface Relay extends WatchedRelay {
  start(): void
  /** Signals that a commit was accepted. Returns immediately. */
  wake(): void
  /** Stops the relay. Resolves after the current step and the release of the leases. */
  stop(): Promise<void>
  status(): RelayStatus
}

type Settings = 'meter' | 'tracer' | 'commitsPerTransaction' | 'receiptPatience' | 'gapPatience'

/** Dependencies and settings that all parts of the relay share. */
export interface RelayParts
  extends Pick<RelayOptions, 'database' | 'log' | 'describe' | 'confirmations' | 'maxFeePerGas'>,
    Required<Pick<RelayOptions, Settings>> {
  lease: Lease
  rpc: Rpc
  cpu: CpuThrottle
  chainId: number
  /** Address of the registry. */
  registry: string
  readHistory: ReadHistory
  /** Addresses of our relay accounts, current and earlier. */
  recorders: ReadonlySet<string>
  doubtPatience: number
  /** Follows the account's commits until they are final, even if it signs nothing any more. */
  followLane(account: string): void
}

/** Kinds of problems of a lane, and the message when one ends. One problem of each kind is logged at a time. */
const recovered = {
  sending: 'Sending of transactions recovered',
  fees: 'Fees are below the maximum again',
  receipts: 'Reading of receipts recovered',
  count: 'Transaction count of the relay account recovered',
  gap: 'Nonce gap closed',
}
type Topic = keyof typeof recovered

/**
 * Creates a lane: a relay account and its sequence of nonces. Without a signer it only sends and follows existing transactions. The fields are only a
 * cache: everything that must survive is in the database, and a new lane continues from there.
 */
export const createLane = (
  address: string,
  signer?: { account: RelayAccount; index: number; lanes: number } | undefined,
) => ({
  address,
  /** Name of the lease. */
  name: `relay:${address}`,
  /** Undefined for an account that is no longer configured. */
  signer,
  /** Head and transaction count at the last read of receipts. If both are unchanged, there is nothing new. */
  seen: '',
  /** Time at which a node last accepted a nonce's transaction, by nonce. Deleted when a node rejects it. */
  sentAt: new Map<number, number>(),
  /** Number of consecutive rejections of a transaction, by hash. */
  refusals: new Map<string, number>(),
  /** Head number at which a transaction was first seen pending, by hash. */
  waitingFrom: new Map<string, number>(),
  /** Time at which a used nonce without a receipt is investigated, by nonce. */
  missingUntil: new Map<number, number>(),
  /** The last transaction count of the account that was ahead of the database. */
  countAhead: undefined as number | undefined,
  /** Time since when the node's pool contains transactions that the database does not know. */
  unknownSince: undefined as number | undefined,
  /** Time since when the account's transaction count cannot be explained. */
  doubtedSince: undefined as number | undefined,
  gapSince: undefined as number | undefined,
  /** Empty transactions sent to fill nonce gaps, by nonce. */
  fillers: new Map<number, { fees: Fees; sentAt: number }>(),
  dedupers: {
    sending: createLogDeduper(),
    fees: createLogDeduper(),
    receipts: createLogDeduper(),
    count: createLogDeduper(),
    gap: createLogDeduper(),
  } satisfies Record<Topic, LogDeduper>,
})
export type Lane = ReturnType<typeof createLane>

/** Logs the current problem of a lane once, and its end when there is none. */
export const reportLane = ({ log }: Pick<RelayParts, 'log'>, lane: Lane, topic: Topic, problem?: Problem): void =>
  logOnce(log, lane.dedupers[topic], problem, recovered[topic], { lane: lane.address })

/** Removes cached data of transactions that are no longer pending. */
export const forgetSettled = (lane: Lane, inFlight: readonly { nonce: number; hash: string }[]) => {
  const nonces = new Set(inFlight.map((row) => row.nonce))
  const hashes = new Set(inFlight.map((row) => row.hash))
  for (const memory of [lane.sentAt, lane.missingUntil])
    for (const key of memory.keys()) if (!nonces.has(key)) memory.delete(key)
  for (const memory of [lane.refusals, lane.waitingFrom])
    for (const key of memory.keys()) if (!hashes.has(key)) memory.delete(key)
}

/** Returns the EIP-55 addresses of all relay accounts: the configured ones in `named`, and those that any commit used. */
export async function findRecorders(
  { query }: { query: Query },
  named: readonly string[],
): Promise<ReadonlySet<string>> {
  const used = await query(findAllLanes)
  return new Set([...named.map((address) => getAddress(address.toLowerCase())), ...used.map(({ lane }) => lane)])
}

/** A stored transaction that may be sent. */
export interface Outgoing {
  nonce: number
  hash: string
  raw: Uint8Array
  /** Commits in this transaction, and their trace contexts. */
  commits: readonly string[]
  traces: readonly Origin[]
}

/** Returns the history of an asset, oldest first. Undefined until it is read completely: call again. Throws UNAVAILABLE, RpcError. */
export type ReadHistory = (nid: string) => Promise<ChainCommit[] | undefined>
