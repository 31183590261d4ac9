/** The treasury: its account, its free balance, coins at earlier treasuries, and the parts of its worker. */
import { createRelayAccount, type RelayAccount, toHex } from '../../../chain/keys.ts'
import type { LogDeduper } from '../../../chain/poller.ts'
import { quantity, type Rpc, resultOf } from '../../../chain/rpc.ts'
import { type ChainView, readAccounts } from '../../../chain/view.ts'
import type { Database } from '../../../db/database-types.ts'
import type { FeedNotifications } from '../../../db/event-notifications.ts'
import { findSetting, keyValueKeys } from '../../../db/key-value-store.ts'
import type { Custody, KeyVault } from '../../../keys/key-types.ts'
import type { Log } from '../../../shared/log.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { Meter } from '../../../telemetry/telemetry-types.ts'
import { findSender } from '../coin-transfers.sql.ts'
import { doubtTreasury, findEarlierTreasuries, findNotedTreasuries, noteTreasury } from '../treasury.sql.ts'
import { freeBalance } from './gas-prices.ts'
import { type Counted, count, findUnknown } from './unknown-transactions.ts'

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
  isTreasuryDoubted?: boolean
  /** Last search for unknown payments of earlier treasuries, and the nonces that were missing then. */
  earlier?: { missing: string; at: number; unsettled: string | undefined }
  /** Stored number of suspended transfers that wait for a credit. Undefined before the first check. */
  waitingTransfers?: number
}

/** Parts that all functions of the treasury worker share. */
export interface WorkerParts {
  database: Pick<Database, 'query' | 'transaction'>
  notifications: Pick<FeedNotifications, 'notify'>
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

/** Returns the account of the treasury: from the configured key, else derived from the vault's key. */
export const createTreasury = (key: string | undefined, vault: Pick<KeyVault, 'derive'>): RelayAccount =>
  createRelayAccount(key ?? toHex(vault.derive('treasury')))

/** Balance and nonce of the treasury. `free`: wei that no signed transfer takes. */
export interface Treasury {
  free: bigint
  nextNonce: number
}

/** Reads what the treasury can pay. Returns `inDoubt` while it has transactions that the ledger does not know: they may be waiting withdrawals. */
export async function readTreasury(parts: WorkerParts, view: ChainView): Promise<Treasury | { inDoubt: string }> {
  const { database, rpc, memory, treasury } = parts
  const { address } = treasury
  // Read at one block: a transfer that is included in between would count twice.
  const [seen] = await readAccounts(rpc, [address], quantity(view.head.number))
  const { count: sent } = seen!
  const earlier = await findUnsettledEarlier(parts, view)
  const [noted] = earlier === undefined ? await database.query(noteTreasury, { address, count: sent }) : []
  const [sender] = await database.query(findSender, { sender: address })
  const { nextNonce, open } = sender!
  const known = Math.max(nextNonce, noted?.first ?? 0)
  // Every transfer is stored before it is sent. The pending count is Infinity if the node does not report its pool.
  const pending = view.pendingCounts.get(address) ?? sent
  const isAhead = sent > known || (Number.isFinite(pending) && pending > known)
  const inDoubt = earlier ?? (isAhead ? address : undefined)
  const doubted = inDoubt !== undefined
  if (memory.isTreasuryDoubted !== doubted) await database.query(doubtTreasury, { address, doubted })
  memory.isTreasuryDoubted = doubted
  return doubted ? { inDoubt } : { free: freeBalance(seen!, open), nextNonce: Math.max(nextNonce, sent) }
}

/** Pause between two searches for transactions, in milliseconds. On a long chain each search needs dozens of requests. */
const SEARCH_PAUSE_MS = 60_000

/** Returns an earlier treasury that paid something unknown to the ledger. Possible with a new treasury and a database from before the change. */
async function findUnsettledEarlier(
  { database, rpc, memory, treasury: { address } }: WorkerParts,
  { head }: ChainView,
): Promise<string | undefined> {
  if ((await database.query(findSetting, { key: `${keyValueKeys.treasury}${address}` })).length > 0) return undefined
  const counted = await count(rpc, await database.query(findNotedTreasuries), head.number)
  const missing = counted.map((each) => `${each.address} ${each.missing}`).join()
  const { earlier } = memory
  if (earlier?.missing === missing && performance.now() - earlier.at < SEARCH_PAUSE_MS) return earlier.unsettled
  const unsettled = await findUnsettled(rpc, head.number, counted, address)
  memory.earlier = { missing, at: performance.now(), unsettled }
  return unsettled
}

/** Returns the first treasury that sent coins to anyone except another treasury. Coins sent between treasuries are not payments. */
async function findUnsettled(rpc: Rpc, block: number, counted: readonly Counted[], present: string) {
  const found = await findUnknown({ rpc, onProgress() {} }, block, counted)
  const ours = new Set([present, ...counted.map(({ address }) => address)])
  const hasPaid = (each: Counted) => found.of(each).filter(({ to }) => ours.has(to)).length < each.missing.length
  return counted.find(hasPaid)?.address
}

/** Returns the addresses of earlier treasuries, and the swept coins that are there according to ledger and chain, in wei. Throws UNAVAILABLE. */
export async function findCoinsAtEarlier(rpc: Rpc, { query }: Pick<Database, 'query'>, current: string) {
  const booked = await query(findEarlierTreasuries, { current })
  const outcomes = await rpc.batch(
    booked.map(({ address }) => ({ method: 'eth_getBalance', params: [address, 'latest'] })),
  )
  return booked
    .map(({ address, held }, index) => {
      const balance = BigInt(resultOf<string>(outcomes[index]))
      return { address, held: balance < toUnits(held) ? balance : toUnits(held) }
    })
    .filter(({ held }) => held > 0n)
}

/** Logs coins at earlier treasuries, once at the start. Throws UNAVAILABLE. */
export async function logEarlierTreasuries({ rpc, database, treasury, log }: WorkerParts): Promise<void> {
  for (const { address, held } of await findCoinsAtEarlier(rpc, database, treasury.address))
    log.error(
      { address, held: fromUnits(held), treasury: treasury.address },
      'Coins of users are at an earlier treasury; set CHAIN_TREASURY_KEY back until they are paid out',
    )
}
