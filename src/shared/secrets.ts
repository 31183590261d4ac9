import { createHmac, hash, randomBytes } from 'node:crypto'

/** Returns the SHA-256 of a text, 32 bytes. The database stores it in place of a secret. */
export const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')

/**
 * Returns a secret of up to 32 bytes. A retry must return the same secret, which is not stored, so it is derived from the idempotency key if there
 * is one. `id` identifies what the secret is for, so that another use of the key gives another secret. The database holds only digests of keys.
 */
export const newSecret = (derivationKey: Uint8Array, id: string, key: string | undefined, bytes: number): Buffer =>
  key === undefined
    ? randomBytes(bytes)
    : createHmac('sha256', derivationKey).update(`${id}\n${key}`).digest().subarray(0, bytes)
