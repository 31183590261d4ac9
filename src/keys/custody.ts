/** Custodial key pairs: the private key is sealed under the user's own data key, and that is wrapped by the key vault. */
import { randomBytes } from 'node:crypto'
import { seal, unseal } from './aes-gcm.ts'
import type { CoinPlan, Custody, KeyVault, KeyWrapping, SealedKey, SignedCoins } from './key-types.ts'

/** What knows the curve may be loaded when it is first needed. */
type Awaitable<T> = T | Promise<T>
interface KeyPairs {
  createKeyPair(): Awaitable<{ address: string; privateKey: Uint8Array }>
  /** EIP-191 personal_sign, 0x-prefixed. */
  signText(privateKey: Uint8Array, text: string): Awaitable<string>
  signCoins(privateKey: Uint8Array, plans: readonly CoinPlan[]): Awaitable<SignedCoins[]>
}

/** 1: wrapped by the key-encryption key alone. 2: also by the owner's key share. */
const VERSION = 2

/** Owner, purpose and version are authenticated, so that no ciphertext can stand in for another. */
const contextOf = (userId: string, purpose: 'data-key' | 'private-key', version: number) =>
  `${userId}\n${purpose}\nv${version}`
/** How private keys are sealed has never changed, and a new wrapping leaves them as they are. */
const privateKeyContext = (userId: string) => contextOf(userId, 'private-key', 1)

/** Custodial key pairs, opened for one signature at a time; `keyPairs` knows the chain's curve. */
export function createCustody({ vault, keyPairs }: { vault: KeyVault; keyPairs: KeyPairs }): Custody {
  async function wrap(userId: string, dataKey: Uint8Array): Promise<KeyWrapping> {
    const { keyId, wrapped } = await vault.wrapFor(userId, dataKey, contextOf(userId, 'data-key', VERSION))
    return { version: VERSION, vaultKeyId: keyId, wrappedDataKey: wrapped }
  }

  async function unwrap(userId: string, { version, vaultKeyId, wrappedDataKey }: KeyWrapping): Promise<Uint8Array> {
    const context = contextOf(userId, 'data-key', version)
    if (version === 1) return vault.unwrap(vaultKeyId, wrappedDataKey, context)
    if (version === 2) return vault.unwrapFor(userId, vaultKeyId, wrappedDataKey, context)
    throw new Error(`A sealed key is of version ${version}, which is not known.`)
  }

  /** The private key is in the clear until `use` is done. */
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
