/** The treasury: its account, its available balance, and its payments of due withdrawals. */
import { createRelayAccount, type RelayAccount, toHex } from '../../../chain/keys.ts'
import { type LogDeduper, logOnce } from '../../../chain/poller.ts'
import { callEach, quantity, type Rpc, RpcError } from '../../../chain/rpc.ts'
import { larger, signCoins, smaller } from '../../../chain/transaction.ts'
import { type ChainView, readAccounts } from '../../../chain/view.ts'
import type { Database } from '../../../db/database-types.ts'
import { findSetting, keyValueKeys } from '../../../db/key-value-store.ts'
import type { Infrastructure } from '../../../infrastructure.ts'
import type { KeyVault } from '../../../keys/key-vault.ts'
import { toId } from '../../../shared/ids.ts'
import { fromUnits, toUnits } from '../../../shared/money.ts'
import type { Meter } from '../../../telemetry/telemetry-types.ts'
import { findSender } from '../coin-transfers.sql.ts'
import { transferParams } from '../coin-transfers.ts'
import { findEarlierTreasuries, findStoredTreasuries, markTreasuryInDoubt, storeTreasury } from '../treasury.sql.ts'
import * as sql from '../withdrawals.sql.ts'
import { type Counted, countTransactions, findUnknown } from './compare-coins.ts'
import { freeBalance, isRefusal, maxPaymentGas, presentPrice, pricesUpTo } from './quote-transfer.ts'

/** State of the worker. The keys of maps are transaction hashes. After a restart, transactions are sent once more. */
export interface WorkerMemory {
  /** Time at which a node last accepted or rejected the transaction. */
  sentAt: Map<string, number>
  /** Time and head at which a node first accepted the transaction. */
  waitingFrom: Map<string, { at: number; head: number }>
  /** Time since which a node lacks a block at the height of the transaction. */
  lackingSince: Map<string, number>
  /** True if the chain has transactions of the treasury that the ledger does not know. */
  isTreasuryInDoubt?: boolean
  /** Last search for unknown payments of earlier treasuries, and the nonces that were missing then. */
  earlier?: { missing: string; at: number; unsettled: string | undefined }
  /** Stored number of suspended transfers that wait for a credit. */
  waitingTransfers?: number
}

export interface WorkerParts extends Pick<Infrastructure, 'database' | 'notifications' | 'custody' | 'log'> {
  rpc: Rpc
  meter: Meter
  treasury: RelayAccount
  confirmations: number
  maxFeePerGas: bigint
  /** Time for which a node with fewer blocks than seen before counts as behind, in milliseconds. */
  doubtPatience: number
  memory: WorkerMemory
  dedupers: Record<'sending' | 'suspended' | 'sweeping' | 'treasury' | 'conflict', LogDeduper>
  stopping: AbortSignal
}

/** Creates the account of the treasury from the configured key, or from a key that the vault derives. */
export const createTreasury = (key: string | undefined, vault: Pick<KeyVault, 'derive'>): RelayAccount =>
  createRelayAccount(key ?? toHex(vault.derive('treasury')))

/** `free`: wei that no signed transfer uses. */
type Treasury = { free: bigint; nextNonce: number }

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

/** Pause between two searches, in milliseconds. On a long chain each search needs dozens of requests. */
const SEARCH_PAUSE_MS = 60_000

