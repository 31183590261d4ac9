import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import type { PasswordHasher } from '../domain/ports/keys.ts'
import type { QueueLoad } from '../domain/telemetry.ts'
import { createBoundedQueue } from './bounded-queue.ts'

/** The library's `Algorithm.Argon2id`; its const enum does not survive type stripping. */
const ARGON2ID = 2

/** KiB (64 MiB), filled twice in one lane: OWASP's second recommendation with more memory. */
const MEMORY_COST = 65_536

/**
 * Each hash takes 64 MiB and a core for a while: two at once, and one where that would leave no core to everybody else. The rest waits for some
 * seconds at most, and a longer queue is refused.
 */
const atOnceOn = (processors: number) => Math.max(1, Math.min(2, processors - 1))
const MAX_WAITING = 120

/** A hasher that tells how full its queue is. */
export type WatchedHasher = PasswordHasher & { load(): QueueLoad }

/** Hashes by argon2id, two at once at most; 120 wait at most. `memoryCost` in KiB, which tests make small, as they say how many `processors` there are. */
export function createPasswordHasher({
  memoryCost = MEMORY_COST,
  processors = availableParallelism(),
} = {}): WatchedHasher {
  const options = { algorithm: ARGON2ID, memoryCost, timeCost: 2, parallelism: 1 } as const
  const queued = createBoundedQueue({ name: 'Signing in', atOnce: atOnceOn(processors), maxWaiting: MAX_WAITING })

  return {
    load: queued.load,
    hash: (password) => queued(() => hash(password, options)),
    verify: (encoded, password) =>
      queued(async () => {
        if (encoded !== undefined) return verify(encoded, password, options)
        // No account: the same work, so that the answer takes the same time.
        await hash(password, options)
        return false
      }),
  }
}
