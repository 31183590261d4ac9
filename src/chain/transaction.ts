/** Builds and signs chain transactions. Does not call a node. */
import { decodeRlp, Transaction } from 'ethers'
import type { CoinPlan, SignedCoins } from '../keys/key-types.ts'
import { createKeyPair, fromHex, keccak256, type RelayAccount, signHash, signText, toHex } from './keys.ts'
import type { RpcError } from './rpc.ts'

/** A transaction to sign. Fees are in wei. */
export interface TransactionPlan extends Fees {
  chainId: number
  nonce: number
  /** Recipient. Undefined for a deployment. */
  to?: string
  /** Amount in wei. Default: 0. */
  value?: bigint
  /** 0x-prefixed. */
  data: string
  gasLimit: bigint
}

/** A signed transaction with its encoded bytes. */
export interface SignedTransaction extends Fees {
  nonce: number
  hash: string
  raw: Uint8Array
}

/** EIP-2718 type byte of EIP-1559 transactions. */
const type = Buffer.of(2)

/** Signs an EIP-1559 transaction. The same plan always gives the same bytes. */
export const signTransaction = (
  account: Pick<RelayAccount, 'privateKey'>,
  plan: TransactionPlan,
): SignedTransaction => {
  const { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, gasLimit, to = '0x', value = 0n, data } = plan
  const fields: RlpItem[] = [
    BigInt(chainId),
    BigInt(nonce),
    maxPriorityFeePerGas,
    maxFeePerGas,
    gasLimit,
    fromHex(to),
    value,
    fromHex(data),
    [],
  ]
  const hash = keccak256(Buffer.concat([type, encodeRlp(fields)]))
  const { yParity, r, s } = signHash(hash, account.privateKey)
  const signature = [BigInt(yParity), BigInt(toHex(r)), BigInt(toHex(s))]
  const raw = Buffer.concat([type, encodeRlp([...fields, ...signature])])
  return { nonce, maxFeePerGas, maxPriorityFeePerGas, hash: toHex(keccak256(raw)), raw }
}

export const parseTransaction = (raw: Uint8Array) => {
  const { nonce, to, data, gasLimit } = Transaction.from(toHex(raw))
  return { nonce, to: to ?? undefined, data, gasLimit }
}

/** Returns the nonce without recovering the signer, which is slow. */
export const nonceOf = (raw: Uint8Array): number => {
  const fields = decodeRlp(raw.subarray(1))
  const nonce = Array.isArray(fields) ? fields[1] : undefined
  if (typeof nonce !== 'string') throw new TypeError('A stored transaction cannot be read.')
  return nonce === '0x' ? 0 : Number(nonce)
}

/**
 * Input of the RLP encoder. RLP is the encoding of transactions. The library's encoder works on hex text and is slower than signing. A test
 * compares both results.
 */
export type RlpItem = Uint8Array | bigint | RlpItem[]

/** Maximum length in bytes of RLP's short form. */
const SHORT_LENGTH = 55

/** Returns the RLP encoding. Integers have no leading zeros. */
export const encodeRlp = (item: RlpItem): Buffer => {
  if (Array.isArray(item)) return withLength(Buffer.concat(item.map(encodeRlp)), 0xc0)
  const bytes = typeof item === 'bigint' ? encodeInteger(item) : Buffer.from(item.buffer, item.byteOffset, item.length)
  // RLP encodes a byte below 0x80 as itself.
  return bytes.length === 1 && (bytes[0] ?? 0) < 0x80 ? bytes : withLength(bytes, 0x80)
}

const withLength = (content: Buffer, offset: number) => {
  if (content.length <= SHORT_LENGTH) return Buffer.concat([Buffer.of(offset + content.length), content])
  const length = encodeInteger(BigInt(content.length))
  return Buffer.concat([Buffer.of(offset + SHORT_LENGTH + length.length), length, content])
}

/** Returns big-endian bytes without leading zeros. Zero is empty. */
const encodeInteger = (value: bigint) => {
  if (value === 0n) return Buffer.alloc(0)
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

/**
 * Signs coin transfers. The tip equals the maximum fee, so the price per gas is fixed. A plain transfer uses its whole gas limit, so its
 * cost is exact and no remainder stays at the sender.
 */
export const signCoins = (privateKey: Uint8Array, plans: readonly CoinPlan[]): SignedCoins[] =>
  plans.map(({ gasPrice, ...plan }) => {
    const fees = { maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice }
    const { hash, raw } = signTransaction({ privateKey }, { ...plan, ...fees, data: '0x' })
    return { hash, raw, value: plan.value, gasPrice }
  })

/** Key functions that the key vault uses. */
export const keyPairs = { createKeyPair, signText, signCoins }

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
