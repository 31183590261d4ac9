import type { RpcError } from './rpc.ts'

/** Fees after EIP-1559, in wei. */
export interface Fees {
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** Current gas prices of the chain, in wei. */
export interface FeeMarket {
  /** Base fee of the next block. */
  nextBaseFee: bigint
  /** Priority fee that the node suggests. */
  tip: bigint
}

export const larger = (a: bigint, b: bigint) => (a > b ? a : b)
export const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/**
 * Returns fees within `cap`. Twice the base fee stays sufficient for six full blocks of rising fees. Returns undefined if the next base fee
 * is above `cap`, because the transaction could not be included now.
 */
export const chooseFees = ({ nextBaseFee, tip }: FeeMarket, cap: bigint): Fees | undefined => {
  if (nextBaseFee > cap) return undefined
  const maxFeePerGas = smaller(2n * nextBaseFee + tip, cap)
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(tip, maxFeePerGas) }
}

/** Throws a fee by at least 12.5 %. Some nodes accept a replacement from 10 % on, others from 12.5 %. */
const raise = (fee: bigint) => larger((fee * 1125n + 999n) / 1000n, fee + 1n)

/** Returns fees for a replacement with the same nonce: both are raised and meet the market. Returns undefined if they would exceed `cap`. */
export const raiseFees = (previous: Fees, market: FeeMarket, cap: bigint): Fees | undefined => {
  const wanted = chooseFees(market, cap)
  const maxPriorityFeePerGas = larger(raise(previous.maxPriorityFeePerGas), wanted?.maxPriorityFeePerGas ?? 0n)
  const maxFeePerGas = larger(raise(previous.maxFeePerGas), larger(wanted?.maxFeePerGas ?? 0n, maxPriorityFeePerGas))
  return wanted && maxFeePerGas <= cap ? { maxFeePerGas, maxPriorityFeePerGas } : undefined
}

/** Time after which a pending transaction is sent again, in milliseconds. Nodes drop transactions from their pools. */
export const RESEND_AFTER_MS = 15_000
/** Time in seconds after which the fees of a pending transaction are raised. `STUCK_BLOCKS` must have passed too. */
export const STUCK_SECONDS = 45
/** Number of blocks after which the fees of a pending transaction are raised. */
export const STUCK_BLOCKS = 3

/** Returns true if the node already has this transaction, or another one of ours with the same nonce. Sending it again is useless. */
export const isTaken = ({ message }: RpcError): boolean =>
  /already ?known|known transaction|already (imported|exists|in)|nonce (is )?too low|OldNonce|replacement transaction underpriced|ReplacementNotAllowed/i.test(
    message,
  )

/** Returns true if the account's balance is too low. Each node implementation words this error differently. */
export const isPoor = ({ message }: RpcError): boolean => /insufficient ?funds|upfront cost exceeds/i.test(message)

/** Returns true if a higher fee or gas limit may help. Other rejections do not depend on the price. */
export const wantsMore = ({ message }: RpcError): boolean =>
  /underpriced|fee|price|gas|pool is full/i.test(message) && !/exceeds the configured cap/i.test(message)
