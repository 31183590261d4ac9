/** Encrypts secrets for the database with AES-256-GCM. The layout of a ciphertext is nonce, tag, encrypted bytes. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { LostKeyError } from '../shared/errors.ts'
import type { EnvelopeCipher, KeyVault, LocalCipher, WrappedKey } from './key-types.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts bytes with a 32-byte key. `context` is authenticated but not stored. */
export function seal(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** Decrypts the result of `seal`. Throws LostKeyError if the bytes were changed, or encrypted with another key or context. */
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

/** Creates a cipher with one 32-byte key for short-lived texts. A data key for each text would cost more than it protects. */
export const createLocalCipher = (key: Uint8Array): LocalCipher => ({
  seal: (text, context) => seal(key, Buffer.from(text), context).toString('base64'),
  open: (sealed, context) => unseal(key, Buffer.from(sealed, 'base64'), context).toString(),
})

/**
 * Version of the envelope layout: version, ID of the key-encryption key, wrapped data key, ciphertext. The length precedes the ID and the wrapped key. A key
 * rotation rewrites everything before the ciphertext.
 */
const VERSION = 1

const withLength = (bytes: Uint8Array) => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function parseEnvelope(bytes: Uint8Array) {
  const envelope = Buffer.from(bytes)
  if (envelope[0] !== VERSION) throw new LostKeyError('An encrypted text has an unknown version.')
  let at = 1
  const next = () => {
    const start = at + 2
    if (start > envelope.length) throw new LostKeyError('An encrypted text is truncated.')
    at = start + envelope.readUInt16BE(at)
    return envelope.subarray(start, at)
  }
  return { keyId: next().toString(), wrapped: next(), sealed: envelope.subarray(at) }
}

const prefixOf = (keyId: string) => Buffer.concat([Buffer.of(VERSION), withLength(Buffer.from(keyId))])
const joinEnvelope = ({ keyId, wrapped }: WrappedKey, sealed: Uint8Array) =>
  Buffer.concat([prefixOf(keyId), withLength(wrapped), sealed])

/** Creates the cipher for small secrets. Each secret has a data key of its own, which the vault wraps. */
export function createEnvelopeCipher({ vault }: { vault: KeyVault }): EnvelopeCipher {
  const dataKeyContext = (context: string) => `${context}\ndata-key`
  return {
    async seal(text, context) {
      const dataKey = randomBytes(32)
      const wrapped = await vault.wrap(dataKey, dataKeyContext(context))
      const sealed = seal(dataKey, Buffer.from(text), context)
      dataKey.fill(0)
      return joinEnvelope(wrapped, sealed)
    },
    async open(envelope, context) {
      const { keyId, wrapped, sealed } = parseEnvelope(envelope)
      const dataKey = await vault.unwrap(keyId, wrapped, dataKeyContext(context))
      try {
        return unseal(dataKey, sealed, context).toString()
      } finally {
        dataKey.fill(0)
      }
    },
    async rewrap(envelope, context) {
      const { keyId, wrapped, sealed } = parseEnvelope(envelope)
      const dataKey = await vault.unwrap(keyId, wrapped, dataKeyContext(context))
      try {
        return joinEnvelope(await vault.wrap(dataKey, dataKeyContext(context)), sealed)
      } finally {
        dataKey.fill(0)
      }
    },
    prefixOf,
  }
}
