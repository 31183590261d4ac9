/** Transactions: what was signed, and for which chain. */
import { getBytes, hexlify, keccak256, Transaction, type TransactionLike } from 'ethers'

/** A transaction as nodes tell of it. */
export type TransactionReply = Record<string, unknown> & { hash: string }

/** What was signed, as much as a verifier reads of it. */
export interface SignedTransaction {
  /** Made from its bytes. */
  hash: string
  /** Undefined of the oldest kind, which is good for every chain. */
  chainId: number | undefined
}

/**
 * Reads a transaction's bytes. Of a kind that is not known only the hash is told. Who signed it is not looked at: a block holds no
 * transaction whose signature is wrong, and finding the signer takes longer than all the rest.
 */
export function decodeTransaction(bytes: Uint8Array): SignedTransaction {
  const hash = keccak256(bytes)
  try {
    const { chainId } = Transaction.from(hexlify(bytes))
    return { hash, chainId: chainId === 0n ? undefined : Number(chainId) }
  } catch {
    return { hash, chainId: undefined }
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

/** An entry of the authorization list of EIP-7702, as nodes give it. */
interface AuthorizationReply {
  chainId: string
  address: string
  nonce: string
  r: string
  s: string
  yParity: string
}

const authorizationOf = ({ chainId, address, nonce, ...signature }: AuthorizationReply) => ({
  ...{ chainId, address, nonce, signature },
})

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
  const optional = ['accessList', 'blobVersionedHashes', 'maxFeePerBlobGas'] as const
  const given = Object.fromEntries(optional.filter((name) => reply[name] != null).map((name) => [name, reply[name]]))
  const authorizations = reply.authorizationList as AuthorizationReply[] | undefined
  return {
    ...{ type: Number(type ?? 0), nonce: Number(nonce), gasLimit: gas, data: input, to: reply.to, value: reply.value },
    ...{ ...fees, ...given, chainId: reply.chainId ?? 0, signature: { r, s, v: v ?? yParity, yParity } },
    ...(authorizations && { authorizationList: authorizations.map(authorizationOf) }),
  } as TransactionLike
}
