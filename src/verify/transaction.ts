/** Transactions: what was signed, by whom, for which chain. */
import { getBytes, hexlify, keccak256, Transaction, type TransactionLike } from 'ethers'

/** A transaction as nodes tell of it. */
export type TransactionReply = Record<string, unknown> & { hash: string }

/** What was signed, as much as a verifier reads of it. */
export interface SignedTransaction {
  /** Made from its bytes. */
  hash: string
  /** Whose signature it bears, with EIP-55 checksum. */
  from: string | null
  /** Undefined of the oldest kind, which is good for every chain. */
  chainId: number | undefined
}

/** Reads a transaction's bytes. Of a kind that is not known only the hash is told. */
export function decodeTransaction(bytes: Uint8Array): SignedTransaction {
  const hash = keccak256(bytes)
  try {
    const { from, chainId } = Transaction.from(hexlify(bytes))
    return { hash, from, chainId: chainId === 0n ? undefined : Number(chainId) }
  } catch {
    return { hash, from: null, chainId: undefined }
  }
}

/** The bytes of a transaction as nodes tell of it; undefined when they do not have its hash, as of a kind that is not known. */
export function encodeTransaction(reply: TransactionReply): Uint8Array | undefined {
  try {
    const { serialized, hash } = Transaction.from(fieldsOf(reply))
    return hash === reply.hash ? getBytes(serialized) : undefined
  } catch {
    return undefined
  }
}

function fieldsOf({
  gas,
  input,
  type,
  nonce,
  gasPrice,
  maxFeePerGas,
  maxPriorityFeePerGas,
  r,
  s,
  v,
  yParity,
  ...reply
}: TransactionReply) {
  const isOld = Number(type ?? 0) < 2
  const fees = isOld ? { gasPrice } : { maxFeePerGas, maxPriorityFeePerGas }
  const optional = ['accessList', 'blobVersionedHashes', 'maxFeePerBlobGas', 'authorizationList'] as const
  const given = Object.fromEntries(optional.filter((name) => reply[name] != null).map((name) => [name, reply[name]]))
  return {
    ...{ type: Number(type ?? 0), nonce: Number(nonce), gasLimit: gas, data: input, to: reply.to, value: reply.value },
    ...{ ...fees, ...given, chainId: reply.chainId ?? 0, signature: { r, s, v: v ?? yParity, yParity } },
  } as TransactionLike
}
