/** What the parts of the mover of coins have in common. */

import type { RelayAccount } from '../../../chain/keys.ts'
import type { LogDeduper } from '../../../chain/log-dedupe.ts'
import type { Rpc } from '../../../chain/rpc.ts'
import type { Custody } from '../../../keys/key-types.ts'
import type { Log } from '../../../shared/log.ts'
import type { Meter } from '../../../telemetry/telemetry-types.ts'
import type { CoinBooks } from '../coin-types.ts'

/** What was done lately, by the transaction's hash. A process that knows nothing of it sends once more. */
export interface SendMemory {
  /** When a node last took it. */
  sentAt: Map<string, number>
  /** When, and at which head, a node first had it. */
  waitingFrom: Map<string, { at: number; head: number }>
  /** How often nodes said that no block has room for it, and at which head they last did. */
  refusals: Map<string, { times: number; head: number }>
  /** Since when a node has no block at the height of the one that it stands in. */
  lackingSince: Map<string, number>
  /** Whether the chain counts transactions of the treasury that the books do not know; undefined before the first look. */
  isTreasuryDoubted: boolean | undefined
  /** Which earlier treasury paid what the books do not know, when they were last looked at, and what was missing in the books then. */
  earlier: { missing: string; at: number; unsettled: string | undefined } | undefined
  /** How many moves that are set aside wait for what is not credited yet, as it was told; undefined before the first look. */
  movesWaiting: number | undefined
}

/** A memory that knows nothing yet. */
export const createSendMemory = (): SendMemory => ({
  ...{ sentAt: new Map(), waitingFrom: new Map(), refusals: new Map(), lackingSince: new Map() },
  isTreasuryDoubted: undefined,
  earlier: undefined,
  movesWaiting: undefined,
})

/** What every part works with. */
export interface MoverParts {
  books: CoinBooks
  custody: Custody
  rpc: Rpc
  log: Log
  meter: Meter
  treasury: RelayAccount
  confirmations: number
  maxFeePerGas: bigint
  /** Milliseconds for which a chain is not believed to have lost blocks because a node has none so high. */
  doubtPatience: number
  memory: SendMemory
  /** One for each kind of problem. */
  dedupers: Record<'sending' | 'aside' | 'gathering' | 'treasury' | 'overtaken', LogDeduper>
  stopping: AbortSignal
}
