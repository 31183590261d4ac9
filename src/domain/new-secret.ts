import { createHmac, randomBytes } from 'node:crypto'
import type { Mark } from './idempotency.ts'

/**
 * At most 32 bytes for a secret that is shown once. A retry with the same key and payload must show the same secret, and
 * secrets are not stored: so it is derived from the attempt's mark where there is one.
 */
export const newSecret = (derivationKey: Uint8Array, mark: Mark | undefined, bytes: number): Buffer =>
  mark
    ? createHmac('sha256', derivationKey).update(mark.scope).update(mark.payloadHash).digest().subarray(0, bytes)
    : randomBytes(bytes)
