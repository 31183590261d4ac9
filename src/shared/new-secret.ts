import { createHmac, randomBytes } from 'node:crypto'

/**
 * At most 32 bytes for a secret that is shown once. A retry must show the same secret, and secrets are not stored: so it is
 * derived from the caller's idempotency key where there is one. `id` names this one thing for good: a key that comes back
 * for another thing gives another secret. The database holds digests of keys only, and tells no secret.
 */
export const newSecret = (derivationKey: Uint8Array, id: string, key: string | undefined, bytes: number): Buffer =>
  key === undefined
    ? randomBytes(bytes)
    : createHmac('sha256', derivationKey).update(`${id}\n${key}`).digest().subarray(0, bytes)
