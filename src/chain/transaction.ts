/** Chain transactions, built and signed in one go; nothing here talks to a node. */
import { decodeRlp, getBytes, keccak256, Transaction } from 'ethers'
import type { Fees } from './fees.ts'
import type { RelayAccount } from './keys.ts'

export interface TransactionPlan extends Fees {
  chainId: number
  nonce: number
  /** Missing for a deployment. */
  to?: string
  /** 0x-prefixed. */
  data: string
  gasLimit: bigint
}

export interface SignedTransaction extends Fees {
  nonce: number
  hash: string
  raw: Uint8Array
}

export const signTransaction = (account: RelayAccount, plan: TransactionPlan): SignedTransaction => {
  const transaction = Transaction.from({ type: 2, value: 0n, ...plan })
  transaction.signature = account.key.sign(transaction.unsignedHash)
  const { serialized } = transaction
  const { nonce, maxFeePerGas, maxPriorityFeePerGas } = plan
  return { nonce, maxFeePerGas, maxPriorityFeePerGas, hash: keccak256(serialized), raw: getBytes(serialized) }
}

export const parseTransaction = (raw: Uint8Array) => {
  const { nonce, to, data, gasLimit } = Transaction.from(`0x${Buffer.from(raw).toString('hex')}`)
  return { nonce, to: to ?? undefined, data, gasLimit }
}

/** Without recovering the signer, which is slow. */
export const nonceOf = (raw: Uint8Array): number => {
  const fields = decodeRlp(raw.subarray(1))
  const nonce = Array.isArray(fields) ? fields[1] : undefined
  if (typeof nonce !== 'string') throw new TypeError('A stored transaction cannot be read.')
  return nonce === '0x' ? 0 : Number(nonce)
}
