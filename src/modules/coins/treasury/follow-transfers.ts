/** Compares coin transfers with the chain: included, settled, or displaced by a reorganization. */
import type { Problem } from '../../../chain/poller.ts'
import { feeOf, hasSucceeded, quantity, type ReceiptReply, type Rpc, RpcError, resultOf } from '../../../chain/rpc.ts'
import { type BlockId, type ChainView, isGone, readAccounts, readBlockHashes } from '../../../chain/view.ts'
import { fromUnits } from '../../../shared/money.ts'
import { type CoinTransfer, markMovesIncluded, settleMoves } from '../coin-transfers.sql.ts'
import { displaceTransfers } from '../coin-transfers.ts'
import type { WorkerParts } from './treasury.ts'

/** A transfer whose block is known. */
type Placed = CoinTransfer & { blockNumber: number; blockHash: string }
const isPlaced = (transfer: CoinTransfer): transfer is Placed =>
  transfer.blockNumber !== null && transfer.blockHash !== null

/** `depth`: blocks below the head after which transfers are no longer checked. */
interface Depths {
  view: ChainView
  depth: number
}

/** Updates these transfers from the chain. Returns those that are not in it. */
export async function followTransfers(
  parts: WorkerParts,
  depths: Depths,
  transfers: readonly CoinTransfer[],
): Promise<CoinTransfer[]> {
  const displaced = await checkPlaced(parts, depths, transfers.filter(isPlaced))
  const waiting = transfers.filter((transfer) => !isPlaced(transfer) || displaced.has(transfer.id))
  const included = await readReceipts(parts, waiting)
  return waiting.filter(({ id }) => !included.has(id))
}

/**
 * Settles transfers that are deep enough, and reverses those that lost their block. A payment that its recipient refused is settled only at the full
 * depth: it is refunded then, and in another block its coins could still arrive. Returns the IDs of transfers that lost their block.
 */
async function checkPlaced(
  parts: WorkerParts,
  { view: { head }, depth }: Depths,
  transfers: readonly Placed[],
): Promise<Set<string>> {
  if (transfers.length === 0) return new Set()
  const canonical = await readBlockHashes(parts.rpc, [...new Set(transfers.map(({ blockNumber }) => blockNumber))])
  const displaced = transfers.filter((transfer) => hasLostBlock(parts, transfer, canonical, head))
  if (displaced.length > 0) {
    await displaceTransfers(
      parts.database,
      displaced.map(({ id }) => id),
    )
    parts.log.warn(
      { transfers: displaced.length },
      'Chain reorganization; sending coin transfers of its lost blocks again',
    )
    for (const { transactionHash } of displaced) {
      parts.memory.sentAt.delete(transactionHash)
      parts.memory.lackingSince.delete(transactionHash)
    }
  }
  const deep = transfers.filter(
    ({ status, hasArrived, blockNumber, blockHash }) =>
      status === 'INCLUDED' &&
      canonical.get(blockNumber) === blockHash &&
      head.number - blockNumber >= (hasArrived ? parts.confirmations : depth),
  )
  if (deep.length > 0) {
    const blockHashes = deep.map(({ blockHash }) => blockHash)
    await parts.database.query(settleMoves, { ids: deep.map(({ id }) => id), blockHashes })
  }
  return new Set(displaced.map(({ id }) => id))
}

/** Returns true if the chain has another block at this height, or has had no block there for `doubtPatience`. */
function hasLostBlock(
  { memory: { lackingSince }, doubtPatience }: WorkerParts,
  { blockNumber: number, blockHash: hash, transactionHash }: Placed,
  canonical: ReadonlyMap<number, string | undefined>,
  head: BlockId,
): boolean {
  const isMissing = isGone({ number, hash }, canonical, head)
  if (!isMissing || canonical.get(number) !== undefined) {
    lackingSince.delete(transactionHash)
    return isMissing
  }
  const now = performance.now()
  const since = lackingSince.get(transactionHash) ?? now
  lackingSince.set(transactionHash, since)
  return now - since >= doubtPatience
}

/** Returns the IDs of transfers with a used nonce, among those that were signed with several amounts. */
async function findUsed(rpc: Rpc, transfers: readonly CoinTransfer[]): Promise<Set<string>> {
  const several = transfers.filter(({ transactions }) => transactions.some(({ isCurrent }) => !isCurrent))
  const outcomes = await rpc.batch(
    several.map(({ sender }) => ({ method: 'eth_getTransactionCount', params: [sender, 'latest'] })),
  )
  const used = several.filter(({ nonce }, index) => Number(resultOf<string>(outcomes[index])) > nonce)
  return new Set(used.map(({ id }) => id))
}

/** Stores which transaction of each transfer was included. Returns the IDs of transfers that are in a block now. */
async function readReceipts(parts: WorkerParts, transfers: readonly CoinTransfer[]): Promise<Set<string>> {
  const used = await findUsed(parts.rpc, transfers)
  const asked = transfers.flatMap(({ id, transactions }) =>
    transactions.filter(({ isCurrent }) => isCurrent || used.has(id)).map(({ hash }) => ({ id, hash })),
  )
  if (asked.length === 0) return new Set()
  const outcomes = await parts.rpc.batch(
    asked.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  const placed = asked.flatMap(({ id }, index) => {
    const receipt = resultOf<ReceiptReply | null>(outcomes[index])
    return receipt ? [{ id, receipt, fee: fromUnits(feeOf(receipt)) }] : []
  })
  const ids = placed.map(({ id }) => id)
  if (placed.length > 0)
    await parts.database.query(markMovesIncluded, {
      ids,
      hashes: placed.map(({ receipt }) => receipt.transactionHash),
      blockNumbers: placed.map(({ receipt }) => Number(receipt.blockNumber)),
      blockHashes: placed.map(({ receipt }) => receipt.blockHash),
      fees: placed.map(({ fee }) => fee),
      arrived: placed.map(({ receipt }) => hasSucceeded(receipt)),
    })
  for (const { fee } of placed) parts.meter.count('annal_relay_fees_paid_coins_total', {}, Number(fee))
  return new Set(ids)
}

/** Returns undefined if the node does not keep old state. */
const undefinedIfPruned = (error: unknown) => {
  if (error instanceof RpcError) return undefined
  throw error
}

const MESSAGE =
  'Coin transfer waits: an unknown transaction used its nonce. Another installation has the same key; stop it'

/**
 * Returns the problem of the first of these transfers whose nonce was used by another transaction. None of their own transactions is in a block.
 * A nonce counts as used at the confirmation depth, because a node may be behind another. Returns undefined if the node keeps no state from
 * then. Throws UNAVAILABLE.
 */
export async function findNonceConflict(
  { rpc, confirmations }: Pick<WorkerParts, 'rpc' | 'confirmations'>,
  { head }: ChainView,
  transfers: readonly CoinTransfer[],
): Promise<Problem | undefined> {
  if (transfers.length === 0) return undefined
  const senders = [...new Set(transfers.map(({ sender }) => sender))]
  const seen = await readAccounts(rpc, senders, quantity(Math.max(head.number - confirmations, 0))).catch(
    undefinedIfPruned,
  )
  if (!seen) return undefined
  const counts = new Map(senders.map((sender, index) => [sender, seen[index]!.count]))
  const [first] = transfers.filter(({ sender, nonce }) => nonce < counts.get(sender)!)
  return first && { message: MESSAGE, fields: { address: first.sender, nonce: first.nonce } }
}
