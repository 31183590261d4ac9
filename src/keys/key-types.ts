/** Keys, secrets and passwords. */

/** A data key as the vault wrapped it. */
export interface WrappedKey {
  /** The key-encryption key that wrapped it. */
  keyId: string
  wrapped: Uint8Array
}

/**
 * Wraps and unwraps data keys under key-encryption keys that never leave the vault. The current one wraps; earlier ones
 * still unwrap. What is wrapped for an owner needs the owner's key share too, which only the vault holds.
 */
export interface KeyVault {
  /** `context` is bound as additional authenticated data. */
  wrap(dataKey: Uint8Array, context: string): Promise<WrappedKey>
  /** Raises when the bytes were not wrapped by `keyId` for exactly this context. */
  unwrap(keyId: string, wrapped: Uint8Array, context: string): Promise<Uint8Array>
  /** As `wrap`, for one owner, a UUID; makes the owner's key share where there is none. */
  wrapFor(owner: string, dataKey: Uint8Array, context: string): Promise<WrappedKey>
  /** As `unwrap`. Raises also when the owner was forgotten. */
  unwrapFor(owner: string, keyId: string, wrapped: Uint8Array, context: string): Promise<Uint8Array>
  /** Destroys the owner's key share: what was wrapped for the owner opens never again. May be called again. */
  forget(owner: string): Promise<void>
  /**
   * Writes down for good that the owner was deleted, which a database that comes back from a backup does not know. From then
   * on nothing can be wrapped for the owner. May be called again.
   */
  markDeleted(owner: string): Promise<void>
  /** Owners that have a key share, in no order. */
  owners(): AsyncIterable<string>
  /** Owners that were marked as deleted, in no order. */
  deletedOwners(): AsyncIterable<string>
  /** A key of 32 bytes for one purpose: for signatures of our own links. It stays the same when keys are rotated. */
  derive(purpose: string): Uint8Array
}

/** The vault's key-encryption keys, for an operator. */
export interface KeyRing {
  /** Which key wraps now, and which ones still unwrap, newest first. */
  ids(): Promise<{ current: string; earlier: string[] }>
  /** Makes a new current key; false when the operator sets it. */
  renew(): Promise<boolean>
  /** Destroys the earlier keys that the vault keeps itself, and returns their ids. Raises CONFLICT when they wrapped too recently. */
  destroyEarlier(): Promise<string[]>
}

/** A custodial private key as it lies in the database. */
export interface SealedKey extends KeyWrapping {
  sealedPrivateKey: Uint8Array
}

/** The part of a sealed key that a rotation writes anew. */
export interface KeyWrapping {
  /** How it is wrapped: 1 by the vault's key alone, 2 also by the owner's key share. */
  version: number
  vaultKeyId: string
  wrappedDataKey: Uint8Array
}

/**
 * A transfer of the chain's own coin that is to be signed. Included, it costs its sender `value` and `gasLimit` times `gasPrice`, to the
 * wei. All in wei.
 */
export interface CoinPlan {
  chainId: number
  nonce: number
  /** With EIP-55 checksum. */
  to: string
  value: bigint
  gasPrice: bigint
  gasLimit: bigint
}

/** One of them, signed. */
export interface SignedCoins {
  hash: string
  raw: Uint8Array
  value: bigint
  gasPrice: bigint
}

/** Custodial key pairs. Private keys exist in the clear only inside these calls. */
export interface Custody {
  /** A new key pair for `userId`; only the address is public. */
  create(userId: string): Promise<SealedKey & { address: string }>
  /** EIP-191 personal_sign of `text`, 0x-prefixed. Raises LostKeyError when the key does not open. */
  sign(userId: string, key: SealedKey, text: string): Promise<string>
  /** Signs transfers of coins from the user's address. Raises LostKeyError when the key does not open. */
  signCoins(userId: string, key: SealedKey, plans: readonly CoinPlan[]): Promise<SignedCoins[]>
  /** The version that keys are wrapped in now. */
  readonly version: number
  /** The same data key under the vault's current key. Raises when it cannot be unwrapped. */
  rewrap(userId: string, wrapping: KeyWrapping): Promise<KeyWrapping>
  /** Makes the user's key useless for good, also to somebody who holds a copy of the database. May be called again. */
  forget(userId: string): Promise<void>
}

/** Small secrets at rest: each sealed under a key of its own, which the key vault wraps. */
export interface EnvelopeCipher {
  /** `context` names owner, purpose and version; it is authenticated, so that no sealed text can stand in for another. */
  seal(text: string, context: string): Promise<Uint8Array>
  /** Raises LostKeyError when the bytes were not sealed for exactly this context, or their key is gone. */
  open(sealed: Uint8Array, context: string): Promise<string>
  /** The same sealed text with its key wrapped by the vault's current key. Raises when it cannot be unwrapped. */
  rewrap(sealed: Uint8Array, context: string): Promise<Uint8Array>
  /** How everything begins whose key that key-encryption key wraps. */
  prefixOf(vaultKeyId: string): Uint8Array
}

/** Texts that are kept for days only, sealed under one key of this installation. */
export interface LocalCipher {
  /** Base64. `context` is authenticated, so that no sealed text can stand in for another. */
  seal(text: string, context: string): string
  /** Raises LostKeyError when it was not sealed for exactly this context. */
  open(sealed: string, context: string): string
}

/** Passwords, hashed with argon2id behind a bounded queue. */
export interface PasswordHasher {
  /** Raises UNAVAILABLE when too many are waiting. */
  hash(password: string): Promise<string>
  /** Takes the same time for an unknown account: pass undefined. Raises UNAVAILABLE when too many are waiting. */
  verify(encoded: string | undefined, password: string): Promise<boolean>
}
