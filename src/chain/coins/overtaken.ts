/** Finds coin transfers that can never be included, because an unknown transaction used their nonces. */
import type { CoinMove } from '../../domain/ports/coins.ts'
import type { Problem } from '../log-dedupe.ts'
import { quantity, RpcError } from '../rpc.ts'
import type { ChainView } from '../view.ts'
import { readAddresses } from './addresses.ts'
import type { MoverParts } from './parts.ts'

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
