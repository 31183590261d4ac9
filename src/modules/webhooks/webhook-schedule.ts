/** Retry schedule and limits of webhook deliveries. */
import type { JobParts } from '../../jobs/queues.ts'
import type { WebhookOutcome } from './webhook-sender.ts'

/** Delays between a failed attempt and the next attempt, in seconds. The delivery fails after the last attempt. */
export const RETRY_DELAYS_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
export const MAX_ATTEMPTS = RETRY_DELAYS_SECONDS.length + 1
/** Random jitter, as a share of the delay. It prevents a burst of calls to a receiver that recovers. */
export const RETRY_JITTER = 0.2
/** Maximum delay that a receiver can request with `Retry-After`, in seconds. */
const MAX_RETRY_AFTER_SECONDS = 86_400

const HOUR_SECONDS = 3_600

/** Maximum number of concurrent attempts: per process, and per app across all processes. */
export const deliveryWork = { concurrency: 100, groupConcurrency: 4, pollEvery: 0.5 } as const

const formatDelay = (seconds: number) =>
  seconds < 60 ? `${seconds} s` : seconds < HOUR_SECONDS ? `${seconds / 60} min` : `${seconds / HOUR_SECONDS} h`

/** Describes the retry schedule for documents, as in "5 s, 5 min and 1 h, each varied by up to 20 %". */
export function describeSchedule(): string {
  const delays = RETRY_DELAYS_SECONDS.map(formatDelay)
  return `${delays.slice(0, -1).join(', ')} and ${delays.at(-1)}, each varied by up to ${RETRY_JITTER * 100} %`
}

/** Jobs of the deliveries in the CTE `from (id, network_app_id)`. The deliveries of one app do not delay others. */
export const deliveryJobs = (from: string, trace?: string) =>
  ({
    ...(trace !== undefined && { trace }),
    queue: 'webhook-delivery',
    from,
    data: { deliveryId: 'id' },
    group: 'network_app_id',
  }) as const satisfies JobParts

/** Returns true if a failed attempt is logged: the first, and each at least an hour after the previous attempt. */
export const shouldLog = (attempt: number): boolean =>
  attempt === 1 || (RETRY_DELAYS_SECONDS[attempt - 2] ?? 0) * (1 - RETRY_JITTER) >= HOUR_SECONDS

/**
 * Returns the delay before the next attempt in seconds, or undefined after the last attempt. `attempts`: number of failed
 * attempts. `retryAfter`: delay that the receiver requested, in seconds. `random`: from 0 to 1.
 */
export function nextAttemptAfter(
  { attempts, statusCode, retryAfter = 0 }: { attempts: number } & Pick<WebhookOutcome, 'statusCode' | 'retryAfter'>,
  random: number,
): number | undefined {
  const delay = RETRY_DELAYS_SECONDS[attempts - 1]
  // 410 Gone: the receiver no longer exists.
  if (delay === undefined || statusCode === 410) return undefined
  const planned = delay * (1 + RETRY_JITTER * (2 * random - 1))
  const isThrottled = statusCode === 429 || statusCode === 503
  return isThrottled ? Math.max(planned, Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS)) : planned
}
