/** Compares coin transfers with the chain: settles included, reverses displaced, and sends other transfers. */
import { toHex } from '../../../chain/keys.ts'
import { logOnce, type Problem } from '../../../chain/poller.ts'
import { callEach, feeOf, hasSucceeded, quantity, RpcError, readReceipts } from '../../../chain/rpc.ts'
import * as transactions from '../../../chain/transaction.ts'
import { type ChainView, isReplaced, readAccounts, readBlockHashes } from '../../../chain/view.ts'
import { keysetPages, undefinedIf } from '../../../shared/async.ts'
import { fromUnits } from '../../../shared/money.ts'
import * as sql from '../coin-transfers.sql.ts'
import type { WorkerMemory, WorkerParts } from './treasury.ts'

type CoinTransfer = sql.CoinTransfer
type Placed = CoinTransfer & { blockNumber: number; blockHash: string }
/** Minimum depth at which transfers are no longer checked, in blocks. */
const WATCHED_BLOCKS = 128
const PAGE = 200

/** Returns true if there are transfers that can still change. */
export async function reconcileTransfers(parts: WorkerParts, view: ChainView): Promise<boolean> {
  const depth = Math.max(WATCHED_BLOCKS, 2 * parts.confirmations)
  const youngest = Math.max(view.head.number - depth, 0)
  const waiting = new Set<string>()
  let hasTransfers = false
  let problem: Problem | undefined
  let conflict: Problem | undefined
  const pages = keysetPages({
    ...{ first: { sender: '', nonce: 0 }, limit: PAGE },
    read: ({ sender: afterSender, nonce: afterNonce }, limit) =>
      parts.database.query(sql.findTransfers, { youngest, afterSender, afterNonce, limit }),
    keyOf: (transfer) => transfer,
  })
  for await (const transfers of pages) {
    if (parts.stopping.aborted) break
    hasTransfers = true
    const displaced = await checkPlaced(parts, view, depth, transfers)
    const unplaced = transfers.filter((transfer) => !isPlaced(transfer) || displaced.has(transfer.id))
    const included = await storeIncluded(parts, unplaced)
    const left = unplaced.filter(({ id }) => !included.has(id))
    conflict ??= await findNonceConflict(parts, view, left)
    problem = (await sendTransfers(parts, view, left)) ?? problem
    for (const { transactions } of left) for (const { hash } of transactions) waiting.add(hash)
  }
  for (const cache of [parts.memory.sentAt, parts.memory.waitingFrom])
    for (const hash of cache.keys()) if (!waiting.has(hash)) cache.delete(hash)
  logOnce(parts.log, parts.dedupers.sending, problem, 'Sending of coin transfers recovered')
  logOnce(parts.log, parts.dedupers.conflict, conflict, 'Conflicts of coin transfers over used nonces resolved')
  return hasTransfers
}

const isPlaced = (transfer: CoinTransfer): transfer is Placed =>
  transfer.blockNumber !== null && transfer.blockHash !== null

/**
 * Settles deep transfers, and reverses transfers that lost their block. Returns the IDs of the latter. A refused payment
 * is settled (and refunded) only at the full depth, because its coins could still arrive in another block.
 */
async function checkPlaced(parts: WorkerParts, { head }: ChainView, depth: number, transfers: readonly CoinTransfer[]) {
  const { database, log, memory, confirmations } = parts
  const placed = transfers.filter(isPlaced)
  const canonical = await readBlockHashes(parts.rpc, [...new Set(placed.map(({ blockNumber }) => blockNumber))])
  const displaced = placed.filter((transfer) => {
    const { blockNumber: number, blockHash: hash, transactionHash } = transfer
    const isMissing = isReplaced({ number, hash }, canonical, head)
    if (!isMissing || canonical.get(number) !== undefined) {
      memory.lackingSince.delete(transactionHash)
      return isMissing
    }
    // The node has no block at this height. The node may only be behind other nodes.
    const since = memory.lackingSince.get(transactionHash) ?? performance.now()
    memory.lackingSince.set(transactionHash, since)
    return performance.now() - since >= parts.doubtPatience
  })
  const ids = displaced.map(({ id }) => id)
  if (displaced.length > 0) {
    await database.transaction(async (query) => {
      await query(sql.lockTransfers, { ids })
      await query(sql.displaceTransfers, { ids })
    })
    log.warn({ transfers: ids.length }, 'Chain reorganization; sending the coin transfers of lost blocks again')
  }
  for (const { transactionHash } of displaced) {
    memory.sentAt.delete(transactionHash)
    memory.lackingSince.delete(transactionHash)
  }
  const deep = placed.filter(
    ({ status, hasArrived, blockNumber, blockHash }) =>
      status === 'INCLUDED' &&
      canonical.get(blockNumber) === blockHash &&
      head.number - blockNumber >= (hasArrived ? confirmations : depth),
  )
  const blockHashes = deep.map(({ blockHash }) => blockHash)
  if (deep.length > 0) await database.query(sql.settleTransfers, { ids: deep.map(({ id }) => id), blockHashes })
  return new Set(ids)
}

