/** What a receipt tells of the commits that its transaction carried, and what each of them cost. */
import { isCommitLog } from '../registry/abi.ts'
import { feeOf, hasSucceeded, type LogReply, type ReceiptReply } from '../replies.ts'

/** A commit's part of what its transaction cost. */
export interface Cost {
  gas: number
  /** Wei. */
  fee: bigint
}

/** The events of commits that a transaction left behind, in their order. None when it failed, or went where there is no registry. */
export const commitLogsOf = (receipt: ReceiptReply): LogReply[] =>
  hasSucceeded(receipt) ? receipt.logs.filter(isCommitLog) : []

/**
 * What each event of a transaction cost: gas and fee are shared by the bytes that the events carry. Each takes what all up to it
 * would cost together, rounded down, less what those before it took; so the shares sum to the whole, to the wei, and
 * anybody can work them out from the receipt.
 */
export const costsOf = (receipt: ReceiptReply): Cost[] => {
  const sizes = commitLogsOf(receipt).map(({ data }) => BigInt(data.length))
  const gas = shareOut(BigInt(receipt.gasUsed ?? '0x0'), sizes)
  const fees = shareOut(feeOf(receipt), sizes)
  return sizes.map((_, index) => ({ gas: Number(gas[index]), fee: fees[index]! }))
}

/** Shares an amount out by these weights, of which none is 0. */
const shareOut = (amount: bigint, weights: readonly bigint[]): bigint[] => {
  const whole = weights.reduce((sum, weight) => sum + weight, 0n)
  let before = 0n
  let taken = 0n
  return weights.map((weight) => {
    before += weight
    const share = (amount * before) / whole - taken
    taken += share
    return share
  })
}
