/**
 * Gives nonces of the treasury up at which no block has room for what is signed: an empty transfer to itself takes the place of the payment, which
 * is given back once that is settled. Only one transaction of a nonce gets into the chain, so whatever became of the other does not matter.
 */
import type { CoinMove } from '../../domain/ports.ts'
import { larger, smaller } from '../fees.ts'
import type { RpcError } from '../rpc.ts'
import { signTransaction } from '../transaction.ts'
import type { ChainView } from '../view.ts'
import type { MoverParts, SendMemory } from './parts.ts'
import { TRANSFER_GAS } from './plan.ts'

/** How often a payment is refused, once a block, until its nonce is given up: one node of several may be wrong. */
const REFUSALS = 10

/** Whether no node will ever take a transaction with so much gas, whatever it offers. */
export const isTooMuchGas = ({ message }: RpcError): boolean => /gas.?limit|intrinsic gas/i.test(message)

const refusalsOf = ({ transactions }: CoinMove, { refusals }: SendMemory) =>
  transactions.filter(({ isCurrent }) => isCurrent).reduce((sum, { hash }) => sum + (refusals.get(hash)?.times ?? 0), 0)

/** Signs and stores a filler for each of these moves out of the treasury that was refused for long; it is sent with the next step. */
export async function fillRefused(parts: MoverParts, view: ChainView, moves: readonly CoinMove[]): Promise<void> {
  const { books, memory, treasury, log } = parts
  for (const move of moves) {
    const isGivenUp = move.sender === treasury.address && refusalsOf(move, memory) >= REFUSALS
    if (!isGivenUp) continue
    const filler = signFiller(parts, view, move.nonce)
    if (await books.storeFiller(move.id, filler))
      log.warn(
        { move: move.id, nonce: move.nonce },
        'No node takes a payment that is signed for; an empty transaction goes in its place, and the payment is given back',
      )
  }
}

/** For the highest price of gas, because it is signed once; it pays what gas costs when it is included, and the tip. */
function signFiller({ treasury, maxFeePerGas: cap }: MoverParts, { chainId, tip }: ChainView, nonce: number) {
  const fees = { maxFeePerGas: cap, maxPriorityFeePerGas: smaller(larger(tip, 1n), cap) }
  const plan = { chainId, nonce, to: treasury.address, data: '0x', gasLimit: TRANSFER_GAS, ...fees }
  const { hash, raw } = signTransaction(treasury, plan)
  return { hash, raw, value: 0n, gasPrice: cap }
}
