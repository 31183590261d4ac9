/** Envelope encryption for secrets in the database and custodial private keys. Each secret has a data key, which the key vault wraps. */
import { randomBytes } from 'node:crypto'
import { LostKeyError } from '../shared/errors.ts'
import type { CoinPlan, KeyWrapping, SealedKey, SignedCoins } from './key-types.ts'
import type { KeyVault } from './key-vault.ts'
import { seal, unseal } from './seal.ts'

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
const joinEnvelope = ({ keyId, wrapped }: { keyId: string; wrapped: Uint8Array }, sealed: Uint8Array) =>
  Buffer.concat([prefixOf(keyId), withLength(wrapped), sealed])

export function createEnvelopeCipher({ vault }: { vault: Pick<KeyVault, 'wrap' | 'unwrap'> }) {
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
    async seal(text: string, context: string): Promise<Uint8Array> {
      const dataKey = randomBytes(32)
      const wrapped = await vault.wrap(dataKey, dataKeyContext(context))
      const sealed = seal(dataKey, Buffer.from(text), context)
      dataKey.fill(0)
      return joinEnvelope(wrapped, sealed)
    },
    /** Throws LostKeyError if the envelope is of another context, or its key is lost. */
    open: (envelope: Uint8Array, context: string): Promise<string> =>
      withDataKey(envelope, context, async (dataKey, sealed) => unseal(dataKey, sealed, context).toString()),
    /** Wraps the data key of the same ciphertext with the vault's current key. Throws LostKeyError. */
    rewrap: (envelope: Uint8Array, context: string): Promise<Uint8Array> =>
      withDataKey(envelope, context, async (dataKey, sealed) =>
        joinEnvelope(await vault.wrap(dataKey, dataKeyContext(context)), sealed),
      ),
    prefixOf,
  }
}

export type EnvelopeCipher = ReturnType<typeof createEnvelopeCipher>
export type Custody = ReturnType<typeof createCustody>

type Awaitable<T> = T | Promise<T>
/** Cryptography on the elliptic curve of the chain. Asynchronous, so that the library can be loaded on first use. */
interface KeyPairs {
  createKeyPair(): Awaitable<{ address: string; privateKey: Uint8Array }>
  signText(privateKey: Uint8Array, text: string): Awaitable<string>
  signCoins(privateKey: Uint8Array, plans: readonly CoinPlan[]): Awaitable<SignedCoins[]>
}

const WRAPPING_VERSION = 2

// Owner, purpose and version are authenticated, so a ciphertext cannot be used in place of another.
const dataKeyContext = (userId: string) => `${userId}\ndata-key\nv${WRAPPING_VERSION}`
const privateKeyContext = (userId: string) => `${userId}\nprivate-key\nv1`

/** Custodial key pairs. Private keys are decrypted only inside these calls, which throw LostKeyError. */
export function createCustody({
  vault,
  keyPairs,
}: {
  vault: Pick<KeyVault, 'wrapFor' | 'unwrapFor' | 'forget'>
  keyPairs: KeyPairs
}) {
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
    async create(userId: string): Promise<SealedKey & { address: string }> {
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
    /** Signs a text with EIP-191 personal_sign. The signature is 0x-prefixed. */
    sign: (userId: string, key: SealedKey, text: string): Promise<string> =>
      open(userId, key, (privateKey) => keyPairs.signText(privateKey, text)),
    signCoins: (userId: string, key: SealedKey, plans: readonly CoinPlan[]): Promise<SignedCoins[]> =>
      open(userId, key, (privateKey) => keyPairs.signCoins(privateKey, plans)),
    async rewrap(userId: string, key: KeyWrapping): Promise<KeyWrapping> {
      const dataKey = await unwrap(userId, key)
      try {
        return await wrap(userId, dataKey)
      } finally {
        dataKey.fill(0)
      }
    },
    forget: vault.forget,
  }
}
