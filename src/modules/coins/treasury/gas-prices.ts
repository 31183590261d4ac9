/**
 * Gas prices and gas limits of coin transfers. A transfer is signed several times with one nonce, at prices that double from step to step. Whatever
 * gas costs later, one of them fits, and no key is needed to raise the price. All amounts are in wei.
 */
import { type FeeMarket, larger, smaller } from '../../../chain/transaction.ts'
import type { ChainView, SeenAccount } from '../../../chain/view.ts'
import type { CoinPlan } from '../../../keys/key-types.ts'
import { toUnits } from '../../../shared/money.ts'

/** Gas of a plain transfer to an account. */
export const TRANSFER_GAS = 21_000n
/** Maximum gas of a payment. A payment to a contract wallet needs less than 100,000. */
const MAX_PAYMENT_GAS = 500_000n
/** Maximum share of a block, as a divisor. A transaction that needs more of the block waits longer, or never fits. */
const SHARE_OF_BLOCK = 4n
/** Deposits are swept once they are this many times the fee. */
export const DUST_FACTOR = 100n

/** Returns a gas price for inclusion soon: it allows for one rise of the base fee. Undefined if the base fee is above `cap`. */
export const presentPrice = ({ nextBaseFee, tip }: FeeMarket, cap: bigint): bigint | undefined =>
  nextBaseFee > cap ? undefined : smaller((nextBaseFee * 9n) / 8n + larger(tip, 1n), cap)

/** Returns the maximum gas of a payment. A payment with more gas may fit into no block, and would block all payments after it. */
export const maxPaymentGas = ({ gasLimit }: Pick<ChainView, 'gasLimit'>): bigint =>
  larger(TRANSFER_GAS, smaller(MAX_PAYMENT_GAS, gasLimit / SHARE_OF_BLOCK))

/** Returns prices that double from `lowest`, and `cap` as the last one. */
export function pricesUpTo(lowest: bigint, cap: bigint): bigint[] {
  const prices: bigint[] = []
  for (let price = larger(lowest, 1n); price < cap; price *= 2n) prices.push(price)
  return [...prices, cap]
}

/** Returns what is left of `amount` if the chain loses the newest deposit, the newest two and so on, or any single one. Only amounts above zero. */
export function amountsAfterLoss(amount: bigint, newest: readonly bigint[]): bigint[] {
  const left = newest.flatMap((lost, index) => [
    amount - lost,
    amount - newest.slice(0, index + 1).reduce((sum, each) => sum + each, 0n),
  ])
  return [...new Set(left)].filter((each) => each > 0n)
}

/** Returns a plan for each price that spends exactly `amount`, including the fee. Leaves out prices that the amount cannot pay. */
export const spendAll = (
  target: Pick<CoinPlan, 'chainId' | 'nonce' | 'to'>,
  amount: bigint,
  prices: readonly bigint[],
): CoinPlan[] =>
  prices
    .map((gasPrice) => ({ ...target, gasPrice, gasLimit: TRANSFER_GAS, value: amount - TRANSFER_GAS * gasPrice }))
    .filter(({ value }) => value > 0n)

/** Returns the wei of an account that no open transfer takes. Transfers below the count have already left the balance. */
export const freeBalance = ({ balance, count }: SeenAccount, open: readonly { nonce: number; amount: string }[]) =>
  open.filter(({ nonce }) => nonce >= count).reduce((free, { amount }) => free - toUnits(amount), balance)
