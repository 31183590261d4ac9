import type { RpcError } from './rpc.ts'

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

/** Milliseconds after which bytes that are still not included are sent again: pools forget. */
export const RESEND_AFTER_MS = 15_000
/** A transaction that pays enough and is not included: seconds and blocks until more is offered. */
export const STUCK_SECONDS = 45
/** See `STUCK_SECONDS`. */
export const STUCK_BLOCKS = 3

/** The node has these bytes, or others of ours at the same nonce. Receipts decide which; sending again would change nothing. */
export const isTaken = ({ message }: RpcError): boolean =>
  /already ?known|known transaction|already (imported|exists|in)|nonce (is )?too low|OldNonce|replacement transaction underpriced|ReplacementNotAllowed/i.test(
    message,
  )

/** The account cannot pay for it; nodes say so each in its own words. */
export const isPoor = ({ message }: RpcError): boolean => /insufficient ?funds|upfront cost exceeds/i.test(message)

/** A dearer one, or one with more gas, may be taken. Any other refusal is none of its price: of a node that cannot, may not or does not want to. */
export const wantsMore = ({ message }: RpcError): boolean =>
  /underpriced|fee|price|gas|pool is full/i.test(message) && !/exceeds the configured cap/i.test(message)
