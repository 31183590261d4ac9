/** Parts and memory that all functions of the treasury worker share. */
import type { RelayAccount } from '../../../chain/keys.ts'
import type { LogDeduper } from '../../../chain/poller.ts'
import type { Rpc } from '../../../chain/rpc.ts'
import type { Custody } from '../../../keys/key-types.ts'
import type { Log } from '../../../shared/log.ts'
import type { Meter } from '../../../telemetry/telemetry-types.ts'
import type { CoinLedger } from '../coin-ledger.ts'

/** Cached state of transactions, by hash. After a restart, transactions are sent once more. */
export interface WorkerMemory {
  /** Time at which a node last accepted or rejected it. */
  sentAt: Map<string, number>
  /** Time and head at which a node first accepted it. */
  waitingFrom: Map<string, { at: number; head: number }>
  /** Number of rejections because no block has room for it, and the head of the last one. */
  rejections: Map<string, { times: number; head: number }>
  /** Time since which a node has no block at the height of the transaction's block. */
  lackingSince: Map<string, number>
  /** True if the chain has transactions of the treasury that the ledger does not know. Undefined before the first check. */
  isTreasuryDoubted: boolean | undefined
  /** Last search for unknown payments of earlier treasuries, and the nonces that were missing then. */
  earlier: { missing: string; at: number; unsettled: string | undefined } | undefined
  /** Stored number of suspended transfers that wait for a credit. Undefined before the first check. */
  waitingTransfers: number | undefined
}

/** Parts that all functions of the worker share. */
export interface WorkerParts {
  ledger: CoinLedger
  custody: Custody
  rpc: Rpc
  log: Log
  meter: Meter
  treasury: RelayAccount
  /** Number of blocks after a transfer's block until the transfer is settled. */
  confirmations: number
  /** Maximum gas price, in wei. */
  maxFeePerGas: bigint
  /** Time for which a node with fewer blocks than seen before counts as behind, in milliseconds. */
  doubtPatience: number
  memory: WorkerMemory
  /** One for each kind of problem. */
  dedupers: Record<'sending' | 'suspended' | 'sweeping' | 'treasury' | 'conflict', LogDeduper>
  stopping: AbortSignal
}
