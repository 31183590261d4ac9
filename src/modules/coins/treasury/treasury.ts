/** The treasury: its account, its available balance, coins in former treasury accounts, and its worker. */
import { createRelayAccount, type RelayAccount, toHex } from '../../../chain/keys.ts'
import type { LogDeduper } from '../../../chain/poller.ts'
import { callEach, quantity, type Rpc } from '../../../chain/rpc.ts'
import { smaller } from '../../../chain/transaction.ts'
import { type ChainView, readAccounts } from '../../../chain/view.ts'
import type { Database } from '../../../db/database-types.ts'
import { findSetting, keyValueKeys } from '../../../db/key-value-store.ts'
import type { FeedNotifications } from '../../../db/processes.ts'
import type { Custody } from '../../../keys/envelope-encryption.ts'
import type { KeyVault } from '../../../keys/key-vault.ts'
import type { Log } from '../../../shared/log.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { Meter } from '../../../telemetry/telemetry-types.ts'
import { findSender } from '../coin-transfers.sql.ts'
import { findEarlierTreasuries, findStoredTreasuries, markTreasuryInDoubt, storeTreasury } from '../treasury.sql.ts'
import { freeBalance } from './quote-transfer.ts'
import { type Counted, count, findUnknown } from './unknown-transactions.ts'

/** Cached state of transactions, by hash. After a restart, transactions are sent once more. */
export interface WorkerMemory {
  /** Time at which a node last accepted or rejected the transaction. */
  sentAt: Map<string, number>
  /** Time and head at which a node first accepted the transaction. */
  waitingFrom: Map<string, { at: number; head: number }>
  /** Number of rejections because no block has room for the transaction, and the head of the last one. */
  rejections: Map<string, { times: number; head: number }>
  /** Time since which a node has no block at the height of the transaction's block. */
  lackingSince: Map<string, number>
  /** True if the chain has transactions of the treasury that the ledger does not know. */
  isTreasuryInDoubt?: boolean
  /** Last search for unknown payments of earlier treasuries, and the nonces that were missing then. */
  earlier?: { missing: string; at: number; unsettled: string | undefined }
  /** Stored number of suspended transfers that wait for a credit. */
  waitingTransfers?: number
}

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
  maxFeePerGas: bigint
  /** Time for which a node with fewer blocks than seen before counts as behind, in milliseconds. */
  doubtPatience: number
  memory: WorkerMemory
  dedupers: Record<'sending' | 'suspended' | 'sweeping' | 'treasury' | 'conflict', LogDeduper>
  stopping: AbortSignal
}

/** Returns the account of the treasury: from the configured key, else derived from the vault's key. */
export const createTreasury = (key: string | undefined, vault: Pick<KeyVault, 'derive'>): RelayAccount =>
  createRelayAccount(key ?? toHex(vault.derive('treasury')))

/** Balance and nonce of the treasury. `free`: wei that no signed transfer uses. */
export type Treasury = { free: bigint; nextNonce: number }

/** Reads the balance of the treasury. Returns `inDoubt` while the ledger lacks transactions of a treasury. */
export async function readTreasury(parts: WorkerParts, view: ChainView): Promise<Treasury | { inDoubt: string }> {
  const { database, rpc, memory, treasury } = parts
  const { address } = treasury
  // Read at one block: a transfer that is included in between would count twice.
  const [seen] = await readAccounts(rpc, [address], quantity(view.head.number))
  const { count: sent } = seen!
  const earlier = await findUnsettledEarlier(parts, view)
  const [stored] = earlier === undefined ? await database.query(storeTreasury, { address, count: sent }) : []
  const [sender] = await database.query(findSender, { sender: address })
  const { nextNonce, open } = sender!
  const known = Math.max(nextNonce, stored?.first ?? 0)
  // Every transfer is stored before it is sent. The pending count is Infinity if the node does not report its pool.
  const pending = view.pendingCounts.get(address) ?? sent
  const isAhead = sent > known || (Number.isFinite(pending) && pending > known)
  const doubtful = earlier ?? (isAhead ? address : undefined)
  const inDoubt = doubtful !== undefined
  if (memory.isTreasuryInDoubt !== inDoubt) await database.query(markTreasuryInDoubt, { address, inDoubt })
  memory.isTreasuryInDoubt = inDoubt
  return inDoubt ? { inDoubt: doubtful } : { free: freeBalance(seen!, open), nextNonce: Math.max(nextNonce, sent) }
}

/** Pause between two searches, in milliseconds. On a long chain each one needs dozens of requests. */
const SEARCH_PAUSE_MS = 60_000

/**
 * Returns an earlier treasury with a payment that the ledger does not know. Possible if a database from before the
 * change of the treasury was restored. Transfers between treasuries are not payments.
 */
async function findUnsettledEarlier(
  { database, rpc, memory, treasury: { address } }: WorkerParts,
  { head }: ChainView,
): Promise<string | undefined> {
  if ((await database.query(findSetting, { key: `${keyValueKeys.treasury}${address}` })).length > 0) return undefined
  const counted = await count(rpc, await database.query(findStoredTreasuries), head.number)
  const missing = counted.map((each) => `${each.address} ${each.missing}`).join()
  const { earlier } = memory
  if (earlier?.missing === missing && performance.now() - earlier.at < SEARCH_PAUSE_MS) return earlier.unsettled
  const found = await findUnknown({ rpc, onProgress() {} }, head.number, counted)
  const ours = new Set([address, ...counted.map((each) => each.address)])
  const hasPaid = (each: Counted) => found.of(each).filter(({ to }) => ours.has(to)).length < each.missing.length
  const unsettled = counted.find(hasPaid)?.address
  memory.earlier = { missing, at: performance.now(), unsettled }
  return unsettled
}

/** Returns the earlier treasuries that hold swept coins according to ledger and chain, in wei. Throws UNAVAILABLE. */
export async function findCoinsAtEarlier(rpc: Rpc, { query }: Pick<Database, 'query'>, current: string) {
  const booked = await query(findEarlierTreasuries, { current })
  const addresses = booked.map(({ address }) => [address, 'latest'])
  const balances = (await callEach<string>(rpc, 'eth_getBalance', addresses)).map(BigInt)
  return booked
    .map(({ address, held }, index) => ({ address, held: smaller(balances[index]!, toUnits(held)) }))
    .filter(({ held }) => held > 0n)
}

/** Logs coins at earlier treasuries, once at the start. Throws UNAVAILABLE. */
export async function logEarlierTreasuries({ rpc, database, treasury, log }: WorkerParts): Promise<void> {
  const message =
    'Coins of users are at an earlier treasury; restore the earlier CHAIN_TREASURY_KEY until these coins are paid out'
  for (const { address, held } of await findCoinsAtEarlier(rpc, database, treasury.address))
    log.error({ address, held: fromUnits(held), treasury: treasury.address }, message)
}
