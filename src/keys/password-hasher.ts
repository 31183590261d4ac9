import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { unavailable } from '../shared/errors.ts'
import { createSemaphore } from '../shared/limiters.ts'

/** The library's `Algorithm.Argon2id`. Type stripping does not support its const enum. */
const ARGON2ID = 2

/** Memory per hash, in KiB. More than OWASP's second recommendation. */
const MEMORY_COST = 65_536

/** Number of concurrent hashes: two, or one if two would leave no core free. Each hash needs 64 MiB and a core. */
const slotsOn = (processors: number) => Math.max(1, Math.min(2, processors - 1))

export type PasswordHasher = ReturnType<typeof createPasswordHasher>

/** Creates an argon2id hasher. Throws UNAVAILABLE if more than 120 hashes wait, or one waits for 30 seconds. `memoryCost` is in KiB. */
export function createPasswordHasher({ memoryCost = MEMORY_COST, processors = availableParallelism() } = {}) {
  const options = { algorithm: ARGON2ID, memoryCost, timeCost: 2, parallelism: 1 } as const
  const queued = createSemaphore({
    ...{ name: 'Signing in', slots: slotsOn(processors), queue: 120, maxWait: 30_000 },
    reject: () => unavailable('Signing in'),
  })

  return {
    load: queued.load,
    hash: (password: string): Promise<string> => queued(() => hash(password, options)),
    /** Verifies a password. `encoded` is undefined for an unknown account. */
    verify: (encoded: string | undefined, password: string): Promise<boolean> =>
      queued(async () => {
        if (encoded !== undefined) return verify(encoded, password, options)
        // Without an account, the same work is done, so that the response takes the same time.
        await hash(password, options)
        return false
      }),
  }
}
