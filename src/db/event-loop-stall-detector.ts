/**
 * Detects that the process was frozen: stopped, swapped out, or suspended with its machine. Its pending work is then
 * outdated: callers have retried elsewhere, and jobs were reassigned.
 */

/** Interval of the check, in milliseconds. */
const CHECK_EVERY_MS = 500
/** Time after a stall during which work is rejected, in milliseconds. */
const REJECT_AFTER_STALL_MS = 1_000

/** Detects stalls of this process. */
export interface StallDetector {
  /** Returns true right after a stall. */
  hasJustStalled(): boolean
  /** Number of stalls since the detector started. */
  stalls(): number
  stop(): void
}

/** Checks twice a second for a stall. `maxStall`: maximum accepted stall, in milliseconds. */
export function detectStalls(maxStall: number): StallDetector {
  let seenAt = performance.now()
  let stalledAt = Number.NEGATIVE_INFINITY
  let stalls = 0
  // Node reads pending input before timers fire, so each caller checks the time itself.
  const look = () => {
    const now = performance.now()
    if (now - seenAt > maxStall) {
      stalledAt = now
      stalls += 1
    }
    seenAt = now
    return now
  }
  const beat = setInterval(look, CHECK_EVERY_MS).unref()
  return {
    hasJustStalled: () => look() - stalledAt < REJECT_AFTER_STALL_MS,
    stalls: () => stalls,
    stop: () => clearInterval(beat),
  }
}
