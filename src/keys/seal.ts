/** Encryption with AES-256-GCM. A ciphertext consists of nonce, tag and encrypted bytes. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { LostKeyError } from '../shared/errors.ts'
import type { LocalCipher } from './key-types.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts bytes with a 32-byte key. `context` is authenticated but not stored. It prevents an exchange of ciphertexts. */
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

/** Encrypts short-lived texts with one 32-byte key, because separate data keys would cost too much. `open` throws LostKeyError. */
export const createLocalCipher = (key: Uint8Array): LocalCipher => ({
  seal: (text, context) => seal(key, Buffer.from(text), context).toString('base64'),
  open: (sealed, context) => unseal(key, Buffer.from(sealed, 'base64'), context).toString(),
})
