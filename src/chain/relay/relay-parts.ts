import { getAddress } from 'ethers'
import type { Database } from '../../db/database-types.ts'
import type { Query } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import type { Custody } from '../../keys/envelope-encryption.ts'
import type { DescribeCommit } from '../../modules/commits/commits.ts'
import type { Log } from '../../shared/log.ts'
import type { Meter, Origin, RelayLoad, Tracer, WatchedRelay } from '../../telemetry/telemetry-types.ts'
import type { RelayAccount } from '../keys.ts'
import type { Lease } from '../lease.ts'
import { type CpuThrottle, createLogDeduper, type LogDeduper, logOnce, type Poller, type Problem } from '../poller.ts'
import type { ChainCommit, Registry } from '../registry/registry.ts'
import type { Rpc } from '../rpc.ts'
import type { Fees } from '../transaction.ts'
import { findAllLanes } from './relay.sql.ts'

export interface RelayOptions {
  database: Database
  /** Connection URL for the leases. It must not be a pooler in statement mode. */
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
  /** Addresses of former relay accounts. The database may not contain these addresses. */
  earlierRelays?: readonly string[]
  /** Number of blocks above a commit's block until the commit is FINAL. 0: the commit is final in its own block. */
  confirmations: number
  maxFeePerGas: bigint
  /** Maximum number of commits per transaction. Default: 64. If the registry does not support batches, 1 is used. */
  commitsPerTransaction?: number
  /** Maximum number of pending transactions per lane. Default: 64, because nodes limit them per account. */
  transactionsUnderWay?: number
  /** Maximum delay until a node returns the receipt of a used nonce, in milliseconds. Default: 10,000. */
  receiptPatience?: number
  /** Time in which a node with a lower head or unknown transactions is not trusted (ms). Default: 120,000. */
  doubtPatience?: number | undefined
  /** Delay before closing a nonce gap (ms), because a node may be one block behind another. Default: 3,000. */
  gapPatience?: number
  pauses?: Partial<typeof defaultPauses>
}

/** Pauses between two steps, in milliseconds. `resting`: the pause if no commits are pending. */
export const defaultPauses = { idle: 1_000, resting: 60_000, waiting: 500, sent: 25, woken: 20, longestBackoff: 3_000 }
/** Relay status for the operator. `standby`: another process holds the lanes. `waiting`: retrying after `lastError`. */
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
  recorders: ReadonlySet<string>
  doubtPatience: number
  /** Follows the commits of an account until they are final, even if the account is no longer configured. */
  followLane(account: string): void
}

/** Log message for the end of a lane's problem, by kind. One problem of each kind is logged at a time. */
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
  signer,
  /** Head and transaction count when receipts were last read. If both are unchanged, no receipts are read. */
  seen: '',
  /** Time at which a node last accepted a nonce's transaction, by nonce. Deleted when a node rejects it. */
  sentAt: new Map<number, number>(),
  refusals: new Map<string, number>(),
  /** Head number at which a transaction was first seen pending, by hash. */
  waitingFrom: new Map<string, number>(),
  /** Time at which a used nonce without a receipt is investigated, by nonce. */
  missingUntil: new Map<number, number>(),
  /** The newest transaction count of the account that was higher than the database expects. */
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

/** Logs the current problem of a lane once. If there is none, logs the end of the previous problem. */
export const reportLane = ({ log }: Pick<RelayParts, 'log'>, lane: Lane, topic: Topic, problem?: Problem): void =>
  logOnce(log, lane.dedupers[topic], problem, recovered[topic], { lane: lane.address })

export const forgetSettled = (lane: Lane, inFlight: readonly { nonce: number; hash: string }[]) => {
  const nonces = new Set(inFlight.map((row) => row.nonce))
  const hashes = new Set(inFlight.map((row) => row.hash))
  for (const memory of [lane.sentAt, lane.missingUntil])
    for (const key of memory.keys()) if (!nonces.has(key)) memory.delete(key)
  for (const memory of [lane.refusals, lane.waitingFrom])
    for (const key of memory.keys()) if (!hashes.has(key)) memory.delete(key)
}

/** Returns the EIP-55 addresses of all relay accounts: the accounts in `named`, and the accounts of all commits. */
export async function findRecorders(
  { query }: { query: Query },
  named: readonly string[],
): Promise<ReadonlySet<string>> {
  const used = await query(findAllLanes)
  return new Set([...named.map((address) => getAddress(address.toLowerCase())), ...used.map(({ lane }) => lane)])
}

export interface Outgoing {
  nonce: number
  hash: string
  raw: Uint8Array
  commits: readonly string[]
  traces: readonly Origin[]
}

/** Returns the history of an asset, oldest first. While it returns undefined, call it again to read more. */
export type ReadHistory = (nid: string) => Promise<ChainCommit[] | undefined>
