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

const VERSION = 2

/** Owner, purpose and version are authenticated, so a ciphertext cannot be used in place of another. */
const dataKeyContext = (userId: string) => `${userId}\ndata-key\nv${VERSION}`
const privateKeyContext = (userId: string) => `${userId}\nprivate-key\nv1`

export function createCustody({ vault, keyPairs }: { vault: KeyVault; keyPairs: KeyPairs }): Custody {
  async function wrap(userId: string, dataKey: Uint8Array): Promise<KeyWrapping> {
    const { keyId, wrapped } = await vault.wrapFor(userId, dataKey, dataKeyContext(userId))
    return { version: VERSION, vaultKeyId: keyId, wrappedDataKey: wrapped }
  }

  async function unwrap(userId: string, { version, vaultKeyId, wrappedDataKey }: KeyWrapping): Promise<Uint8Array> {
    if (version === VERSION) return vault.unwrapFor(userId, vaultKeyId, wrappedDataKey, dataKeyContext(userId))
    throw new Error(`A wrapped key has the unknown version ${version}.`)
  }

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
