/**
 * Gives nonces of the treasury up at which no block has room for what is signed: an empty transfer to itself takes the place of the payment, which
 * is given back once that is settled. Only one transaction of a nonce gets into the chain, so whatever became of the other does not matter.
 */
import type { CoinMove } from '../../domain/ports/coins.ts'
import { smaller } from '../fees.ts'
import { signCoins } from '../key-pairs.ts'
import type { RpcError } from '../rpc.ts'
import type { ChainView } from '../view.ts'
import type { MoverParts, SendMemory } from './parts.ts'
import { mostGas } from './plan.ts'

/** How often a payment is refused, once a block, until its nonce is given up: one node of several may be wrong. */
const REFUSALS = 10

/** More than any chain asks for a transfer: what is not used costs nothing. */
const FILLER_GAS = 100_000n

/** Whether no node will ever take a transaction with so much gas, whatever it offers. */
export const isTooMuchGas = ({ message }: RpcError): boolean => /gas.?limit|intrinsic gas/i.test(message)

const refusalsOf = ({ transactions }: CoinMove, { refusals }: SendMemory) =>
  transactions.filter(({ isCurrent }) => isCurrent).reduce((sum, { hash }) => sum + (refusals.get(hash)?.times ?? 0), 0)

/** Signs and stores fillers for each of these moves out of the treasury that was refused for long; they are sent from the next step on. */
export async function fillRefused(parts: MoverParts, view: ChainView, moves: readonly CoinMove[]): Promise<void> {
  const { books, memory, treasury, log } = parts
  for (const move of moves) {
    const isGivenUp = move.sender === treasury.address && refusalsOf(move, memory) >= REFUSALS
    if (!isGivenUp) continue
    if (await books.storeFillers(move.id, signFillers(parts, view, move)))
      log.warn(
        { treasury: treasury.address, nonce: move.nonce },
        'Payment rejected by all nodes; replacing it by an empty transaction and refunding it',
      )
  }
}

/** One at each price that the payment was signed for: they follow the price of gas as it would have. */
function signFillers({ treasury }: MoverParts, view: ChainView, { nonce, transactions }: CoinMove) {
  const { chainId } = view
  const filler = { chainId, nonce, to: treasury.address, value: 0n, gasLimit: smaller(FILLER_GAS, mostGas(view)) }
  const prices = transactions.filter(({ isCurrent }) => isCurrent).map(({ gasPrice }) => gasPrice)
  return signCoins(
    treasury.privateKey,
    prices.map((gasPrice) => ({ ...filler, gasPrice })),
  )
}
