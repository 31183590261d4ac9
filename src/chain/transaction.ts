/** Chain transactions, built and signed in one go; nothing here talks to a node. */
import { decodeRlp, Transaction } from 'ethers'
import type { CoinPlan, SignedCoins } from '../keys/key-types.ts'
import type { Fees } from './fees.ts'
import { createKeyPair, fromHex, keccak256, type RelayAccount, signHash, signText, toHex } from './keys.ts'

/** A transaction that is to be signed; fees in wei. */
export interface TransactionPlan extends Fees {
  chainId: number
  nonce: number
  /** Missing for a deployment. */
  to?: string
  /** Wei; none when missing. */
  value?: bigint
  /** 0x-prefixed. */
  data: string
  gasLimit: bigint
}

/** A transaction as it is sent and stored. */
export interface SignedTransaction extends Fees {
  nonce: number
  hash: string
  raw: Uint8Array
}

/** EIP-1559's transaction type. */
const type = Buffer.of(2)

/** Signs by EIP-1559. The same plan always gives the same bytes. */
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

/** What a signed transaction does, and with how much gas. */
export const parseTransaction = (raw: Uint8Array) => {
  const { nonce, to, data, gasLimit } = Transaction.from(toHex(raw))
  return { nonce, to: to ?? undefined, data, gasLimit }
}

/** Without recovering the signer, which is slow. */
export const nonceOf = (raw: Uint8Array): number => {
  const fields = decodeRlp(raw.subarray(1))
  const nonce = Array.isArray(fields) ? fields[1] : undefined
  if (typeof nonce !== 'string') throw new TypeError('A stored transaction cannot be read.')
  return nonce === '0x' ? 0 : Number(nonce)
}

/**
 * RLP, the encoding of transactions. The library's works on hex text and takes longer than signing; this one on bytes.
 * A test holds it to the library's.
 */
export type RlpItem = Uint8Array | bigint | RlpItem[]

/** Short forms hold this many bytes. */
const SHORT_LENGTH = 55

/** The bytes of an item; an integer is written without leading zeros. */
export const encodeRlp = (item: RlpItem): Buffer => {
  if (Array.isArray(item)) return withLength(Buffer.concat(item.map(encodeRlp)), 0xc0)
  const bytes = typeof item === 'bigint' ? encodeInteger(item) : Buffer.from(item.buffer, item.byteOffset, item.length)
  // A small byte stands for itself.
  return bytes.length === 1 && (bytes[0] ?? 0) < 0x80 ? bytes : withLength(bytes, 0x80)
}

const withLength = (content: Buffer, offset: number) => {
  if (content.length <= SHORT_LENGTH) return Buffer.concat([Buffer.of(offset + content.length), content])
  const length = encodeInteger(BigInt(content.length))
  return Buffer.concat([Buffer.of(offset + SHORT_LENGTH + length.length), length, content])
}

/** Big-endian without leading zeros; zero is empty. */
const encodeInteger = (value: bigint) => {
  if (value === 0n) return Buffer.alloc(0)
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

/**
 * Signs transfers of coins. The tip is the whole price, so each costs exactly its gas limit times its price, where a plain transfer costs all
 * of its gas; no remainder is left at the sender that nobody could tell before.
 */
export const signCoins = (privateKey: Uint8Array, plans: readonly CoinPlan[]): SignedCoins[] =>
  plans.map(({ gasPrice, ...plan }) => {
    const fees = { maxFeePerGas: gasPrice, maxPriorityFeePerGas: gasPrice }
    const { hash, raw } = signTransaction({ privateKey }, { ...plan, ...fees, data: '0x' })
    return { hash, raw, value: plan.value, gasPrice }
  })

/** The chain's curve, as the vault uses it. */
export const keyPairs = { createKeyPair, signText, signCoins }
