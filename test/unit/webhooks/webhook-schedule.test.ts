import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  describeSchedule,
  MAX_ATTEMPTS,
  nextAttemptAfter,
  RETRY_DELAYS_SECONDS,
  RETRY_JITTER,
} from '../../../src/modules/webhooks/webhook-schedule.ts'

const [first, second] = RETRY_DELAYS_SECONDS

describe('retry schedule of webhooks', () => {
  it('webhook retries have growing delays, and end after the last attempt', () => {
    const delays = RETRY_DELAYS_SECONDS.map((_, index) => nextAttemptAfter({ attempts: index + 1 }, 0.5)!)
    expect(delays).toEqual(RETRY_DELAYS_SECONDS)
    expect(delays).toEqual([...new Set(delays)].sort((one, other) => one - other))
    expect(nextAttemptAfter({ attempts: MAX_ATTEMPTS }, 0.5)).toBeUndefined()
    expect(nextAttemptAfter({ attempts: MAX_ATTEMPTS + 1 }, 0.5)).toBeUndefined()
  })

  it('varies each webhook retry delay by the jitter', () => {
    for (const [index, delay] of RETRY_DELAYS_SECONDS.entries()) {
      expect(nextAttemptAfter({ attempts: index + 1 }, 0)).toBeCloseTo(delay * (1 - RETRY_JITTER))
      expect(nextAttemptAfter({ attempts: index + 1 }, 1)).toBeCloseTo(delay * (1 + RETRY_JITTER))
    }
  })

  it.each([429, 503])(
    'a webhook retry follows the Retry-After header of a %i response, up to one day',
    (statusCode) => {
      const retryAfter = first + 1
      expect(nextAttemptAfter({ attempts: 1, statusCode, retryAfter }, 0.5)).toBe(retryAfter)
      expect(nextAttemptAfter({ attempts: 2, statusCode, retryAfter }, 0.5)).toBe(second)
      expect(nextAttemptAfter({ attempts: 1, statusCode, retryAfter: 1_000_000 }, 0.5)).toBe(86_400)
      expect(nextAttemptAfter({ attempts: MAX_ATTEMPTS, statusCode, retryAfter }, 0.5)).toBeUndefined()
    },
  )

  it('a webhook retry ignores the Retry-After header of statuses other than 429 and 503', () => {
    expect(nextAttemptAfter({ attempts: 1, statusCode: 500, retryAfter: first + 1 }, 0.5)).toBe(first)
  })

  it('webhook retries end if the receiver returns 410', () => {
    expect(nextAttemptAfter({ attempts: 1, statusCode: 410 }, 0.5)).toBeUndefined()
  })

  it('the webhook documentation lists the retry schedule', () => {
    const text = readFileSync(new URL('../../../docs/reference/webhooks.md', import.meta.url), 'utf8').replace(
      /\s+/g,
      ' ',
    )
    expect(text).toContain(`retried after ${describeSchedule()}.`)
  })
})
