import { hash, verify } from '@node-rs/argon2'
import type { PasswordHasher } from '../domain/ports.ts'
import { createBoundedQueue } from './bounded-queue.ts'

/** The library's `Algorithm.Argon2id`; its const enum does not survive type stripping. */
const ARGON2ID = 2

/** 64 MiB, two passes, one lane (OWASP's second recommendation with more memory). */
const options = { algorithm: ARGON2ID, memoryCost: 65_536, timeCost: 2, parallelism: 1 } as const

/** Each hash takes 64 MiB and a core for a while: two at once, the rest waits for some seconds at most, and a longer queue is refused. */
const AT_ONCE = 2
const MAX_WAITING = 120

export function createPasswordHasher(): PasswordHasher {
  const queued = createBoundedQueue({ name: 'Signing in', atOnce: AT_ONCE, maxWaiting: MAX_WAITING })
  // Verified when there is no account, so that both answers take the same time.
  const decoy = hash('an account that does not exist', options)

  return {
    hash: (password) => queued(() => hash(password, options)),
    verify: (encoded, password) =>
      queued(async () => {
        const matches = await verify(encoded ?? (await decoy), password, options)
        return encoded !== undefined && matches
      }),
  }
}
