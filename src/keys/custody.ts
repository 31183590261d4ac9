/** Custodial key pairs. The private key is encrypted with a data key of the user, and the key vault wraps the data key. */
import { randomBytes } from 'node:crypto'
import { seal, unseal } from './envelope-cipher.ts'
import type { CoinPlan, Custody, KeyVault, KeyWrapping, SealedKey, SignedCoins } from './key-types.ts'

type Awaitable<T> = T | Promise<T>
/** Operations on the chain's curve. Asynchronous, so that their library can be loaded on first use. */
interface KeyPairs {
  createKeyPair(): Awaitable<{ address: string; privateKey: Uint8Array }>
  /** EIP-191 personal_sign, 0x-prefixed. */
  signText(privateKey: Uint8Array, text: string): Awaitable<string>
  signCoins(privateKey: Uint8Array, plans: readonly CoinPlan[]): Awaitable<SignedCoins[]>
}

/** 1: wrapped by the key-encryption key only. 2: also by the owner's key share. */
const VERSION = 2

/** Owner, purpose and version are authenticated, so a ciphertext cannot be used in place of another. */
const contextOf = (userId: string, purpose: 'data-key' | 'private-key', version: number) =>
  `${userId}\n${purpose}\nv${version}`
/** Version 1 for all private keys: a new wrapping does not encrypt them again. */
const privateKeyContext = (userId: string) => contextOf(userId, 'private-key', 1)

/** Creates the custody of key pairs. A private key is decrypted for one call only. */
export function createCustody({ vault, keyPairs }: { vault: KeyVault; keyPairs: KeyPairs }): Custody {
  async function wrap(userId: string, dataKey: Uint8Array): Promise<KeyWrapping> {
    const { keyId, wrapped } = await vault.wrapFor(userId, dataKey, contextOf(userId, 'data-key', VERSION))
    return { version: VERSION, vaultKeyId: keyId, wrappedDataKey: wrapped }
  }

  async function unwrap(userId: string, { version, vaultKeyId, wrappedDataKey }: KeyWrapping): Promise<Uint8Array> {
    const context = contextOf(userId, 'data-key', version)
    if (version === 1) return vault.unwrap(vaultKeyId, wrappedDataKey, context)
    if (version === 2) return vault.unwrapFor(userId, vaultKeyId, wrappedDataKey, context)
    throw new Error(`A wrapped key has the unknown version ${version}.`)
  }

  /** Decrypts the private key for the duration of `use`. */
  async function open<T>(userId: string, key: SealedKey, use: (privateKey: Uint8Array) => Awaitable<T>): Promise<T> {
    const dataKey = await unwrap(userId, key)
    let privateKey: Uint8Array | undefined
    try {
      privateKey = unseal(dataKey, key.sealedPrivateKey, privateKeyContext(userId))
      return await use(privateKey)
    } finally {
      dataKey.fill(0)
      privateKey?.fill(0)
    }
  }

  return {
    version: VERSION,
    async create(userId) {
      const dataKey = randomBytes(32)
      const { address, privateKey } = await keyPairs.createKeyPair()
      try {
        const sealedPrivateKey = seal(dataKey, privateKey, privateKeyContext(userId))
        return { address, sealedPrivateKey, ...(await wrap(userId, dataKey)) }
      } finally {
        dataKey.fill(0)
        privateKey.fill(0)
      }
    },
    sign: (userId, key, text) => open(userId, key, (privateKey) => keyPairs.signText(privateKey, text)),
    signCoins: (userId, key, plans) => open(userId, key, (privateKey) => keyPairs.signCoins(privateKey, plans)),
    async rewrap(userId, key) {
      const dataKey = await unwrap(userId, key)
      try {
        return await wrap(userId, dataKey)
      } finally {
        dataKey.fill(0)
      }
    },
    forget: (userId) => vault.forget(userId),
  }
}
