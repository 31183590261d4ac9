/** Encrypts short-lived texts. `open` throws LostKeyError if a text was encrypted for another context. */
export type LocalCipher = Record<'seal' | 'open', (text: string, context: string) => string>

/** A wrapped data key of a user. A rotation replaces it. */
export interface KeyWrapping {
  version: number
  vaultKeyId: string
  wrappedDataKey: Uint8Array
}

export interface SealedKey extends KeyWrapping {
  sealedPrivateKey: Uint8Array
}

/** A coin transfer to an EIP-55 address. Its cost is exactly `value` plus `gasLimit` times `gasPrice`, in wei. */
export interface CoinPlan {
  chainId: number
  nonce: number
  to: string
  value: bigint
  gasPrice: bigint
  gasLimit: bigint
}

export type SignedCoins = Pick<CoinPlan, 'value' | 'gasPrice'> & { hash: string; raw: Uint8Array }
