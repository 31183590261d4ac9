/** The local key vault: a key-encryption key in a file of mode 0600, or given by the operator. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyVault } from '../domain/ports.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM: nonce, tag, ciphertext. `context` is authenticated with it. */
export function seal(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** Raises when the bytes were not sealed with this key for this context. */
export function unseal(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}

/** The key of this installation; made once. */
function loadKey(dir: string): Buffer {
  const file = join(dir, 'keys', 'key-encryption-key')
  if (!existsSync(file)) {
    mkdirSync(join(dir, 'keys'), { recursive: true, mode: 0o700 })
    // Written aside and renamed: a crash never leaves half a key.
    const fresh = `${file}.${process.pid}`
    writeFileSync(fresh, randomBytes(32).toString('hex'), { mode: 0o600, flush: true })
    renameSync(fresh, file)
  }
  return Buffer.from(readFileSync(file, 'utf8').trim(), 'hex')
}

export function createKeyVault({ key: hex, dir }: { key: string | undefined; dir: string }): KeyVault {
  const key = hex ? Buffer.from(hex, 'hex') : loadKey(dir)
  if (key.length !== 32) throw new Error('The key-encryption key is damaged: expected 64 hex digits.')
  const keyId = `local:${createHash('sha256').update(key).digest('hex').slice(0, 16)}`

  return {
    currentKeyId: keyId,
    async wrap(dataKey, context) {
      return seal(key, dataKey, `${keyId}\n${context}`)
    },
    async unwrap(wrappedBy, wrapped, context) {
      if (wrappedBy !== keyId) throw new Error(`The key vault does not hold the key ${wrappedBy}.`)
      return unseal(key, wrapped, `${keyId}\n${context}`)
    },
    derive: (purpose) => new Uint8Array(hkdfSync('sha256', key, 'annal', purpose, 32)),
  }
}
