/** Limits of concurrent expensive operations in one process. */
import type { Meter } from '../telemetry/telemetry-types.ts'
import { throttled } from './errors.ts'
import { isServiceKey } from './rate-limiter.ts'
import { createSemaphore } from './semaphore.ts'

/** Semaphores of expensive operations. */
export type Semaphores = ReturnType<typeof createSemaphores>

/** Returns the places that a caller may hold. A trusted service acts for many users and may hold more. */
const perKey = (ofService: number) => (key: string) => (isServiceKey(key) ? ofService : 1)

/** Creates the semaphores of a process. */
export const createSemaphores = (meter: Meter) => ({
  // A verification reads a history from the chain block by block, which takes seconds for a long history.
  verifications: createSemaphore({ name: 'Verifications', places: 2, perKey: perKey(2), queue: 20, maxWait: 5_000 }),
  // A proof holds a page of blocks as long as its reader takes.
  proofs: createSemaphore({ name: 'Proofs', places: 6, perKey: perKey(5), queue: 60, maxWait: 5_000 }),
  // An export holds a few megabytes as long as its reader takes.
  exports: createSemaphore({ name: 'Exports', places: 3, perKey: perKey(2), queue: 20, maxWait: 5_000 }),
  // One export per account. A second one is rejected.
  accountExports: createSemaphore({
    ...{ name: 'Exports', perKey: 1, queue: 0, maxWait: 0 },
    reject() {
      meter.count('annal_limit_rejections_total', { limit: 'exports' })
      return throttled(30)
    },
  }),
  // Signing a file takes a core for up to half a minute.
  signedCopies: createSemaphore({
    ...{ name: 'Files with Content Credentials', places: 2, perKey: perKey(2), queue: 20, maxWait: 30_000 },
  }),
  // Guesses at one account wait for each other, so that concurrent requests cannot exceed the limit of wrong guesses.
  passwordGuesses: createSemaphore({
    ...{ name: 'Signing in', perKey: 2, queue: Number.POSITIVE_INFINITY, queuePerKey: 100, maxWait: 30_000 },
    reject: () => throttled(5),
  }),
  // Scaling a picture takes a core for up to ten seconds, and up to 0.7 GB.
  pictures: createSemaphore({
    ...{ name: 'Pictures', places: 1, perKey: perKey(1), queue: 20, maxWait: 20_000 },
    // An account leaves a waiting place for others at its address.
    queuePerKey: (key) => (key.startsWith('user:') ? 2 : 3),
    reject: () => throttled(10),
  }),
})