/** Returns an earlier treasury with a payment that the ledger lacks, as after a restore from before the change. */
async function findUnsettledEarlier(
  { database, rpc, memory, treasury: { address } }: WorkerParts,
  { head }: ChainView,
): Promise<string | undefined> {
  if ((await database.query(findSetting, { key: `${keyValueKeys.treasury}${address}` })).length > 0) return undefined
  const counted = await countTransactions(rpc, await database.query(findStoredTreasuries), head.number)
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

/** Returns the earlier treasuries that hold swept coins by ledger and chain, in wei. Throws UNAVAILABLE. */
export async function findCoinsAtEarlier(rpc: Rpc, { query }: Pick<Database, 'query'>, current: string) {
  const booked = await query(findEarlierTreasuries, { current })
  const addresses = booked.map(({ address }) => [address, 'latest'])
  const balances = (await callEach<string>(rpc, 'eth_getBalance', addresses)).map(BigInt)
  return booked
    .map(({ address, held }, index) => ({ address, held: smaller(balances[index]!, toUnits(held)) }))
    .filter(({ held }) => held > 0n)
}

export async function logEarlierTreasuries({ rpc, database, treasury, log }: WorkerParts): Promise<void> {
  const message =
    'Coins of users are at an earlier treasury; restore the earlier CHAIN_TREASURY_KEY until these coins are paid out'
  for (const { address, held } of await findCoinsAtEarlier(rpc, database, treasury.address))
    log.error({ address, held: fromUnits(held), treasury: treasury.address }, message)
}

/** Maximum number of withdrawals that one step pays, and that one step ends. */
const [PAID_PAGE, ENDED_PAGE] = [20, 100]

const RECOVERED = 'Withdrawals continue'

/** Signs and stores a transfer for each due withdrawal that the treasury can pay, oldest first. */
export async function payWithdrawals(parts: WorkerParts, view: ChainView): Promise<void> {
  const { log, dedupers, memory } = parts
  const price = presentPrice(view, parts.maxFeePerGas)
  if (price === undefined) return
  if ((await sumUnpayable(parts, 0n, price)) === 0n && !memory.isTreasuryInDoubt) return
  const treasury = await readTreasury(parts, view)
  if ('inDoubt' in treasury) {
    // After a restore, `annal coins` compares such transactions with the ledger. Otherwise another party has the key.
    const message = 'Withdrawals wait: the treasury has transactions that the database does not know ("annal coins")'
    return logOnce(log, dedupers.treasury, { message, fields: { treasury: treasury.inDoubt } }, RECOVERED)
  }
  await payPage(parts, view, treasury, price)
  const missing = await sumUnpayable(parts, treasury.free, price)
  const message = 'Withdrawals wait: the treasury has too few coins; send coins to the treasury'
  const fields = { treasury: parts.treasury.address, missing: fromUnits(missing) }
  logOnce(log, dedupers.treasury, missing > 0n ? { message, fields } : undefined, RECOVERED)
}

/** Pays withdrawals one by one and deducts each from the free balance. Refunds withdrawals that need too much gas. */
async function payPage(parts: WorkerParts, view: ChainView, treasury: Treasury, price: bigint): Promise<void> {
  const maxGas = maxPaymentGas(view)
  const prices = pricesUpTo(price, parts.maxFeePerGas)
  const funds = { free: fromUnits(treasury.free), price: fromUnits(price) }
  const page = { ...funds, mostGas: Number(maxGas), limit: PAID_PAGE }
  for (const withdrawal of await parts.database.query(sql.findDueWithdrawals, page)) {
    const [amount, fee, gasLimit] = [toUnits(withdrawal.amount), toUnits(withdrawal.fee), BigInt(withdrawal.gasLimit)]
    if (gasLimit > maxGas)
      await refund(parts, withdrawal, 'The recipient needs more gas to take coins than a payment may.')
    else if (treasury.free < amount + larger(fee, gasLimit * price)) continue
    else if (await payWithdrawal(parts, view, withdrawal, treasury.nextNonce, prices)) {
      treasury.free -= amount + fee
      treasury.nextNonce += 1
    }
  }
}

/** Returns the sum of all due withdrawals that the treasury cannot pay with `free` wei, with their fees. */
async function sumUnpayable({ database }: WorkerParts, free: bigint, price: bigint): Promise<bigint> {
  const [row] = await database.query(sql.sumDueWithdrawals, { free: fromUnits(free), price: fromUnits(price) })
  return toUnits(row!.amount)
}

async function refund({ database, log, notifications }: WorkerParts, { id }: sql.DueWithdrawal, failure: string) {
  log.warn({ withdrawal: toId('withdrawal', id), reason: failure }, 'Withdrawal failed; refunding it')
  const rows = await database.query(sql.failWithdrawal, { withdrawal: id, failure })
  for (const { owner } of rows) notifications.notify(owner)
}

export async function endPaidWithdrawals({ database, notifications }: WorkerParts): Promise<void> {
  const [row] = await database.query(sql.endWithdrawals, { limit: ENDED_PAGE })
  for (const owner of row!.owners) notifications.notify(owner)
}

/** Returns true if the payment was stored. Refunds a withdrawal whose recipient refuses coins. */
async function payWithdrawal(
  parts: WorkerParts,
  { chainId }: ChainView,
  withdrawal: sql.DueWithdrawal,
  nonce: number,
  prices: readonly bigint[],
): Promise<boolean> {
  const { database, rpc, treasury } = parts
  const { id, userId, recipient: to } = withdrawal
  const [value, fee, gasLimit] = [toUnits(withdrawal.amount), toUnits(withdrawal.fee), BigInt(withdrawal.gasLimit)]
  const call = { from: treasury.address, to, value: quantity(value), gas: quantity(gasLimit) }
  try {
    await rpc.call('eth_call', call, 'latest')
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    // Other errors occur again when the transaction is sent.
    if (isRefusal(error)) {
      await refund(parts, withdrawal, 'The recipient refuses coins.')
      return false
    }
  }
  const plans = prices.map((gasPrice) => ({ chainId, nonce, to, value, gasPrice, gasLimit }))
  const signed = signCoins(treasury.privateKey, plans)
  const columns = transferParams({ sender: treasury.address, recipient: to, nonce, amount: value + fee, signed })
  return (await database.query(sql.storeWithdrawal, { ...columns, user: userId, withdrawal: id })).length > 0
}
