/** Builds and signs chain transactions, and chooses their fees. Does not call a node. */
import { decode, encode } from '@ethereumjs/rlp'
import { Transaction } from 'ethers'
import type { CoinPlan, SignedCoins } from '../keys/key-types.ts'
import { createKeyPair, fromHex, keccak256, type RelayAccount, signHash, signText, toHex } from './keys.ts'
import type { RpcError } from './rpc.ts'

export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }
/** Current gas prices in wei: the base fee of the next block, and the priority fee that the node suggests. */
export type FeeMarket = { nextBaseFee: bigint; tip: bigint }

/** A transaction to sign. Amounts are in wei. Without `to` it creates a contract. `data` is 0x-prefixed. */
export interface TransactionPlan extends Fees {
  chainId: number
  nonce: number
  to?: string
  value?: bigint
  data: string
  gasLimit: bigint
}

export type SignedTransaction = Fees & { nonce: number; hash: string; raw: Uint8Array }
const type = Buffer.of(2)

/** Signs an EIP-1559 transaction. The same plan always gives the same bytes. */
export const signTransaction = ({ privateKey }: Pick<RelayAccount, 'privateKey'>, plan: TransactionPlan) => {
  const { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, gasLimit, to = '0x', value = 0n, data } = plan
  const fees = [maxPriorityFeePerGas, maxFeePerGas, gasLimit]
  const fields = [BigInt(chainId), BigInt(nonce), ...fees, fromHex(to), value, fromHex(data), []]
  const hash = keccak256(Buffer.concat([type, encode(fields)]))
  const { yParity, r, s } = signHash(hash, privateKey)
  const signature = [BigInt(yParity), BigInt(toHex(r)), BigInt(toHex(s))]
  const raw = Buffer.concat([type, encode([...fields, ...signature])])
  return { nonce, maxFeePerGas, maxPriorityFeePerGas, hash: toHex(keccak256(raw)), raw } satisfies SignedTransaction
}

export const parseTransaction = (raw: Uint8Array) => {
  const { nonce, to, data, gasLimit } = Transaction.from(toHex(raw))
  return { nonce, to: to ?? undefined, data, gasLimit }
}

/** Returns the nonce of a transaction. Does not recover the signer, which is slow. Nonce 0 is encoded as no bytes. */
export const nonceOf = (raw: Uint8Array): number =>
  Number.parseInt(toHex(decode(raw.subarray(1))[1] as Uint8Array), 16) || 0

/** Signs coin transfers. The tip equals the maximum fee, so the cost is exact and no remainder stays at the sender. */
export const signCoins = (privateKey: Uint8Array, plans: readonly CoinPlan[]): SignedCoins[] =>
  plans.map(({ gasPrice, ...plan }) => {
    const fees = { maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice }
    const { hash, raw } = signTransaction({ privateKey }, { ...plan, ...fees, data: '0x' })
    return { hash, raw, value: plan.value, gasPrice }
  })

export const keyPairs = { createKeyPair, signText, signCoins }
export const larger = (a: bigint, b: bigint) => (a > b ? a : b)
export const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/** Returns fees that suffice while the base fee rises for six full blocks. Undefined if the base fee is above `cap`. */
export const chooseFees = ({ nextBaseFee, tip }: FeeMarket, cap: bigint): Fees | undefined => {
  if (nextBaseFee > cap) return undefined
  const maxFeePerGas = smaller(2n * nextBaseFee + tip, cap)
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(tip, maxFeePerGas) }
}

/** Raises a fee by at least 12.5 %. Nodes accept a replacement only if its fees are 10 % or 12.5 % higher. */
const raise = (fee: bigint) => larger((fee * 1125n + 999n) / 1000n, fee + 1n)

/** Returns raised fees for a replacement with the same nonce, or undefined if the raised fees would exceed `cap`. */
export const raiseFees = (previous: Fees, market: FeeMarket, cap: bigint): Fees | undefined => {
  const wanted = chooseFees(market, cap)
  const maxPriorityFeePerGas = larger(raise(previous.maxPriorityFeePerGas), wanted?.maxPriorityFeePerGas ?? 0n)
  const maxFeePerGas = larger(raise(previous.maxFeePerGas), larger(wanted?.maxFeePerGas ?? 0n, maxPriorityFeePerGas))
  return wanted && maxFeePerGas <= cap ? { maxFeePerGas, maxPriorityFeePerGas } : undefined
}

/** Time after which a pending transaction is sent again, in milliseconds. Nodes drop transactions from their pools. */
export const RESEND_AFTER_MS = 15_000
/** Seconds and blocks after which the fees of a pending transaction are raised. Both must have passed. */
export const STUCK_SECONDS = 45
export const STUCK_BLOCKS = 3

/** Returns true if the node already has this transaction, or another transaction of ours with the same nonce. */
export const isTaken = ({ message }: RpcError): boolean =>
  /already ?known|known transaction|already (imported|exists|in)|nonce (is )?too low|OldNonce|replacement transaction underpriced|ReplacementNotAllowed/i.test(
    message,
  )

/** Returns true if the account's balance is too low. Each node implementation words this error differently. */
export const isPoor = ({ message }: RpcError): boolean => /insufficient ?funds|upfront cost exceeds/i.test(message)

/** Returns true if a higher fee or gas limit may avoid the rejection. */
export const wantsMore = ({ message }: RpcError): boolean =>
  /underpriced|fee|price|gas|pool is full/i.test(message) && !/exceeds the configured cap/i.test(message)
