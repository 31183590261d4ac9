/**
 * Detects that the process was frozen: stopped, swapped out, or suspended with its machine. Its pending work is then
 * outdated: callers have retried elsewhere, and jobs were reassigned.
 */

/** Interval of the check, in milliseconds. */
const BEAT_MS = 500
/** Time after a stall during which work is rejected, in milliseconds. */
const WAKING_MS = 1_000

/** Detects stalls of this process. */
export interface WakeWatch {
  /** Returns true right after a stall. */
  isWaking(): boolean
  /** Number of stalls since the detector started. */
  standstills(): number
  stop(): void
}

/** Checks twice a second for a stall. `longest`: maximum accepted stall, in milliseconds. */
export function watchWakes(longest: number): WakeWatch {
  let seenAt = performance.now()
  let wokeAt = Number.NEGATIVE_INFINITY
  let standstills = 0
  // Node reads pending input before timers fire, so each caller checks the time itself.
  const look = () => {
    const now = performance.now()
    if (now - seenAt > longest) {
      wokeAt = now
      standstills += 1
    }
    seenAt = now
    return now
  }
  const beat = setInterval(look, BEAT_MS).unref()
  return {
    isWaking: () => look() - wokeAt < WAKING_MS,
    standstills: () => standstills,
    stop: () => clearInterval(beat),
  }
}
