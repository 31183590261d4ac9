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
import { type CpuThrottle, createLogDeduper, type LogDeduper, logOnce, type Poller, type Problem } from '../poller.ts'
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
  /** Time for which a node with a lower head or unknown transactions is not trusted. Default: 120,000. */
  doubtPatience?: number | undefined
  /** Minimum duration of a nonce gap before it is closed. A node may be one block behind another. Default: 3,000. */
  gapPatience?: number
  pauses?: Partial<typeof defaultPauses>
}

/** Pauses between two steps, in milliseconds. `resting`: without pending commits. */
export const defaultPauses = { idle: 1_000, resting: 60_000, waiting: 500, sent: 25, woken: 20, longestBackoff: 3_000 }
/** Status for the operator. `standby`: another process holds the lanes. `waiting`: retrying after `lastError`. */
export type RelayStatus = RelayLoad & { lastError: string | null; chainId: number | null; registry: string | null }
export type Relay = { wake(): void; status(): RelayStatus } & WatchedRelay & Poller
type Settings = 'meter' | 'tracer' | 'commitsPerTransaction' | 'receiptPatience' | 'gapPatience'

export interface RelayParts
  extends Pick<RelayOptions, 'database' | 'log' | 'describe' | 'confirmations' | 'maxFeePerGas'>,
    Required<Pick<RelayOptions, Settings>> {
  lease: Lease
  rpc: Rpc
  cpu: CpuThrottle
  chainId: number
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
const topics = Object.keys(recovered)

/** Creates a lane: an account and its nonces. Without a signer it only follows existing transactions. */
export const createLane = (
  address: string,
  signer?: { account: RelayAccount; index: number; lanes: number } | undefined,
) => ({
  address,
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
  dedupers: Object.fromEntries(topics.map((topic) => [topic, createLogDeduper()])) as Record<Topic, LogDeduper>,
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

/** Returns the EIP-55 addresses of all relay accounts: those in `named`, and those that any commit used. */
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

/** Returns the history of an asset, oldest first. Undefined until it is complete: call again. */
export type ReadHistory = (nid: string) => Promise<ChainCommit[] | undefined>
