/**
 * At which prices of gas coins are moved, and when they are dust. What is signed for a move is a ladder: one nonce, prices that double from
 * step to step. Whatever gas costs later, one of the steps fits, and no key is needed for it. All amounts in wei.
 */

import { type FeeMarket, larger, smaller } from '../../../chain/fees.ts'
import type { ChainView } from '../../../chain/view.ts'
import type { CoinPlan } from '../../../keys/key-types.ts'

/** Gas of a plain transfer to an account. */
export const TRANSFER_GAS = 21_000n
/** Gas that any payment may need: one to a wallet that is a contract needs some tens of thousands. */
const MOST_GAS = 500_000n
/** A payment that wants much of a block waits for one that has it left, and one that wants more than a block has, for ever. */
const SHARE_OF_BLOCK = 4n
/** Coins are gathered once the fee is at most this part of them. */
export const DUST_FACTOR = 100n

/** What a transfer that is to be included soon offers for a unit of gas: the base fee may rise once meanwhile. Undefined above `cap`. */
export const presentPrice = ({ nextBaseFee, tip }: FeeMarket, cap: bigint): bigint | undefined =>
  nextBaseFee > cap ? undefined : smaller((nextBaseFee * 9n) / 8n + larger(tip, 1n), cap)

/** The gas that a payment may need at most: what needs more could be kept out of every block, and hold up all payments behind it. */
export const mostGas = ({ gasLimit }: Pick<ChainView, 'gasLimit'>): bigint =>
  larger(TRANSFER_GAS, smaller(MOST_GAS, gasLimit / SHARE_OF_BLOCK))

/** Prices that double from `lowest` to `cap`, which is the last. */
export function pricesUpTo(lowest: bigint, cap: bigint): bigint[] {
  const prices: bigint[] = []
  for (let price = larger(lowest, 1n); price < cap; price *= 2n) prices.push(price)
  return [...prices, cap]
}

/** What the ladder has in common. */
type Way = Pick<CoinPlan, 'chainId' | 'nonce' | 'to'>

/**
 * What is left of `amount` when the chain loses the newest of these, the newest two and so on, or any single one; each once. Of less than
 * nothing, nothing.
 */
export function lessenedBy(amount: bigint, newest: readonly bigint[]): bigint[] {
  const left = newest.flatMap((lost, index) => [
    amount - lost,
    amount - newest.slice(0, index + 1).reduce((sum, each) => sum + each, 0n),
  ])
  return [...new Set(left)].filter((each) => each > 0n)
}

/** Steps that each spend exactly `amount`, the fee out of it; none where the coins pay for none of them. */
export const spendAll = (way: Way, amount: bigint, prices: readonly bigint[]): CoinPlan[] =>
  prices
    .map((gasPrice) => ({ ...way, gasPrice, gasLimit: TRANSFER_GAS, value: amount - TRANSFER_GAS * gasPrice }))
    .filter(({ value }) => value > 0n)
