/** How what is stored gets pinned without being taken for garbage in between. */
import type { Log } from '../../shared/log.ts'

/** Stores something, and pins what was stored. Returns what `pin` returns; raises what either raises. */
export type Keep = <Stored, Result>(
  store: () => Promise<Stored>,
  pin: (stored: Stored) => Promise<Result>,
) => Promise<Result>

interface Options {
  /** Seconds that blocks may lie unpinned. */
  graceSeconds: number
  log: Pick<Log, 'error'>
}

/**
 * A collection that began before the pin does not know of it, and takes what is older than the grace. So where store and pin together took
 * half of that, because the disk is slow or the process stood still, it is stored once more: that makes its blocks young again, or puts back
 * what was taken, and later collections know of the pin.
 */
export const createKeep =
  ({ graceSeconds, log }: Options): Keep =>
  async (store, pin) => {
    const begun = Date.now()
    const result = await pin(await store())
    const seconds = Math.abs(Date.now() - begun) / 1_000
    if (seconds >= graceSeconds / 2) {
      // It is pinned, so that this is no failure of the request.
      await store().catch((error: unknown) =>
        log.error(
          { err: error, seconds },
          'Failed to store a file again after a slow upload; "annal check" (B1) shows whether it is complete',
        ),
      )
    }
    return result
  }