/** Stores the included transaction of each transfer. Returns the IDs of the included transfers. */
async function storeIncluded({ rpc, database, meter }: WorkerParts, transfers: readonly CoinTransfer[]) {
  // A transaction with another amount than the ledger is only possible if the nonce is used.
  const several = transfers.filter(({ transactions }) => transactions.some(({ isCurrent }) => !isCurrent))
  const senders = several.map(({ sender }) => [sender, 'latest'])
  const counts = await callEach<string>(rpc, 'eth_getTransactionCount', senders)
  const used = new Set(several.filter(({ nonce }, index) => Number(counts[index]) > nonce))
  const candidates = transfers.flatMap((transfer) =>
    transfer.transactions
      .filter(({ isCurrent }) => isCurrent || used.has(transfer))
      .map(({ hash }) => ({ id: transfer.id, hash })),
  )
  const hashes = candidates.map(({ hash }) => hash)
  const receipts = await readReceipts(rpc, hashes)
  const placed = candidates.flatMap(({ id }, index) => {
    const receipt = receipts[index]
    return receipt ? [{ id, receipt, fee: fromUnits(feeOf(receipt)) }] : []
  })
  const ids = placed.map(({ id }) => id)
  if (placed.length > 0)
    await database.query(sql.markTransfersIncluded, {
      ids,
      hashes: placed.map(({ receipt }) => receipt.transactionHash),
      blockNumbers: placed.map(({ receipt }) => Number(receipt.blockNumber)),
      blockHashes: placed.map(({ receipt }) => receipt.blockHash),
      fees: placed.map(({ fee }) => fee),
      arrived: placed.map(({ receipt }) => hasSucceeded(receipt)),
    })
  for (const { fee } of placed) meter.count('annal_relay_fees_paid_coins_total', {}, Number(fee))
  return new Set(ids)
}

/**
 * Returns the problem of the first transfer whose nonce an unknown transaction used, at the confirmation depth. Returns
 * undefined if the node has no state at that depth. Throws UNAVAILABLE.
 */
async function findNonceConflict(
  { rpc, confirmations }: WorkerParts,
  { head }: ChainView,
  transfers: readonly CoinTransfer[],
): Promise<Problem | undefined> {
  if (transfers.length === 0) return undefined
  const senders = [...new Set(transfers.map(({ sender }) => sender))]
  const block = quantity(Math.max(head.number - confirmations, 0))
  const seen = await readAccounts(rpc, senders, block).catch(undefinedIf((error) => error instanceof RpcError))
  if (!seen) return undefined
  const counts = new Map(senders.map((sender, index) => [sender, seen[index]!.count]))
  const first = transfers.find(({ sender, nonce }) => nonce < counts.get(sender)!)
  const message =
    'Coin transfer waits: an unknown transaction used its nonce. Another installation has the same key; stop it'
  return first && { message, fields: { address: first.sender, nonce: first.nonce } }
}

const currentOf = (transfer: CoinTransfer) => transfer.transactions.filter(({ isCurrent }) => isCurrent)

/**
 * Returns the hash of the transaction to send: the cheapest that the next block accepts, and never a cheaper one than
 * before. While gas costs more than the highest signed price, the hash stays the same.
 */
function chooseTransaction(transfer: CoinTransfer, view: ChainView, memory: WorkerMemory): string {
  const ladder = currentOf(transfer)
  const highest = ladder.length - 1
  const { transactionHash, status } = transfer
  const current = status === 'SIGNED' ? 0 : ladder.findIndex(({ hash }) => hash === transactionHash)
  const affordable = ladder.findIndex(({ gasPrice }) => BigInt(gasPrice) >= (view.nextBaseFee * 9n) / 8n)
  if (BigInt(ladder[highest]!.gasPrice) < view.nextBaseFee) return ladder[Math.max(current, 0)]!.hash
  const wanted = Math.max(current, affordable === -1 ? highest : affordable)
  const { hash } = ladder[wanted]!
  const from = memory.waitingFrom.get(hash)
  const isStuck =
    from !== undefined &&
    performance.now() - from.at > transactions.STUCK_SECONDS * 1_000 &&
    view.head.number - from.head >= transactions.STUCK_BLOCKS
  return isStuck && wanted < highest ? ladder[wanted + 1]!.hash : hash
}

/** Sends transfers, at a higher price if they are stuck. Returns the first problem. */
async function sendTransfers(parts: WorkerParts, view: ChainView, transfers: readonly CoinTransfer[]) {
  const { memory, database, rpc } = parts
  const now = performance.now()
  const due = transfers
    .filter((transfer) => currentOf(transfer).length > 0)
    .map((transfer) => ({ id: transfer.id, sender: transfer.sender, hash: chooseTransaction(transfer, view, memory) }))
    .filter(({ hash }) => now - (memory.sentAt.get(hash) ?? Number.NEGATIVE_INFINITY) > transactions.RESEND_AFTER_MS)
  if (due.length === 0) return undefined
  const stored = await database.query(sql.findCoinRaw, { hashes: due.map(({ hash }) => hash) })
  const raws = new Map(stored.map(({ hash, raw }) => [hash, raw]))
  const calls = due.map(({ hash }) => ({ method: 'eth_sendRawTransaction', params: [toHex(raws.get(hash)!)] }))
  const outcomes = await rpc.batch(calls)
  let problem: Problem | undefined
  const accepted = due.filter(({ sender, hash }, index) => {
    const error = outcomes[index]?.error
    // Set after a rejection too, so that the transaction is not sent again immediately.
    memory.sentAt.set(hash, now)
    if (!error || transactions.isTaken(error)) return true
    problem ??= transactions.isPoor(error)
      ? { message: 'Coin transfer waits: its address has too few coins; retrying', fields: { address: sender } }
      : { message: 'The node rejected a coin transfer; retrying', reason: error.message, fields: { address: sender } }
    return false
  })
  const hashes = accepted.map(({ hash }) => hash)
  for (const hash of hashes)
    if (!memory.waitingFrom.has(hash)) memory.waitingFrom.set(hash, { at: now, head: view.head.number })
  if (accepted.length > 0) await database.query(sql.markTransfersSent, { ids: accepted.map(({ id }) => id), hashes })
  return problem
}
