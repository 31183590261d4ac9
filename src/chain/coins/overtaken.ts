/** Tells of moves that can never get into the chain, because something that the database does not know has used their nonces. */
import type { CoinMove } from '../../domain/ports/coins.ts'
import { quantity, RpcError } from '../rpc.ts'
import type { ChainView } from '../view.ts'
import { readAddresses } from './addresses.ts'
import type { MoverParts } from './parts.ts'

/** A node that keeps no state from then stops nothing. */
const ifKept = (error: unknown) => {
  if (error instanceof RpcError) return undefined
  throw error
}

/**
 * What is to be told of these moves, of which no transaction is in a block; empty where each may still get into one, and where the node keeps no state
 * from then. A nonce counts as used once its block is as deep as that of a move has to be: a node may be a block behind another. Raises UNAVAILABLE.
 */
export async function overtakenSentence(
  { rpc, confirmations }: Pick<MoverParts, 'rpc' | 'confirmations'>,
  { head }: ChainView,
  moves: readonly CoinMove[],
): Promise<string> {
  if (moves.length === 0) return ''
  const senders = [...new Set(moves.map(({ sender }) => sender))]
  const seen = await readAddresses(rpc, senders, quantity(Math.max(head.number - confirmations, 0))).catch(ifKept)
  if (!seen) return ''
  const counts = new Map(senders.map((sender, index) => [sender, seen[index]!.count]))
  const [first] = moves.filter(({ sender, nonce }) => nonce < counts.get(sender)!)
  if (!first) return ''
  return `Nonce ${first.nonce} of ${first.sender} was used by a transaction that the database does not know, and what is signed at it waits for ever: somebody else has the key, such as another installation with a copy of this database. Stop that one.`
}
