/** Reads what became of moves of coins: in a block, settled, displaced. */

import type { Problem } from '../../../chain/log-dedupe.ts'
import { feeOf, hasSucceeded, type ReceiptReply } from '../../../chain/replies.ts'
import { quantity, type Rpc, RpcError, resultOf } from '../../../chain/rpc.ts'
import { type BlockId, type ChainView, isGone, readBlockHashes } from '../../../chain/view.ts'
import { fromUnits } from '../../../shared/money.ts'
import type { CoinMove, PlacedMove } from '../coin-types.ts'
import { readAddresses } from './addresses.ts'
import type { MoverParts } from './parts.ts'

/** A move whose block is known. */
type Placed = CoinMove & { blockNumber: number; blockHash: string }
const isPlaced = (move: CoinMove): move is Placed => move.blockNumber !== null && move.blockHash !== null

/** The chain at one moment, and how deep a block lies whose moves are not looked at any more. */
export interface Depths {
  view: ChainView
  depth: number
}

/** Brings these moves up to what the chain says. Returns those that are not in it. */
export async function followMoves(parts: MoverParts, depths: Depths, moves: readonly CoinMove[]): Promise<CoinMove[]> {
  const displaced = await checkPlaced(parts, depths, moves.filter(isPlaced))
  const waiting = moves.filter((move) => !isPlaced(move) || displaced.has(move.id))
  const included = await readReceipts(parts, waiting)
  return waiting.filter(({ id }) => !included.has(id))
}

/**
 * Settles what is deep enough and takes back what lost its block. What its recipient refused counts once its block is not looked at any
 * more: it is given back, and its transaction could arrive in another block. Returns which ones lost theirs.
 */
async function checkPlaced(
  parts: MoverParts,
  { view: { head }, depth }: Depths,
  moves: readonly Placed[],
): Promise<Set<string>> {
  if (moves.length === 0) return new Set()
  const canonical = await readBlockHashes(parts.rpc, [...new Set(moves.map(({ blockNumber }) => blockNumber))])
  const displaced = moves.filter((move) => hasLostBlock(parts, move, canonical, head))
  if (displaced.length > 0) {
    await parts.books.markDisplaced(displaced.map(({ id }) => id))
    parts.log.warn(
      { transfers: displaced.length },
      'Chain reorganization; sending coin transfers of its lost blocks again',
    )
    for (const { transactionHash } of displaced) {
      parts.memory.sentAt.delete(transactionHash)
      parts.memory.lackingSince.delete(transactionHash)
    }
  }
  const deep = moves.filter(
    ({ status, hasArrived, blockNumber, blockHash }) =>
      status === 'INCLUDED' &&
      canonical.get(blockNumber) === blockHash &&
      head.number - blockNumber >= (hasArrived ? parts.confirmations : depth),
  )
  if (deep.length > 0) await parts.books.settle(deep)
  return new Set(displaced.map(({ id }) => id))
}

/** Whether the chain has another block there, or, for as long as a node may be behind others, none so high any more. */
function hasLostBlock(
  { memory: { lackingSince }, doubtPatience }: MoverParts,
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

/** Moves whose nonces are used, of those for which more than one amount is signed. */
async function findUsed(rpc: Rpc, moves: readonly CoinMove[]): Promise<Set<string>> {
  const several = moves.filter(({ transactions }) => transactions.some(({ isCurrent }) => !isCurrent))
  const outcomes = await rpc.batch(
    several.map(({ sender }) => ({ method: 'eth_getTransactionCount', params: [sender, 'latest'] })),
  )
  const used = several.filter(({ nonce }, index) => Number(resultOf<string>(outcomes[index])) > nonce)
  return new Set(used.map(({ id }) => id))
}

/** Whichever of its transactions got in is the one that counts. Returns which moves are in a block now. */
async function readReceipts(parts: MoverParts, moves: readonly CoinMove[]): Promise<Set<string>> {
  const used = await findUsed(parts.rpc, moves)
  const asked = moves.flatMap(({ id, transactions }) =>
    transactions.filter(({ isCurrent }) => isCurrent || used.has(id)).map(({ hash }) => ({ id, hash })),
  )
  if (asked.length === 0) return new Set()
  const outcomes = await parts.rpc.batch(
    asked.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  const placed = asked.flatMap(({ id }, index): PlacedMove[] => {
    const receipt = resultOf<ReceiptReply | null>(outcomes[index])
    if (!receipt) return []
    return [
      {
        id,
        transactionHash: receipt.transactionHash,
        blockNumber: Number(receipt.blockNumber),
        blockHash: receipt.blockHash,
        fee: feeOf(receipt),
        hasArrived: hasSucceeded(receipt),
      },
    ]
  })
  if (placed.length > 0) await parts.books.markIncluded(placed)
  for (const { fee } of placed) parts.meter.count('annal_relay_fees_paid_coins_total', {}, Number(fromUnits(fee)))
  return new Set(placed.map(({ id }) => id))
}

/** A node that keeps no state from then stops nothing. */
const ifKept = (error: unknown) => {
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
export async function findOvertaken(
  { rpc, confirmations }: Pick<MoverParts, 'rpc' | 'confirmations'>,
  { head }: ChainView,
  moves: readonly CoinMove[],
): Promise<Problem | undefined> {
  if (moves.length === 0) return undefined
  const senders = [...new Set(moves.map(({ sender }) => sender))]
  const seen = await readAddresses(rpc, senders, quantity(Math.max(head.number - confirmations, 0))).catch(ifKept)
  if (!seen) return undefined
  const counts = new Map(senders.map((sender, index) => [sender, seen[index]!.count]))
  const [first] = moves.filter(({ sender, nonce }) => nonce < counts.get(sender)!)
  return first && { message: MESSAGE, fields: { address: first.sender, nonce: first.nonce } }
}
