/**
 * Envelope encryption with AES-256-GCM for secrets in the database and custodial private keys. Each secret has a data
 * key, which the key vault wraps. A ciphertext consists of nonce, tag and encrypted bytes.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { LostKeyError } from '../shared/errors.ts'
import type {
  CoinPlan,
  Custody,
  EnvelopeCipher,
  KeyVault,
  KeyWrapping,
  LocalCipher,
  SealedKey,
  SignedCoins,
  WrappedKey,
} from './key-types.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts bytes with a 32-byte key. `context` is authenticated but not stored. */
export function seal(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** Decrypts the result of `seal`. Throws LostKeyError if the bytes, the key or the context differ. */
export function unseal(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
  } catch (cause) {
    throw new LostKeyError('The encrypted data was changed, or encrypted with another key or for another purpose.', {
      cause,
    })
  }
}

/**
 * Creates a cipher with one 32-byte key for short-lived texts, for which separate data keys would cost too much.
 */
export const createLocalCipher = (key: Uint8Array): LocalCipher => ({
  seal: (text, context) => seal(key, Buffer.from(text), context).toString('base64'),
  open: (sealed, context) => unseal(key, Buffer.from(sealed, 'base64'), context).toString(),
})

/**
 * An envelope consists of this version, the ID of the key-encryption key, the wrapped data key and the ciphertext. A
 * length precedes the ID and the wrapped key. A key rotation rewrites everything before the ciphertext.
 */
const ENVELOPE_VERSION = 1

const withLength = (bytes: Uint8Array) => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function parseEnvelope(bytes: Uint8Array) {
  const envelope = Buffer.from(bytes)
  if (envelope[0] !== ENVELOPE_VERSION) throw new LostKeyError('An encrypted text has an unknown version.')
  let at = 1
  const next = () => {
    const start = at + 2
    if (start > envelope.length) throw new LostKeyError('An encrypted text is truncated.')
    at = start + envelope.readUInt16BE(at)
    return envelope.subarray(start, at)
  }
  return { keyId: next().toString(), wrapped: next(), sealed: envelope.subarray(at) }
}

const prefixOf = (keyId: string) => Buffer.concat([Buffer.of(ENVELOPE_VERSION), withLength(Buffer.from(keyId))])
const joinEnvelope = ({ keyId, wrapped }: WrappedKey, sealed: Uint8Array) =>
  Buffer.concat([prefixOf(keyId), withLength(wrapped), sealed])

export function createEnvelopeCipher({ vault }: { vault: KeyVault }): EnvelopeCipher {
  const dataKeyContext = (context: string) => `${context}\ndata-key`

  async function withDataKey<T>(
    envelope: Uint8Array,
    context: string,
    use: (dataKey: Uint8Array, sealed: Uint8Array) => Promise<T>,
  ): Promise<T> {
    const { keyId, wrapped, sealed } = parseEnvelope(envelope)
    const dataKey = await vault.unwrap(keyId, wrapped, dataKeyContext(context))
    try {
      return await use(dataKey, sealed)
    } finally {
      dataKey.fill(0)
    }
  }

  return {
    async seal(text, context) {
      const dataKey = randomBytes(32)
      const wrapped = await vault.wrap(dataKey, dataKeyContext(context))
      const sealed = seal(dataKey, Buffer.from(text), context)
      dataKey.fill(0)
      return joinEnvelope(wrapped, sealed)
    },
    open: (envelope, context) =>
      withDataKey(envelope, context, async (dataKey, sealed) => unseal(dataKey, sealed, context).toString()),
    rewrap: (envelope, context) =>
      withDataKey(envelope, context, async (dataKey, sealed) =>
        joinEnvelope(await vault.wrap(dataKey, dataKeyContext(context)), sealed),
      ),
    prefixOf,
  }
}

type Awaitable<T> = T | Promise<T>
/** Cryptography on the elliptic curve of the chain. Asynchronous, so that the library can be loaded on first use. */
interface KeyPairs {
  createKeyPair(): Awaitable<{ address: string; privateKey: Uint8Array }>
  /** Signs a text with EIP-191 personal_sign. The signature is 0x-prefixed. */
  signText(privateKey: Uint8Array, text: string): Awaitable<string>
  signCoins(privateKey: Uint8Array, plans: readonly CoinPlan[]): Awaitable<SignedCoins[]>
}

const WRAPPING_VERSION = 2

// Owner, purpose and version are authenticated, so a ciphertext cannot be used in place of another.
const dataKeyContext = (userId: string) => `${userId}\ndata-key\nv${WRAPPING_VERSION}`
const privateKeyContext = (userId: string) => `${userId}\nprivate-key\nv1`

export function createCustody({ vault, keyPairs }: { vault: KeyVault; keyPairs: KeyPairs }): Custody {
  async function wrap(userId: string, dataKey: Uint8Array): Promise<KeyWrapping> {
    const { keyId, wrapped } = await vault.wrapFor(userId, dataKey, dataKeyContext(userId))
    return { version: WRAPPING_VERSION, vaultKeyId: keyId, wrappedDataKey: wrapped }
  }

  async function unwrap(userId: string, { version, vaultKeyId, wrappedDataKey }: KeyWrapping): Promise<Uint8Array> {
    if (version === WRAPPING_VERSION) return vault.unwrapFor(userId, vaultKeyId, wrappedDataKey, dataKeyContext(userId))
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
