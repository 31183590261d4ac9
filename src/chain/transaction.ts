/** Chain transactions, built and signed in one go; nothing here talks to a node. */
import { decodeRlp, Transaction } from 'ethers'
import { keccak256, signHash } from './curve.ts'
import type { Fees } from './fees.ts'
import { fromHex, type RelayAccount, toHex } from './keys.ts'
import { encodeRlp, type RlpItem } from './rlp.ts'

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
