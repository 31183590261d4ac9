/** When a webhook that failed is called again. */

/** Seconds between the failure of an attempt and the one after it; after the last of them, some three days, the delivery is given up. */
const DELAYS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
/** Share by which a delay varies either way, so that a receiver that comes back is not met by everything at once. */
const JITTER = 0.2
/** Seconds: as long as a receiver may put us off. */
const LONGEST_WAIT_SECONDS = 86_400

/** Seconds. */
const HOUR_SECONDS = 3_600

/** Whether an attempt that failed is worth a line in the log: the first one, and those that come an hour after the one before or later. */
export const shouldLog = (attempt: number): boolean =>
  attempt === 1 || (DELAYS[attempt - 2] ?? 0) * (1 - JITTER) >= HOUR_SECONDS

/** What is known of an attempt that failed. */
export interface Failure {
  /** How many attempts were made, with the one that failed now. */
  attempts: number
  statusCode?: number | undefined
  /** Seconds, as the receiver asked for. Heeded with 429 and 503. */
  retryAfter?: number | undefined
}

/** Seconds until the next attempt; undefined when there is none. `random` is from 0 to 1. */
export function nextAttemptAfter(
  { attempts, statusCode, retryAfter = 0 }: Failure,
  random: number,
): number | undefined {
  const delay = DELAYS[attempts - 1]
  // The receiver is gone, and says so.
  if (delay === undefined || statusCode === 410) return undefined
  const planned = delay * (1 + JITTER * (2 * random - 1))
  const isPutOff = statusCode === 429 || statusCode === 503
  return isPutOff ? Math.max(planned, Math.min(retryAfter, LONGEST_WAIT_SECONDS)) : planned
}
