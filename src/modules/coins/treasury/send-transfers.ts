/** Sends stored transactions of coin transfers at the present gas price, and at a higher price if they are not included. */

import { toHex } from '../../../chain/keys.ts'
import type { Problem } from '../../../chain/poller.ts'
import type { RpcError } from '../../../chain/rpc.ts'
import {
  isPoor,
  isTaken,
  RESEND_AFTER_MS,
  STUCK_BLOCKS,
  STUCK_SECONDS,
  signCoins,
  smaller,
} from '../../../chain/transaction.ts'
import type { ChainView } from '../../../chain/view.ts'
import { type CoinTransfer, findCoinRaw, markMovesSent, storeFillers } from '../coin-transfers.sql.ts'
import { maxPaymentGas } from './gas-prices.ts'
import type { WorkerMemory, WorkerParts } from './treasury.ts'

/**
 * Returns the hash of the transaction to send: the cheapest that the next block accepts, and never a cheaper one than before. While gas costs more
 * than the highest signed price, it stays the same: the full price is paid even if gas is cheap again at inclusion.
 */
function chooseStep(
  { transactions, transactionHash, status }: CoinTransfer,
  view: ChainView,
  memory: WorkerMemory,
): string {
  const ladder = transactions.filter(({ isCurrent }) => isCurrent)
  const highest = ladder.length - 1
  const current = status === 'SIGNED' ? 0 : ladder.findIndex(({ hash }) => hash === transactionHash)
  const affordable = ladder.findIndex(({ gasPrice }) => BigInt(gasPrice) >= (view.nextBaseFee * 9n) / 8n)
  if (BigInt(ladder[highest]!.gasPrice) < view.nextBaseFee) return ladder[Math.max(current, 0)]!.hash
  const wanted = Math.max(current, affordable === -1 ? highest : affordable)
  const { hash } = ladder[wanted]!
  const from = memory.waitingFrom.get(hash)
  const isStuck =
    from !== undefined &&
    performance.now() - from.at > STUCK_SECONDS * 1_000 &&
    view.head.number - from.head >= STUCK_BLOCKS
  return isStuck && wanted < highest ? ladder[wanted + 1]!.hash : hash
}

/** Returns true if it is time to send: regularly, because pools drop transactions, and at each block after a rejection for its gas limit. */
function isDue(hash: string, { sentAt, rejections }: WorkerMemory, head: number): boolean {
  const rejected = rejections.get(hash)
  if (rejected && rejected.head !== head) return true
  return performance.now() - (sentAt.get(hash) ?? Number.NEGATIVE_INFINITY) > RESEND_AFTER_MS
}

/** Sends transfers that no node accepted, that were forgotten, lost their block, or offer too little. Returns the first problem. */
export async function sendTransfers(
  parts: WorkerParts,
  view: ChainView,
  transfers: readonly CoinTransfer[],
): Promise<Problem | undefined> {
  const { memory } = parts
  const now = performance.now()
  const due = transfers
    .filter(({ transactions }) => transactions.some(({ isCurrent }) => isCurrent))
    .map((transfer) => ({ id: transfer.id, sender: transfer.sender, hash: chooseStep(transfer, view, memory) }))
    .filter(({ hash }) => isDue(hash, memory, view.head.number))
  if (due.length === 0) return undefined
  const stored = await parts.database.query(findCoinRaw, { hashes: due.map(({ hash }) => hash) })
  const raws = new Map(stored.map(({ hash, raw }) => [hash, raw]))
  const outcomes = await parts.rpc.batch(
    due.map(({ hash }) => ({ method: 'eth_sendRawTransaction', params: [toHex(raws.get(hash)!)] })),
  )
  let problem: Problem | undefined
  const taken = due.filter(({ sender, hash }, index) => {
    const error = outcomes[index]?.error
    // Set after a rejection too, so that the transaction is not sent again immediately.
    memory.sentAt.set(hash, now)
    const times = (memory.rejections.get(hash)?.times ?? 0) + 1
    memory.rejections.delete(hash)
    if (!error || isTaken(error)) return true
    if (isTooMuchGas(error)) memory.rejections.set(hash, { times, head: view.head.number })
    problem ??= isPoor(error)
      ? { message: 'Coin transfer waits: its address has too few coins; retrying', fields: { address: sender } }
      : { message: 'The node rejected a coin transfer; retrying', reason: error.message, fields: { address: sender } }
    return false
  })
  for (const { hash } of taken) {
    if (!memory.waitingFrom.has(hash)) memory.waitingFrom.set(hash, { at: now, head: view.head.number })
  }
  if (taken.length > 0)
    await parts.database.query(markMovesSent, {
      ids: taken.map(({ id }) => id),
      hashes: taken.map(({ hash }) => hash),
    })
  return problem
}

/** Removes cached data of all transactions except these. */
export function forgetSettled({ sentAt, waitingFrom, rejections }: WorkerMemory, hashes: ReadonlySet<string>): void {
  for (const memory of [sentAt, waitingFrom, rejections])
    for (const hash of memory.keys()) if (!hashes.has(hash)) memory.delete(hash)
}

/** Number of rejections, one per block, until a payment is canceled. One node of several can be wrong. */
const MAX_REJECTIONS = 10

/** More gas than any chain needs for a transfer. Unused gas costs nothing. */
const FILLER_GAS = 100_000n

/** Returns true if the node rejects a transaction for its gas limit, at any price. */
const isTooMuchGas = ({ message }: RpcError): boolean => /gas.?limit|intrinsic gas/i.test(message)

const rejectionsOf = ({ transactions }: CoinTransfer, { rejections }: WorkerMemory) =>
  transactions
    .filter(({ isCurrent }) => isCurrent)
    .reduce((sum, { hash }) => sum + (rejections.get(hash)?.times ?? 0), 0)

/**
 * Cancels payments that nodes have rejected for long because no block has room for them. It signs and stores an empty transfer of the treasury to
 * itself at the same nonce. The next step sends it, and the payment is refunded once it is settled. Only one transaction of a nonce can be included.
 */
export async function cancelRejected(
  parts: WorkerParts,
  view: ChainView,
  transfers: readonly CoinTransfer[],
): Promise<void> {
  const { database, memory, treasury, log } = parts
  for (const transfer of transfers) {
    const isRejected = transfer.sender === treasury.address && rejectionsOf(transfer, memory) >= MAX_REJECTIONS
    if (!isRejected) continue
    const fillers = signFillers(parts, view, transfer)
    const stored = await database.query(storeFillers, {
      move: transfer.id,
      hashes: fillers.map(({ hash }) => hash),
      raws: fillers.map(({ raw }) => raw),
      prices: fillers.map(({ gasPrice }) => String(gasPrice)),
    })
    if (stored.length > 0)
      log.warn(
        { treasury: treasury.address, nonce: transfer.nonce },
        'Payment rejected by all nodes; replacing it by an empty transaction and refunding it',
      )
  }
}

/** Signs one empty transfer at each gas price of the payment. */
function signFillers({ treasury }: WorkerParts, view: ChainView, { nonce, transactions }: CoinTransfer) {
  const { chainId } = view
  const filler = { chainId, nonce, to: treasury.address, value: 0n, gasLimit: smaller(FILLER_GAS, maxPaymentGas(view)) }
  const prices = transactions.filter(({ isCurrent }) => isCurrent).map(({ gasPrice }) => BigInt(gasPrice))
  return signCoins(
    treasury.privateKey,
    prices.map((gasPrice) => ({ ...filler, gasPrice })),
  )
}
