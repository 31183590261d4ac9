import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { unavailable } from '../shared/errors.ts'
import { createSemaphore } from '../shared/semaphore.ts'
import type { QueueLoad } from '../telemetry/telemetry-types.ts'
import type { PasswordHasher } from './key-types.ts'

/** The library's `Algorithm.Argon2id`; its const enum does not survive type stripping. */
const ARGON2ID = 2

/** KiB (64 MiB), filled twice in one lane: OWASP's second recommendation with more memory. */
const MEMORY_COST = 65_536

/** Each hash takes 64 MiB and a core. Two run at once, or one if two would leave no core to everything else. */
const placesOn = (processors: number) => Math.max(1, Math.min(2, processors - 1))

/** A hasher that tells how full its queue is. */
export type WatchedHasher = PasswordHasher & { load(): QueueLoad }

/** Creates the hasher of passwords (argon2id). At most 120 hashes wait, for at most 30 seconds. `memoryCost` in KiB. */
export function createPasswordHasher({
  memoryCost = MEMORY_COST,
  processors = availableParallelism(),
} = {}): WatchedHasher {
  const options = { algorithm: ARGON2ID, memoryCost, timeCost: 2, parallelism: 1 } as const
  const queued = createSemaphore({
    ...{ name: 'Signing in', places: placesOn(processors), queue: 120, maxWait: 30_000 },
    reject: () => unavailable('Signing in'),
  })

  return {
    load: queued.load,
    hash: (password) => queued(() => hash(password, options)),
    verify: (encoded, password) =>
      queued(async () => {
        if (encoded !== undefined) return verify(encoded, password, options)
        // Without an account, the same work is done, so that the response takes the same time.
        await hash(password, options)
        return false
      }),
  }
}
