/**
 * Notices that this process stood still: it was stopped, paged out, or suspended with its machine. What it had in hand is
 * old then: callers have given up and asked somebody else, and jobs were given to others.
 */

/** Milliseconds. */
const BEAT_MS = 500
/** After a wake: until what was in hand, or came in the meantime, has been found to be old. */
const WAKING_MS = 1_000

/** Watches for standstills of this process. */
export interface WakeWatch {
  /** Whether it has just woken. */
  isWaking(): boolean
  /** How often it stood still since it is watched. */
  standstills(): number
  stop(): void
}

/**
 * Looks twice a second whether the process stood still. `longest`: milliseconds without a sign of life that nobody waits
 * for.
 */
export function watchWakes(longest: number): WakeWatch {
  let seenAt = performance.now()
  let wokeAt = Number.NEGATIVE_INFINITY
  let standstills = 0
  // What has arrived meanwhile is read before any timer fires, so whoever asks looks for himself.
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
