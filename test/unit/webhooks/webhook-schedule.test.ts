import { describe, expect, it } from 'vitest'
import { nextAttemptAfter } from '../../../src/modules/webhooks/webhook-schedule.ts'

const planned = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]

describe('the retry schedule of a webhook', () => {
  it('has ten attempts with growing delays', () => {
    const middle = Array.from({ length: 9 }, (_, index) => nextAttemptAfter({ attempts: index + 1 }, 0.5))
    expect(middle).toEqual(planned)
    expect(nextAttemptAfter({ attempts: 10 }, 0.5)).toBeUndefined()
    expect(nextAttemptAfter({ attempts: 11 }, 0.5)).toBeUndefined()
  })

  it('varies each delay by at most 20 %', () => {
    for (const [index, delay] of planned.entries()) {
      expect(nextAttemptAfter({ attempts: index + 1 }, 0)).toBeCloseTo(delay * 0.8)
      expect(nextAttemptAfter({ attempts: index + 1 }, 1)).toBeCloseTo(delay * 1.2)
    }
  })

  it.each([429, 503])('follows Retry-After of a %i, up to a day', (statusCode) => {
    expect(nextAttemptAfter({ attempts: 1, statusCode, retryAfter: 120 }, 0.5)).toBe(120)
    expect(nextAttemptAfter({ attempts: 2, statusCode, retryAfter: 120 }, 0.5)).toBe(300)
    expect(nextAttemptAfter({ attempts: 1, statusCode, retryAfter: 1_000_000 }, 0.5)).toBe(86_400)
    expect(nextAttemptAfter({ attempts: 10, statusCode, retryAfter: 120 }, 0.5)).toBeUndefined()
  })

  it('ignores Retry-After with another status', () => {
    expect(nextAttemptAfter({ attempts: 1, statusCode: 500, retryAfter: 120 }, 0.5)).toBe(5)
  })

  it('ends if the receiver answers 410', () => {
    expect(nextAttemptAfter({ attempts: 1, statusCode: 410 }, 0.5)).toBeUndefined()
  })
})
