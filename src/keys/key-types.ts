export interface WrappedKey {
  keyId: string
  wrapped: Uint8Array
}

/**
 * Wraps and unwraps data keys with key-encryption keys that never leave the vault. The current key wraps, and earlier
 * keys still unwrap. A key that is wrapped for an owner also needs the owner's key share, which only the vault holds.
 * `context` is authenticated. An owner is the UUID of a user.
 */
export interface KeyVault {
  wrap(dataKey: Uint8Array, context: string): Promise<WrappedKey>
  /** Unwraps a data key. Throws LostKeyError if `keyId` did not wrap the bytes for this context. */
  unwrap(keyId: string, wrapped: Uint8Array, context: string): Promise<Uint8Array>
  /** Wraps a key for an owner. Creates the owner's key share if there is none. */
  wrapFor(owner: string, dataKey: Uint8Array, context: string): Promise<WrappedKey>
  /** Unwraps a key of an owner. Throws LostKeyError as `unwrap` does, and if the owner's key share was destroyed. */
  unwrapFor(owner: string, keyId: string, wrapped: Uint8Array, context: string): Promise<Uint8Array>
  /** Destroys the owner's key share permanently, and with it all keys that were wrapped for the owner. Idempotent. */
  forget(owner: string): Promise<void>
  /** Records permanently that the owner was deleted. Afterwards nothing can be wrapped for the owner. */
  markDeleted(owner: string): Promise<void>
  /** Yields owners with a key share, unordered. */
  owners(): AsyncIterable<string>
  /** Yields owners that are marked as deleted, unordered. */
  deletedOwners(): AsyncIterable<string>
  /** Derives a 32-byte key for one purpose, such as signing links. Key rotations do not change it. */
  derive(purpose: string): Uint8Array
}

/** The vault's key-encryption keys, for operators. */
export interface KeyRing {
  /** Returns the IDs of the current key and of earlier keys, newest first. */
  ids(): Promise<{ current: string; earlier: string[] }>
  /** Creates a new current key. Returns false if the operator configures the key. */
  renew(): Promise<boolean>
  /** Destroys the stored earlier keys. Returns their IDs. Throws CONFLICT if they were replaced too recently. */
  destroyEarlier(): Promise<string[]>
}

/** A wrapped data key of a user. A rotation replaces it. */
export interface KeyWrapping {
  version: number
  vaultKeyId: string
  wrappedDataKey: Uint8Array
}

/** A custodial private key as it is stored in the database. */
export interface SealedKey extends KeyWrapping {
  sealedPrivateKey: Uint8Array
}

/** A coin transfer to sign. Its cost is exactly `value` plus `gasLimit` times `gasPrice`. All amounts in wei. */
export interface CoinPlan {
  chainId: number
  nonce: number
  /** Address with EIP-55 checksum. */
  to: string
  value: bigint
  gasPrice: bigint
  gasLimit: bigint
}

export interface SignedCoins {
  hash: string
  raw: Uint8Array
  value: bigint
  gasPrice: bigint
}

/** Custodial key pairs. Private keys are decrypted only inside these calls. */
export interface Custody {
  /** Creates a key pair for a user. Only the address is public. */
  create(userId: string): Promise<SealedKey & { address: string }>
  /** Signs `text` with EIP-191 personal_sign. The signature is 0x-prefixed. Throws LostKeyError. */
  sign(userId: string, key: SealedKey, text: string): Promise<string>
  /** Signs coin transfers from the user's address. Throws LostKeyError. */
  signCoins(userId: string, key: SealedKey, plans: readonly CoinPlan[]): Promise<SignedCoins[]>
  /** Wraps the same data key with the vault's current key. Throws LostKeyError. */
  rewrap(userId: string, wrapping: KeyWrapping): Promise<KeyWrapping>
  /** Makes the user's key useless permanently, even for someone with a copy of the database. Idempotent. */
  forget(userId: string): Promise<void>
}

/** Encrypts small secrets, each with its own data key. The key vault wraps the data keys. */
export interface EnvelopeCipher {
  /** Encrypts a secret. `context` contains owner, purpose and version, so that ciphertexts cannot be exchanged. */
  seal(text: string, context: string): Promise<Uint8Array>
  /** Decrypts a secret. Throws LostKeyError if it was not encrypted for this context, or its key is lost. */
  open(sealed: Uint8Array, context: string): Promise<string>
  /** Wraps the data key of the same ciphertext with the vault's current key. Throws LostKeyError. */
  rewrap(sealed: Uint8Array, context: string): Promise<Uint8Array>
  /** Prefix of all envelopes whose data key is wrapped by this key-encryption key. */
  prefixOf(vaultKeyId: string): Uint8Array
}

/** Encrypts short-lived texts with one key of this installation. */
export interface LocalCipher {
  /** Encrypts a text, and returns base64. `context` is authenticated. */
  seal(text: string, context: string): string
  /** Decrypts a text. Throws LostKeyError if the text was not encrypted for this context. */
  open(sealed: string, context: string): string
}

/** Hashes passwords with argon2id behind a bounded queue. */
export interface PasswordHasher {
  /** Hashes a password. Throws UNAVAILABLE if the queue is full. */
  hash(password: string): Promise<string>
  /** Verifies a password. Takes the same time for an unknown account (`encoded` is undefined). Throws UNAVAILABLE. */
  verify(encoded: string | undefined, password: string): Promise<boolean>
}
