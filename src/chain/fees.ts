/** Fees after EIP-1559, in wei. */
export interface Fees {
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** What the chain asks for gas now, in wei. */
export interface FeeMarket {
  /** Of the block after the head. */
  nextBaseFee: bigint
  /** What the node suggests as priority fee. */
  tip: bigint
}

/** The larger of two amounts. */
export const larger = (a: bigint, b: bigint) => (a > b ? a : b)
/** The smaller of two amounts. */
export const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/**
 * Twice the base fee stays valid through six full blocks of rising fees. Undefined when not even the next block's base
 * fee is within `cap`: a transaction signed now would only wait.
 */
export const chooseFees = ({ nextBaseFee, tip }: FeeMarket, cap: bigint): Fees | undefined => {
  if (nextBaseFee > cap) return undefined
  const maxFeePerGas = smaller(2n * nextBaseFee + tip, cap)
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(tip, maxFeePerGas) }
}

/** At least 12.5 % more, rounded up: nodes accept a replacement from 10 % on, some from 12.5 % on. */
const raise = (fee: bigint) => larger((fee * 1125n + 999n) / 1000n, fee + 1n)

/** Fees for a replacement at the same nonce: both raised, and enough for the market. Undefined when above `cap`. */
export const raiseFees = (previous: Fees, market: FeeMarket, cap: bigint): Fees | undefined => {
  const wanted = chooseFees(market, cap)
  const maxPriorityFeePerGas = larger(raise(previous.maxPriorityFeePerGas), wanted?.maxPriorityFeePerGas ?? 0n)
  const maxFeePerGas = larger(raise(previous.maxFeePerGas), larger(wanted?.maxFeePerGas ?? 0n, maxPriorityFeePerGas))
  return wanted && maxFeePerGas <= cap ? { maxFeePerGas, maxPriorityFeePerGas } : undefined
}
